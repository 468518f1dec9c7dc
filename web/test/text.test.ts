import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
    addCandidate,
    addNode,
    arrange,
    changeCandidate,
    connect,
    copyNodes,
    deleteNodes,
    disconnect,
    extractSkill,
    freeId,
    insertOnLink,
    moveCandidate,
    moveNode,
    pasteNodes,
    renameNode,
    renameSkill,
    typed,
} from '../src/text/blueprint_edits.ts';
import { readGraph } from '../src/text/graph.ts';
import { begin, edit, redo, undo } from '../src/text/history.ts';
import { data, insert, Raw, remove, renameKey, render, set } from '../src/text/yaml_edit.ts';

const WELCOME = `# The document's robot.
name: welcome
level: blueprint
commands: [{say: [welcome the guest, 'receive {guest}']}, {gesture: wave}]
parameters: {guest: {type: text, default: dear guest}}
start: look

nodes:
  # Who is there?
  look:   {skill: recognise_face, then: [{on: guest, go: greet}, {on: staff, end: done}]}
  greet:  {skill: greet_by_handshake, with: {phrase: $guest}, retry: 1, then: [{when: battery.level < 0.2, go: \
charge}, {go: seat}]}
  seat:   {skill: guide_to_seat, then: drinks}   # the good one
  drinks:
    skill: serve_drink
    with: {drink: $seat.wish}   # what was wished
  charge: {skill: dock_and_charge, then: seat}
  back:   {skill: step_back, then: look}

# In any node.
reactions: [{when: person.distance < 0.5 and seat.count < 3, go: back, at: once}]
`;

function changedLines(before: string, after: string): [string[], string[]] {
    const a = before.split('\n');
    const b = after.split('\n');
    return [a.filter((line) => !b.includes(line)), b.filter((line) => !a.includes(line))];
}

test('moving a node changes one line, and comments stay', () => {
    const first = moveNode(WELCOME, 'look', 10.4, 20.6);
    assert.equal(first, `${WELCOME}view:\n  look: [10, 21]\n`);
    const second = moveNode(moveNode(first, 'greet', 1, 2), 'look', -5, 7);
    assert.equal(second, `${WELCOME}view:\n  look: [-5, 7]\n  greet: [1, 2]\n`);
    assert.equal(arrange(second), WELCOME);
    assert.equal(arrange(second, ['greet']), `${WELCOME}view:\n  look: [-5, 7]\n`);
});

test('drawing a link changes the line of its node', () => {
    const next = connect(WELCOME, 'drinks', 'success', 'look');
    assert.deepEqual(changedLines(WELCOME, next), [[], ['    then: look']]);
    const more = connect(WELCOME, 'seat', 'failure', 'charge');
    assert.deepEqual(changedLines(WELCOME, more)[1], [
        '  seat:   {skill: guide_to_seat, then: [{on: failure, go: charge}, {go: drinks}]}   # the good one',
    ]);
    const third = connect(more, 'seat', 'success', 'look');
    assert.ok(third.includes('then: [{on: failure, go: charge}, {go: drinks}, {go: look}]}   # the good one'));
});

test('a candidate is changed, moved and removed', () => {
    const when = changeCandidate(WELCOME, 'seat', 0, { when: 'battery.level > 0.5' });
    assert.ok(when.includes('then: [{when: battery.level > 0.5, go: drinks}]}   # the good one'));
    assert.deepEqual(readGraph(when).nodes[2]?.candidates[0]?.when, 'battery.level > 0.5');
    const back = changeCandidate(when, 'seat', 0, { when: '' });
    assert.ok(back.includes('then: [{go: drinks}]}'));
    const moved = moveCandidate(WELCOME, 'look', 1, 0);
    assert.ok(moved.includes('then: [{on: staff, end: done}, {on: guest, go: greet}]}'));
    assert.ok(
        disconnect(WELCOME, 'look', 0).includes('look:   {skill: recognise_face, then: [{on: staff, end: done}]}'),
    );
    assert.ok(disconnect(WELCOME, 'seat', 0).includes('seat:   {skill: guide_to_seat}   # the good one'));
    const both = addCandidate(WELCOME, 'greet', { on: ['failed', 'timeout'], end: 'failed' });
    assert.ok(both.includes('{on: [failed, timeout], end: failed}, {go: seat}]}'));
});

