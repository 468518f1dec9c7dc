import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activeStates, lastOf, prefixesOf } from '../src/store/program_live.ts';
import { programNames } from '../src/store/program_names.ts';
import {
    addNode,
    arrange,
    connect,
    deleteNodes,
    disconnect,
    insertOnLink,
    moveNode,
    renameNode,
} from '../src/text/blueprint_edits.ts';
import { readGraph } from '../src/text/graph.ts';
import { begin, edit, redo, undo } from '../src/text/history.ts';
import {
    addReaction,
    moveLink,
    moveReaction,
    newProgram,
    partsOf,
    placeOfLine,
    renameParameter,
    renameRole,
    setExit,
    setPart,
    setReaction,
    setStart,
    setTargets,
} from '../src/text/program_edits.ts';
import { endsOf, exitsOf } from '../src/text/program_graph.ts';
import { data } from '../src/text/yaml_edit.ts';
import type { ActionType, LiveProgram } from '../src/wire.ts';
import EXITS from './exits.json';

const NEAR = `# Down until something is near.
name: until_near
roles:
  robot: {kinds: [arm]}   # moves
  eye: {kinds: [rangefinder], default: below}
parameters:
  speed: {unit: m/s, default: 0.05}
  near: {unit: m}
start: [down, watch]
actions:
  # The approach.
  down:
    type: velocity_move
    parts: robot
    parameters: {linear: [0, 0, -$speed]}
    reactions:
      - {when: eye.distance < $near and watch.elapsed > 0.1, start: [stay, lamp], name: near}   # there
      - when: is_unknown(eye.distance)
        start: stay
        signal: down.hurry
  watch: {type: watch_tool, parts: {sensor: eye, arm: robot}}
  lamp: {type: set_output, parts: io}
  stay: {type: hold, parts: robot, final: true, reactions: [{when: elapsed > 1 and down.is_done, stop: true, event: \
near}]}
reactions:
  - {when: speed < 0.1, start: stay, event: slow}
`;

const USES = `name: tour
start: touch
actions:
  touch:
    use: move_until_contact@1
    exits: {contact: corner, not_found: [give_up, note], failed: give_up}
  corner: {type: hold, parts: arm, reactions: [{when: touch__watch.push > 1 and touchy.x > 2, start: give_up}]}
  note: {type: hold, parts: gripper}
  give_up: {type: stop, parts: arm, final: true}
`;

function lines(before: string, after: string): [string[], string[]] {
    const a = before.split('\n');
    const b = after.split('\n');
    return [a.filter((line) => !b.includes(line)), b.filter((line) => !a.includes(line))];
}

test('the picture of a program', () => {
    const graph = readGraph(NEAR);
    assert.deepEqual(
        graph.nodes.map((node) => [node.id, node.skill, node.isStart]),
        [
            ['down', 'velocity_move', true],
            ['watch', 'watch_tool', true],
            ['lamp', 'set_output', false],
            ['stay', 'hold', false],
        ],
    );
    const down = graph.nodes[0]?.candidates ?? [];
    assert.deepEqual(
        down.map((each) => [each.index, each.go]),
        [
            [0, 'stay'],
            [0, 'lamp'],
            [1, 'stay'],
        ],
    );
    assert.equal(graph.nodes[3]?.candidates[0]?.end, 'near');
    assert.deepEqual(graph.reactions, [{ index: 0, when: 'speed < 0.1', go: 'stay', at: 'once' }]);
    assert.deepEqual(exitsOf(graph), ['near']);
    const touch = readGraph(USES).nodes[0];
    assert.equal(touch?.skill, 'move_until_contact@1');
    assert.deepEqual(
        touch?.candidates.map((each) => [each.on[0], each.go, each.index]),
        [
            ['contact', 'corner', 0],
            ['not_found', 'give_up', 1],
            ['not_found', 'note', 1],
            ['failed', 'give_up', 2],
        ],
    );
    assert.deepEqual(exitsOf(readGraph(USES)), ['give_up']);
});

test('N4, U1: the exits of a program, and the ends of its runs, are those that Python finds', () => {
    for (const { program, exits, ends } of EXITS) {
        const graph = readGraph(program.join('\n'));
        assert.deepEqual([exitsOf(graph).sort(), endsOf(graph).sort()], [exits, ends]);
    }
});

