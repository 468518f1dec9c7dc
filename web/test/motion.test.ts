import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jointsOf, stateContent } from '../src/store/program_shelf.ts';
import { readGraph } from '../src/text/graph.ts';
import {
    addCommand,
    addStrategy,
    commandOfMistake,
    commandsOf,
    fieldOfStrategy,
    keyOfMistake,
    moveCommand,
    moveStrategy,
    removeCommand,
    removeStrategy,
    setCommand,
    setLaw,
    setStrategy,
    setTarget,
    strategiesOf,
    strategyOfMistake,
} from '../src/text/motion_edits.ts';
import type { ActionType } from '../src/wire.ts';

const GROUP = `name: swing
start: swing
actions:
  swing:
    type: motion_group
    commands:   # both at once
      - {part: left, position: [0.4, 0.5], speed: $speed}   # first
      - part: right
        position: [0, 1]
        jerk_percent: 30
    reactions: [{when: is_done, stop: true, event: arrived}]
`;

const CORNER = `name: corner
actions:
  corner:
    type: govern_tool
    parts: arm
    strategies:
      x:
        - {name: force, when: watch.push_x > $touch, law: force, parameters: {force: 5.0}, inputs: {force: \
watch.push_x}}   # presses
        - {name: velocity, law: velocity, parameters: {velocity: $speed}}
      y: [{name: slow, law: velocity}]
  one: {type: govern_tool, parts: arm, strategies: {x: [{name: slow, law: velocity}]}}
`;

function changed(before: string, after: string): [string[], string[]] {
    const a = before.split('\n');
    const b = after.split('\n');
    return [a.filter((line) => !b.includes(line)), b.filter((line) => !a.includes(line))];
}

test('motion commands: one line for each edit, comments stay', () => {
    assert.deepEqual(changed(GROUP, addCommand(GROUP, 'swing', 'left', 2)), [
        [],
        ['      - {part: left, position: [0, 0]}'],
    ]);
    assert.deepEqual(changed(GROUP, setCommand(GROUP, 'swing', 0, 'duration', 2)), [
        ['      - {part: left, position: [0.4, 0.5], speed: $speed}   # first'],
        ['      - {part: left, position: [0.4, 0.5], speed: $speed, duration: 2}   # first'],
    ]);
    assert.deepEqual(changed(GROUP, setCommand(GROUP, 'swing', 1, 'jerk_percent', undefined)), [
        ['        jerk_percent: 30'],
        [],
    ]);
    const moved = moveCommand(GROUP, 'swing', 0, 1);
    assert.deepEqual(
        commandsOf(readGraph(moved), 'swing').map((each) => each.part),
        ['right', 'left'],
    );
    const removed = removeCommand(removeCommand(GROUP, 'swing', 1), 'swing', 0);
    assert.deepEqual(commandsOf(readGraph(removed), 'swing'), []);
    assert.deepEqual(commandsOf(readGraph(addCommand(removed, 'swing', 'left', 0)), 'swing'), [
        { part: 'left', position: [0] },
    ]);
});

test('a motion command goes to something else: its limits stay', () => {
    const pose = setTarget(GROUP, 'swing', 1, 'pose', 2);
    assert.deepEqual(commandsOf(readGraph(pose), 'swing')[1], {
        part: 'right',
        jerk_percent: 30,
        pose: { position: [0, 0, 0], orientation: [0, 0, 0, 1] },
    });
    assert.deepEqual(
        commandsOf(readGraph(setCommand(pose, 'swing', 1, 'pose.position', [1, 2, 3])), 'swing')[1]?.pose,
        { position: [1, 2, 3], orientation: [0, 0, 0, 1] },
    );
    const velocity = commandsOf(readGraph(setTarget(pose, 'swing', 1, 'velocity', 2)), 'swing')[1];
    assert.deepEqual(velocity, { part: 'right', jerk_percent: 30, velocity: [0, 0], time: 1 });
    const trajectory = setTarget(GROUP, 'swing', 0, 'trajectory', 2);
    assert.deepEqual(commandsOf(readGraph(trajectory), 'swing')[0]?.trajectory, {
        times: [0, 1],
        positions: [
            [0, 0],
            [0, 0],
        ],
    });
    assert.equal(setTarget(GROUP, 'swing', 0, 'position', 2), GROUP);
});

test('the motion command and the key that a mistake is of', () => {
    const at = (line: number, text = ''): number => commandOfMistake(GROUP, 'swing', { line, text });
    assert.deepEqual(
        [
            at(7),
            at(8),
            at(10),
            at(4),
            at(11),
            at(5, 'actions.swing.commands[1].speed'),
            at(5, "action 'swing': motion command 1: speed"),
        ],
        [0, 1, 1, -1, -1, 1, 0],
    );
    const keys = ['position', 'speed', 'joint_speed', 'pose.position', 'jerk_percent'];
    const key = (text: string, of = keys): string => keyOfMistake({ text }, of);
    assert.equal(key('actions.both.commands[0].jerk_percent. expected a number; got speed'), 'jerk_percent');
    assert.equal(key("motion command of 'arm': position. expected a number"), 'position');
    assert.equal(key("motion command of 'arm': joint_speed"), 'joint_speed');
    assert.equal(key("motion command of 'arm': position of the tool", ['pose.position']), 'pose.position');
    assert.equal(key('unknown part. expected one of: speed'), '');
});