test('nodes are added and deleted, with what leads to them', () => {
    const added = addNode(WELCOME, 'bye', { say: 'good bye: see you' }, { node: 'drinks', result: 'success' });
    assert.ok(
        added.includes("\n  bye: {say: 'good bye: see you'}\n\n# In any node.") ||
            added.includes("\n  bye: {say: 'good bye: see you'}\n"),
    );
    assert.deepEqual(
        readGraph(added).nodes.map((n) => n.id),
        ['look', 'greet', 'seat', 'drinks', 'charge', 'back', 'bye'],
    );
    const gone = deleteNodes(added, ['seat', 'back']);
    const graph = readGraph(gone);
    assert.equal(graph.problem, '');
    assert.deepEqual(
        graph.nodes.map((n) => n.id),
        ['look', 'greet', 'drinks', 'charge', 'bye'],
    );
    assert.deepEqual(graph.reactions, []);
    assert.ok(gone.includes('# In any node.') && gone.includes('# Who is there?'));
    assert.ok(gone.includes('then: [{when: battery.level < 0.2, go: charge}]}'));
    assert.ok(gone.includes('charge: {skill: dock_and_charge}'));
    const none = deleteNodes(gone, ['look', 'greet', 'drinks', 'charge', 'bye']);
    assert.deepEqual(readGraph(none).nodes, []);
    assert.equal(readGraph(addNode(none, 'a', { wait: 1 })).nodes[0]?.id, 'a');
});

test('an empty text gets its first node', () => {
    const one = addNode('name: x\n', 'a', { skill: 'grasp' });
    assert.equal(one, 'name: x\nnodes:\n  a: {skill: grasp}\n');
    assert.equal(addNode('name: x\nnodes: {}\n', 'a', { skill: 'grasp' }), 'name: x\nnodes:\n  a: {skill: grasp}\n');
    assert.equal(addNode('name: x\nnodes:\n', 'a', { skill: 'grasp' }), 'name: x\nnodes:\n  a: {skill: grasp}\n');
    assert.equal(addNode('name: x\nnodes:\nstart: a', 'a', { wait: 1 }), 'name: x\nnodes:\n  a: {wait: 1}\nstart: a');
});

test('a node is dropped on a link', () => {
    const next = insertOnLink(WELCOME, 'look', 0, 'pause', { wait: 1 });
    assert.ok(
        next.includes('  look:   {skill: recognise_face, then: [{on: guest, go: pause}, {on: staff, end: done}]}'),
    );
    assert.ok(next.includes('  pause: {wait: 1, then: greet}\n'));
    const end = insertOnLink(WELCOME, 'look', 1, 'pause', { wait: 1 });
    assert.ok(end.includes('{on: staff, go: pause}') && end.includes('pause: {wait: 1, then: [{end: done}]}'));
});

test('a renamed node takes its links, references, conditions and place along', () => {
    const placed = moveNode(WELCOME, 'seat', 1, 2);
    const next = renameNode(placed, 'seat', 'chair');
    assert.ok(
        next.includes('{go: chair}]}') &&
            next.includes('then: chair}') &&
            next.includes('chair:   {skill: guide_to_seat'),
    );
    assert.ok(next.includes('$chair.wish') && next.includes('chair.count < 3') && next.includes('  chair: [1, 2]'));
    assert.ok(next.includes('skill: guide_to_seat'));
    assert.equal(renameNode(next, 'chair', 'seat'), placed);
    assert.ok(renameNode(WELCOME, 'look', 'see').includes('start: see\n'));
});

test('callers follow a renamed skill', () => {
    const next = renameSkill(WELCOME, 'guide_to_seat', 'guide');
    assert.deepEqual(changedLines(WELCOME, next)[1], ['  seat:   {skill: guide, then: drinks}   # the good one']);
    assert.ok(renameSkill(WELCOME, 'welcome', 'hello').includes('\nname: hello\n'));
});

test('copied nodes are text, and get free ids', () => {
    const copied = copyNodes(WELCOME, ['seat', 'drinks']);
    assert.equal(
        copied,
        'nodes:\n  seat:   {skill: guide_to_seat, then: drinks}\n  drinks:\n    skill: serve_drink\n    with: ' +
            '{drink: $seat.wish}\n',
    );
    const { text, ids } = pasteNodes(WELCOME, copied);
    assert.deepEqual(ids, ['seat_2', 'drinks_2']);
    const graph = readGraph(text);
    assert.equal(graph.problem, '');
    assert.equal(graph.nodes.find((n) => n.id === 'seat_2')?.candidates[0]?.go, 'drinks_2');
    assert.ok(text.includes('$seat_2.wish') && text.includes('# In any node.'));
    const alone = pasteNodes('name: y\nnodes: {}\n', copyNodes(WELCOME, ['greet']));
    assert.equal(
        alone.text,
        'name: y\nnodes:\n  greet:  {skill: greet_by_handshake, with: {phrase: $guest}, retry: 1}\n',
    );
    assert.deepEqual(pasteNodes(WELCOME, 'just some words').ids, []);
});