test('N48: a moved state is one line of view, and follows its state', () => {
    const moved = moveNode(NEAR, 'down', 10.4, 20.6);
    assert.equal(moved, `${NEAR}view:\n  down: [10, 21]\n`);
    const both = moveNode(moveNode(moved, 'stay', 1, 2), 'down', -5, 7);
    assert.deepEqual(lines(moveNode(moved, 'stay', 1, 2), both), [['  down: [10, 21]'], ['  down: [-5, 7]']]);
    assert.deepEqual(
        readGraph(both).nodes.map((node) => node.place),
        [[-5, 7], null, null, [1, 2]],
    );
    assert.equal(renameNode(both, 'down', 'approach').endsWith('view:\n  approach: [-5, 7]\n  stay: [1, 2]\n'), true);
    assert.equal(renameNode(renameNode(both, 'down', 'approach'), 'approach', 'down'), both);
    assert.equal(deleteNodes(both, ['down']).endsWith('view:\n  stay: [1, 2]\n'), true);
    assert.equal(deleteNodes(both, ['down', 'stay']).includes('view'), false);
    assert.equal(arrange(both, ['down', 'watch']), `${NEAR}view:\n  stay: [1, 2]\n`);
    assert.equal(arrange(both), NEAR);
    assert.equal(placeOfLine(both, both.split('\n').length - 1).state, '');
});

test('a program from nothing', () => {
    let text = addNode(newProgram('mine'), 'down', { type: 'velocity_move', parts: 'arm' });
    text = addNode(text, 'stay', { type: 'hold', parts: 'arm' });
    text = connect(text, 'down', 'success', 'stay');
    assert.equal(
        text,
        `name: mine
description: ''
start: down
actions:
  down: {type: velocity_move, parts: arm, reactions: [{when: is_done, start: stay}]}
  stay: {type: hold, parts: arm}
`,
    );
});

test('the start set', () => {
    assert.deepEqual(lines(NEAR, setStart(NEAR, 'watch', false)), [['start: [down, watch]'], ['start: down']]);
    assert.deepEqual(lines(NEAR, setStart(NEAR, 'stay', true)), [
        ['start: [down, watch]'],
        ['start: [down, watch, stay]'],
    ]);
    assert.equal(setStart(NEAR, 'down', true), NEAR);
});

test('a state is renamed: reactions, the start set and conditions follow, comments stay', () => {
    const renamed = renameNode(NEAR, 'down', 'approach');
    assert.deepEqual(lines(NEAR, renamed), [
        [
            'start: [down, watch]',
            '  down:',
            '        signal: down.hurry',
            '  stay: {type: hold, parts: robot, final: true, reactions: [{when: elapsed > 1 and down.is_done, ' +
                'stop: true, event: near}]}',
        ],
        [
            'start: [approach, watch]',
            '  approach:',
            '        signal: approach.hurry',
            '  stay: {type: hold, parts: robot, final: true, reactions: [{when: elapsed > 1 and ' +
                'approach.is_done, stop: true, event: near}]}',
        ],
    ]);
    assert.equal(renameNode(renamed, 'approach', 'down'), NEAR);
    const used = renameNode(renameNode(USES, 'touch', 'feel'), 'give_up', 'no');
    assert.match(used, /feel__watch\.push > 1 and touchy\.x > 2, start: no/);
    assert.match(used, /exits: \{contact: corner, not_found: \[no, note\], failed: no\}/);
    assert.equal(renameNode(NEAR, 'stay', 'down_there').includes('start: [down_there, lamp], name: near'), true);
});

test('a parameter and a role are renamed', () => {
    const renamed = renameParameter(NEAR, 'near', 'gap');
    assert.match(renamed, /eye\.distance < \$gap and/);
    assert.match(renamed, /event: near/);
    assert.match(renameParameter(NEAR, 'speed', 'pace'), /-\$pace\].*\n/);
    const role = renameRole(NEAR, 'eye', 'below');
    assert.match(role, /below\.distance < \$near/);
    assert.match(role, /sensor: below, arm: robot/);
    assert.match(renameRole(NEAR, 'robot', 'arm'), /parts: arm\n/);
});

test('states are removed with what leads to them', () => {
    const without = deleteNodes(NEAR, ['lamp', 'watch']);
    assert.match(without, /start: stay, name: near/);
    assert.match(without, /^start: down$/m);
    const alone = deleteNodes(NEAR, ['stay']);
    assert.match(alone, /start: lamp, name: near/);
    assert.match(alone, /signal: down\.hurry/); // it still does something
    assert.match(alone, /\{when: speed < 0\.1, event: slow\}/);
    const other = deleteNodes(USES, ['give_up']);
    assert.deepEqual((data(other) as { actions: { touch: { exits: object } } }).actions.touch.exits, {
        contact: 'corner',
        not_found: 'note',
    });
    assert.doesNotMatch(other, /reactions/);
    assert.match(deleteNodes(USES, ['touch']), /^start: corner$/m);
});