test('strategies: one line for each edit, comments stay', () => {
    const first = addStrategy(CORNER, 'corner', 'z', 'force');
    assert.deepEqual(changed(CORNER, first), [[], ['      z: [{name: force, law: force}]']]);
    // Another one comes before the one that always governs.
    const second = addStrategy(CORNER, 'corner', 'x', 'force');
    assert.deepEqual(changed(CORNER, second), [[], ["        - {name: force_2, when: 'false', law: force}"]]);
    assert.deepEqual(
        strategiesOf(readGraph(second), 'corner')[0]?.[1].map((each) => each.name),
        ['force', 'force_2', 'velocity'],
    );
    assert.deepEqual(changed(CORNER, setStrategy(CORNER, 'corner', 'x', 0, ['inputs', 'force'], 'wrist.force.z')), [
        [CORNER.split('\n')[7]],
        [CORNER.split('\n')[7]?.replace('force: watch.push_x}', 'force: wrist.force.z}')],
    ]);
    assert.equal(
        setStrategy(setStrategy(CORNER, 'corner', 'y', 0, ['when'], 'x > 1'), 'corner', 'y', 0, ['when'], ''),
        CORNER,
    );
    assert.deepEqual(
        strategiesOf(readGraph(removeStrategy(CORNER, 'corner', 'y', 0)), 'corner').map(([axis]) => axis),
        ['x'],
    );
    assert.equal(strategiesOf(readGraph(removeStrategy(CORNER, 'one', 'x', 0)), 'one').length, 0);
    assert.deepEqual(
        strategiesOf(readGraph(moveStrategy(CORNER, 'corner', 'x', 1, 0)), 'corner')[0]?.[1].map((each) => each.name),
        ['velocity', 'force'],
    );
    const law = setLaw(CORNER, 'corner', 'x', 0, { name: 'distance', parameters: ['distance'], inputs: ['distance'] });
    assert.deepEqual(strategiesOf(readGraph(law), 'corner')[0]?.[1][0], {
        name: 'distance',
        when: 'watch.push_x > $touch',
        law: 'distance',
    });
    const named = setLaw(setStrategy(CORNER, 'corner', 'x', 0, ['name'], 'press'), 'corner', 'x', 0, {
        name: 'velocity',
        parameters: ['velocity'],
        inputs: [],
    });
    assert.equal(strategiesOf(readGraph(named), 'corner')[0]?.[1][0]?.name, 'press');
});

test('the strategy that a mistake is of', () => {
    const at = (line: number, text = '', state = 'corner') => strategyOfMistake(CORNER, state, { line, text });
    assert.deepEqual(at(9), { axis: 'x', index: 1 });
    assert.deepEqual(at(10, "action 'corner': strategy 'slow' of 'y': parameter 'velocity' is missing"), {
        axis: 'y',
        index: 0,
    });
    assert.deepEqual(at(8, "strategies of 'x': strategy 'velocity' is given twice"), { axis: 'x', index: 1 });
    assert.deepEqual(at(7, "action 'corner': strategies of 'x': unknown degree of freedom"), { axis: 'x', index: -1 });
    assert.deepEqual(at(5, 'actions.corner.strategies.x[1].name'), { axis: 'x', index: 1 });
    assert.equal(at(5), undefined);
    assert.equal(at(11, 'unknown part', 'one'), undefined); // everything is in that line
    assert.deepEqual(at(11, "strategy 'slow' of 'x': law", 'one'), { axis: 'x', index: 0 });
});

test('the field of a strategy that a mistake is of', () => {
    const of = "action 'g': strategy 'force' of 'x'";
    for (const [text, field] of [
        [
            `condition of ${of}, column 18: there is no such state variable. expected one of: ahead.age; got 'foo'`,
            'when',
        ],
        ["strategies of 'x': strategy 'force' has no condition, but is not the last", 'when'],
        [`${of}: when: unknown parameter $x`, 'when'],
        [`${of}: input 'force': there is no such state variable`, 'inputs.force'],
        [
            `${of}: input 'force' of law 'force' is not bound. expected a name; For example: inputs: {force: x}`,
            'inputs.force',
        ],
        [`${of}: parameter 'force' is missing`, 'parameters.force'],
        [`${of} captures an unknown state variable`, 'capture'],
        ['actions.g.strategies.z[0].capture. expected a text', 'capture'],
        ['actions.g.strategies.z[0].name. expected letters', ''],
        [`${of}: unknown law`, ''],
    ] as const)
        assert.equal(fieldOfStrategy({ text }), field, text);
});

test('a new motion group moves the first part that fits, with as many numbers as it has joints', () => {
    const type = {
        name: 'motion_group',
        slots: [{ name: 'part', kinds: ['arm', 'axis'], moves: true, description: '' }],
    } as unknown as ActionType;
    const parts = [
        { name: 'wrist', kind: 'sensor', joint_names: [] },
        { name: 'left', kind: 'arm', joint_names: ['a', 'b'] },
    ];
    const around = { types: new Map([['motion_group', type]]), programs: [], parts, doc: { graph: { content: {} } } };
    assert.deepEqual(stateContent('motion_group', around), {
        type: 'motion_group',
        commands: [{ part: 'left', position: [0, 0] }],
    });
    const roles = { ...around, doc: { graph: { content: { roles: { robot: { kinds: ['arm'] } } } } } };
    assert.deepEqual([jointsOf('robot', roles), jointsOf('left', roles), jointsOf('nobody', roles)], [2, 2, 0]);
});