test('a skill is made of selected nodes, with what they need and where they lead', () => {
    const found = extractSkill(
        WELCOME,
        ['greet', 'seat', 'drinks'],
        'serve',
        'behavior_skill',
        new Map([['seat.wish', { type: 'text', unit: '' }]]),
    );
    assert.equal(found.problem, 'These nodes are entered at several places (greet, seat): a skill has one start.');
    const two = extractSkill(WELCOME, ['seat', 'drinks'], 'serve', 'behavior_skill');
    assert.equal(two.problem, '');
    assert.ok(two.text.includes('  serve: {skill: serve}') || two.text.includes('  serve:   {skill: serve}'));
    assert.ok(two.text.includes('{go: serve}]}') && two.text.includes('then: serve}'));
    assert.deepEqual((data(two.skill) as { nodes: object }).nodes, {
        seat: { skill: 'guide_to_seat', then: 'drinks' },
        drinks: { skill: 'serve_drink', with: { drink: '$seat.wish' } },
    });
    const one = extractSkill(WELCOME, ['look', 'greet'], 'meet', 'behavior_skill');
    assert.equal(one.problem, '');
    const skill = data(one.skill) as Record<string, unknown>;
    assert.deepEqual(skill.parameters, { guest: { type: 'text', default: 'dear guest' } });
    assert.deepEqual(skill.results, { to_charge: {}, to_seat: {} });
    assert.deepEqual((skill.nodes as Record<string, { then: unknown }>).greet?.then, [
        { when: 'battery.level < 0.2', end: 'to_charge' },
        { end: 'to_seat' },
    ]);
    const caller = readGraph(one.text).nodes.find((n) => n.id === 'meet');
    assert.deepEqual(caller?.content.with, { guest: '$guest' });
    assert.equal(readGraph(one.text).content.start, 'meet');
    assert.deepEqual(
        caller?.candidates.map((c) => [c.on[0], c.go || c.end]),
        [
            ['to_charge', 'charge'],
            ['to_seat', 'seat'],
            ['success', 'done'],
        ],
    );
    const uses = extractSkill(
        WELCOME,
        ['drinks'],
        'pour',
        'behavior_skill',
        new Map([['seat.wish', { type: 'text', unit: '' }]]),
    );
    assert.ok(
        uses.skill.includes('parameters:\n  seat_wish: {type: text}') && uses.skill.includes('drink: $seat_wish'),
    );
    assert.ok(uses.text.includes('with: {seat_wish: $seat.wish}'));
});

test('values are written so that they are read as they were', () => {
    for (const value of [
        'a',
        'yes',
        'true',
        '1',
        '1e3',
        ' x ',
        'a: b',
        'a, b',
        '[x',
        '{guest}',
        "it's",
        '#no',
        'x #y',
        '',
        '$a.b',
        'ü"',
        'a\nb',
        '-',
        '- a',
        '?',
        '*a',
        '&a',
        '!x',
        '%',
        '@a',
        '`a',
        'null',
        '~',
        '0x1f',
        '1_000',
    ]) {
        assert.deepEqual(data(`k: ${render(value, false)}\n`), { k: value }, value);
        assert.deepEqual(data(`k: [${render(value)}, {v: ${render(value)}}]\n`), { k: [value, { v: value }] }, value);
    }
    assert.equal(render(new Raw('0.10')), '0.10');
    assert.equal(render(typed(' 0.10 ', 'float')), '0.10');
    assert.equal(render(typed('$guest', 'float')), '$guest');
    assert.equal(render(typed('1', 'text')), "'1'");
    assert.equal(render(typed('[1, 2.50]', 'float')), '[1, 2.50]');
});

test('lists and mappings in blocks and in brackets', () => {
    const text = 'a:\n  - x: 1   # one\n    y: 2\n  - z\nb: [1, 2, 3]\nc: {k: 1}\n';
    assert.equal(remove(text, ['a', 0]), 'a:\n  - z\nb: [1, 2, 3]\nc: {k: 1}\n');
    assert.equal(remove(text, ['a', 0, 'x']), 'a:\n  - y: 2\n  - z\nb: [1, 2, 3]\nc: {k: 1}\n');
    assert.equal(remove(text, ['b', 2]), text.replace('1, 2, 3', '1, 2'));
    assert.equal(remove(text, ['b', 0]), text.replace('1, 2, 3', '2, 3'));
    assert.equal(remove(text, ['c', 'k']), text.replace('c: {k: 1}\n', ''));
    assert.equal(insert(text, ['a'], 0, 'first'), text.replace('  - x', '  - first\n  - x'));
    assert.equal(insert(text, ['a'], 1, 'mid'), text.replace('  - z', '  - mid\n  - z'));
    assert.equal(insert(text, ['a'], 2, 'end'), text.replace('  - z\n', '  - z\n  - end\n'));
    assert.equal(insert(text, ['b'], 3, 4), text.replace('3]', '3, 4]'));
    assert.equal(set(text, ['a', 0, 'y'], 5), text.replace('y: 2', 'y: 5'));
    assert.equal(set(text, ['a', 0, 'n'], 5), text.replace('y: 2\n', 'y: 2\n    n: 5\n'));
    assert.equal(set(text, ['d', 'e'], [1]), `${text}d:\n  e: [1]\n`);
    assert.equal(set(text, ['c', 'm', 'n'], 1), text.replace('{k: 1}', '{k: 1, m: {n: 1}}'));
    assert.equal(renameKey(text, ['c', 'k'], 'q'), text.replace('k: 1', 'q: 1'));
});