test('reactions are added, changed, moved, removed', () => {
    let text = addReaction(NEAR, 'lamp', { when: 'is_done', stop: true });
    assert.match(text, /lamp: \{type: set_output, parts: io, reactions: \[\{when: is_done, stop: true\}\]\}/);
    text = setReaction(text, 'lamp', 0, 'event', 'lit');
    text = setReaction(text, 'lamp', 0, 'stop', false);
    assert.match(text, /\[\{when: is_done, event: lit\}\]/);
    assert.match(setTargets(text, 'lamp', 0, ['stay', 'down']), /event: lit, start: \[stay, down\]/);
    assert.match(
        addReaction(NEAR, '', { when: 'false', stop: true }),
        /event: slow\}\n {2}- \{when: 'false', stop: true\}/,
    );
    const moved = data(moveReaction(NEAR, 'down', 1, 0)) as { actions: { down: { reactions: { when: string }[] } } };
    assert.equal(moved.actions.down.reactions[0]?.when, 'is_unknown(eye.distance)');
    assert.equal(disconnect(NEAR, 'down', 1).includes('is_unknown'), false);
    assert.match(moveLink(NEAR, 'down', 0, 'lamp', 'down', 'watch'), /start: \[stay, watch\], name: near/);
    const from = moveLink(NEAR, 'down', 1, 'stay', 'lamp', 'watch');
    assert.match(from, /lamp: .*when: is_unknown\(eye\.distance\), start: watch, signal: down\.hurry/);
    assert.equal(from.match(/is_unknown/g)?.length, 1);
});

test('exits of a used program', () => {
    assert.match(connect(USES, 'touch', 'contact', 'note'), /contact: \[corner, note\]/);
    assert.match(setExit(USES, 'touch', 'not_found', ['corner']), /not_found: corner, failed/);
    assert.doesNotMatch(setExit(USES, 'touch', 'failed', []), /failed/);
    const put = insertOnLink(USES, 'touch', 1, 'wait', { type: 'hold', parts: 'arm' });
    assert.match(put, /not_found: \[wait, note\]/);
    assert.match(put, /wait: \{type: hold, parts: arm, reactions: \[\{when: is_done, start: give_up\}\]\}/);
});