// A small random numbers generator, so that each run is the same.
function random(seed: number): () => number {
    let state = seed;
    return () => {
        state = (state * 1664525 + 1013904223) % 4294967296;
        return state / 4294967296;
    };
}

test('200 edits undone and redone to the very bytes, and what is not edited stays', () => {
    for (const seed of [1, 2, 3]) {
        const next = random(seed);
        const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(next() * list.length)];
        let history = begin(WELCOME);
        const states = [history.text];
        for (let n = 0; states.length <= 200; n += 1) {
            assert.ok(n < 2000);
            const text = history.text;
            const graph = readGraph(text);
            assert.equal(graph.problem, '', text);
            const a = pick(graph.nodes)?.id ?? '';
            const b = pick(graph.nodes)?.id ?? '';
            const kind = Math.floor(next() * 9);
            let made = text;
            if (kind === 0) made = moveNode(text, a, next() * 500, next() * 500);
            if (kind === 1)
                made = addNode(text, freeId(graph, pick(['grasp', 'wait', 'say']) ?? ''), {
                    skill: 'grasp',
                    with: { force: new Raw('5.0') },
                });
            if (kind === 2 && a !== '') made = connect(text, a, pick(['success', 'failure', 'timeout']) ?? '', b);
            if (kind === 3 && graph.nodes.length > 4) made = deleteNodes(text, [a]);
            if (kind === 4 && a !== '') made = renameNode(text, a, freeId(graph, 'node'));
            const node = pick(graph.nodes.filter((each) => each.candidates.length > 0));
            const link = pick(node?.candidates ?? []);
            if (kind === 5 && node && link) made = disconnect(text, node.id, link.index);
            if (kind === 6 && node && link)
                made = changeCandidate(text, node.id, link.index, { when: `${a}.count < ${n}` });
            if (kind === 7 && node && link)
                made = insertOnLink(text, node.id, link.index, freeId(graph, 'pause'), { wait: new Raw('0.5') });
            if (kind === 8 && a !== '') made = pasteNodes(text, copyNodes(text, [...new Set([a, b])])).text;
            if (made === text) continue;
            assert.ok(made.startsWith("# The document's robot.\n") && made.includes('# In any node.'));
            history = edit(history, made);
            states.push(made);
        }
        const last = states.length - 1;
        for (let n = last; n > 0; n -= 1) {
            assert.equal(history.text, states[n]);
            history = undo(history);
        }
        assert.equal(history.text, WELCOME);
        assert.equal(undo(history).text, WELCOME);
        for (let n = 1; n <= last; n += 1) {
            history = redo(history);
            assert.equal(history.text, states[n]);
        }
    }
});

test('typing in one field is one step', () => {
    let history = begin('a: 1\n');
    history = edit(history, 'a: 12\n', 'a');
    history = edit(history, 'a: 123\n', 'a');
    history = edit(history, 'b: 123\n', 'b');
    assert.equal(undo(history).text, 'a: 123\n');
    assert.equal(undo(undo(history)).text, 'a: 1\n');
});

test('a program is a picture as well', () => {
    const text =
        'name: p\nactions:\n  a: {type: hold, parts: arm, reactions: [{when: is_done, start: b, name: x}]}\n  b: ' +
        '{type: stop, parts: arm}\n';
    const graph = readGraph(text);
    assert.ok(graph.isProgram);
    assert.equal(graph.nodes[0]?.candidates[0]?.go, 'b');
    const renamed = renameNode(text, 'b', 'c');
    assert.ok(renamed.includes('start: c,') && renamed.includes('  c: {type: stop'));
    assert.ok(
        connect(text, 'b', 'success', 'a').includes(
            'b: {type: stop, parts: arm, reactions: [{when: is_done, start: a}]}',
        ),
    );
});