test('parts of slots', () => {
    const slots = [
        { name: 'sensor', kinds: [] },
        { name: 'arm', kinds: [] },
    ];
    assert.deepEqual(partsOf({ parts: ['eye', 'robot'] }, slots), { sensor: 'eye', arm: 'robot' });
    assert.match(setPart(NEAR, 'watch', slots, 'sensor', 'wrist'), /parts: \{sensor: wrist, arm: robot\}/);
    assert.match(
        setPart(NEAR, 'stay', [{ name: 'arm', kinds: [] }], 'arm', 'left'),
        /stay: \{type: hold, parts: left, final/,
    );
    assert.match(setPart('actions:\n  a: {type: watch_tool}\n', 'a', slots, 'arm', 'robot'), /parts: \{arm: robot\}/);
});

test('the state and reaction of a line', () => {
    const at = (text: string): [string, number] => {
        const found = placeOfLine(NEAR, NEAR.split('\n').findIndex((line) => line.includes(text)) + 1);
        return [found.state, found.reaction];
    };
    assert.deepEqual(at('parameters: {linear'), ['down', -1]);
    assert.deepEqual(at('eye.distance < $near'), ['down', 0]);
    assert.deepEqual(at('down.hurry'), ['down', 1]);
    assert.deepEqual(at('stay: {type'), ['stay', 0]);
    assert.deepEqual(at('speed < 0.1'), ['', 0]);
    assert.deepEqual(at('start: [down, watch]'), ['', -1]);
    assert.deepEqual(placeOfLine(NEAR, 0), { state: '', reaction: -1 });
});

test('edits are undone and redone to the very bytes', () => {
    let history = begin(NEAR);
    const seen = [NEAR];
    const steps = [
        (t: string) => renameNode(t, 'down', 'approach'),
        (t: string) => connect(t, 'lamp', 'success', 'approach'),
        (t: string) => setStart(t, 'lamp', true),
        (t: string) => deleteNodes(t, ['watch']),
        (t: string) => setReaction(t, 'approach', 0, 'when', 'eye.distance < 1'),
        (t: string) => addReaction(t, '', { when: 'false', stop: true }),
    ];
    for (const step of steps) {
        history = edit(history, step(history.text));
        assert.notEqual(data(history.text), undefined);
        seen.push(history.text);
    }
    for (const text of [...seen].reverse().slice(1)) {
        history = undo(history);
        assert.equal(history.text, text);
    }
    for (const text of seen.slice(1)) {
        history = redo(history);
        assert.equal(history.text, text);
    }
});

test('names that a condition can use', () => {
    const type = {
        name: 'velocity_move',
        state_variables: [
            { name: 'is_done', type: 'bool', unit: '', description: '' },
            { name: 'speed', type: 'float', unit: 'm/s', description: '' },
        ],
    } as unknown as ActionType;
    const found = programNames(
        readGraph(NEAR),
        'down',
        true,
        new Map([
            ['velocity_move', type],
            ['hold', type],
        ]),
        [
            { name: 'below.distance', unit: 'm' },
            { name: 'time', unit: 's' },
        ],
        [{ name: 'below', kind: 'rangefinder' }],
    );
    const names = found.map((each) => each.name);
    for (const name of ['$speed', '$near', 'is_done', 'stay.is_done', 'eye.distance', 'below.distance', 'time'])
        assert.ok(names.includes(name), name);
    assert.ok(!names.includes('down.is_done'));
    assert.deepEqual(
        programNames(readGraph(NEAR), 'down', false, new Map(), [], []).map((each) => each.name),
        ['$speed', '$near'],
    );
});

test('active states, also under the prefixes of runs and of programs that use it', () => {
    const one = (program: string, ...active: string[]): LiveProgram => ({
        session: 's',
        program,
        active,
        last_reaction: '',
        last_event: '',
        suspended: false,
        strategies: [{ action: active[0] ?? '', degree_of_freedom: 'x', strategy: 'push' }],
    });
    const states = ['touch', 'approach', 'stay'];
    const uses = new Map([
        [
            'tour',
            [
                ['touch', 'mine'],
                ['again', 'mine'],
            ],
        ],
        ['outer', [['first', 'tour']]],
        ['mine', [['touch', 'deepest']]],
        ['round', [['on', 'round']]],
    ] as [string, [string, string][]][]);
    const ids = (live: LiveProgram[], running: string[] = []): string[] => [
        ...activeStates('mine', states, live, running, uses).keys(),
    ];
    assert.deepEqual(ids([one('mine', 'approach'), one('other', 'stay')]), ['approach']);
    assert.deepEqual(activeStates('mine', states, [one('mine', 'approach')], [], uses).get('approach'), {
        strategies: ['x: push'],
    });
    assert.deepEqual(ids([one('', 'n12__approach')]), []);
    assert.deepEqual(ids([one('', 'n12__approach')], ['mine']), ['approach']);
    assert.deepEqual(ids([one('mine@2', 'touch__go')]), ['touch']);
    // A program that uses it, whoever runs that one: by itself, or as a node of a blueprint; and one that uses that
    // one.
    assert.deepEqual(ids([one('tour', 'touch__stay')]), ['stay']);
    assert.deepEqual(ids([one('tour', 'touch__stay', 'n1__first__touch__touch__go')], ['outer']), ['stay', 'touch']);
    assert.deepEqual(ids([one('', 'n1_2__touch__approach')], ['tour']), ['approach']);
    // Not what only has the same names: another state of the user, another program.
    assert.deepEqual(ids([one('tour', 'stay', 'other__stay'), one('', 'n1__stay')], ['tour', 'round']), []);
    assert.deepEqual(
        [...activeStates('tour', ['touch', 'stay'], [one('', 'n1__first__touch__stay')], ['outer'], uses).keys()],
        ['touch'],
    );
    // Of another version than the shown one, nothing; of a user of another version, what it uses is not known.
    const shown = (reference: string): boolean => reference !== 'mine@2';
    const versions = new Map([
        ...uses,
        ['tour@3', uses.get('tour') ?? []],
        [
            'pins',
            [
                ['touch', 'mine@2'],
                ['stay', 'mine@1'],
            ],
        ],
    ] as [string, [string, string][]][]);
    const drawn = (live: LiveProgram[], running: string[] = []): string[] => [
        ...activeStates('mine', states, live, running, versions, shown).keys(),
    ];
    assert.deepEqual(drawn([one('mine@2', 'approach'), one('mine@1', 'stay')]), ['stay']);
    assert.deepEqual(drawn([one('', 'n1__approach')], ['mine@2']), []);
    assert.deepEqual(drawn([one('tour@3', 'touch__stay'), one('tour@2', 'touch__approach')]), ['stay']);
    assert.deepEqual(drawn([one('pins', 'touch__approach', 'stay__stay')]), ['stay']);
    assert.equal(
        lastOf(
            'mine',
            [
                { ...one('mine@2', 'stay'), last_event: 'far' },
                { ...one('mine@1', 'stay'), last_event: 'near' },
            ],
            shown,
        ),
        'last event near',
    );
    assert.deepEqual(prefixesOf('outer', 'deepest', uses), ['first__touch__touch__', 'first__again__touch__']);
    assert.deepEqual(prefixesOf('round', 'mine', uses), []);
});
