import assert from 'node:assert/strict';
import { test } from 'node:test';

import { deleteNodes, freeId, moveNode, renameNode } from '../src/text/blueprint_edits.ts';
import {
    arrangeAll,
    boxId,
    dissolve,
    fold,
    foldOf,
    foldsOf,
    hasPlaces,
    moveBox,
    nodesOf,
    renameFold,
    renameInFolds,
    tidyFolds,
    unfold,
} from '../src/text/folds.ts';
import { readGraph } from '../src/text/graph.ts';
import { foldPicture } from '../src/view/folding.ts';
import { layoutRequest, pictureOf } from '../src/view/picture.ts';

const TOUR = `name: tour
nodes:
  a: {wait: 1, then: b}   # first
  b: {ask: {text: More?, answers: [yes_please, no]}, then: [{on: yes_please, go: c}, {on: no, when: a.count > 2, go: \
d}, {go: d}]}
  c: {say: c, then: [{when: a.count < 3, go: a}, {go: b}]}
  d: {say: d, then: [{end: done}]}
`;

test('folding adds one line of view, and unfolding keeps it for the next time', () => {
    const folded = fold(TOUR, ['b', 'c']);
    assert.equal(folded, `${TOUR}view:\n  group: {nodes: [b, c]}\n`);
    assert.deepEqual(foldsOf(readGraph(folded)), [{ name: 'group', nodes: ['b', 'c'], open: false, place: null }]);
    const opened = unfold(folded, 'group');
    assert.equal(opened, `${TOUR}view:\n  group: {nodes: [b, c], open: true}\n`);
    assert.equal(fold(opened, ['c', 'b']), folded, 'the same box again');
    assert.equal(dissolve(opened, 'group'), TOUR);
    assert.equal(renameFold(folded, 'group', 'asking'), folded.replace('group', 'asking'));
    // A node is in one box: the others lose it, and what becomes empty goes.
    const two = fold(fold(folded, ['a', 'd']), ['a', 'b', 'c']);
    assert.equal(two, `${TOUR}view:\n  group_2: {nodes: [d]}\n  group: {nodes: [a, b, c]}\n`);
    assert.equal(fold(TOUR, []), TOUR);
    assert.equal(freeId(readGraph(folded), 'group'), 'group_2', 'no node gets the name of a box');
});

test('folded boxes are moved and arranged like nodes', () => {
    const folded = fold(moveNode(moveNode(TOUR, 'c', 5, 300), 'b', 7, 100), ['b', 'c']);
    assert.ok(folded.endsWith('view:\n  c: [5, 300]\n  b: [7, 100]\n  group: {nodes: [b, c], at: [7, 100]}\n'), folded);
    const moved = moveBox(moveBox(folded, boxId('group'), 20.4, 30), 'a', 1, 2);
    assert.ok(moved.includes('group: {nodes: [b, c], at: [20, 30]}') && moved.endsWith('  a: [1, 2]\n'));
    assert.ok(hasPlaces(readGraph(moved)));
    const arranged = arrangeAll(moved);
    assert.equal(arranged, `${TOUR}view:\n  group: {nodes: [b, c]}\n`);
    assert.ok(!hasPlaces(readGraph(arranged)));
    assert.equal(arrangeAll(moveNode(TOUR, 'a', 1, 2)), TOUR);
});

test('nodes that are removed or renamed are so in their boxes', () => {
    const folded = fold(TOUR, ['b', 'c']);
    assert.ok(tidyFolds(deleteNodes(folded, ['b'])).endsWith('view:\n  group: {nodes: [c]}\n'));
    assert.ok(!tidyFolds(deleteNodes(folded, ['b', 'c'])).includes('view'));
    assert.ok(
        renameInFolds(renameNode(folded, 'b', 'more'), 'b', 'more').endsWith('view:\n  group: {nodes: [more, c]}\n'),
    );
    assert.equal(foldOf(readGraph(folded), ['c', 'b'])?.name, 'group');
    assert.equal(foldOf(readGraph(folded), ['b']), undefined);
    assert.deepEqual(nodesOf(readGraph(folded), boxId('group')), ['b', 'c']);
    assert.deepEqual(nodesOf(readGraph(folded), 'a'), ['a']);
});

test('what a person wrote wrongly under view folds nothing', () => {
    for (const view of [
        'group: {nodes: [x, y]}',
        'a: {nodes: [b, c]}',
        'group: {nodes: 5}',
        'group: {open: 1}',
        'group: 7',
    ]) {
        assert.deepEqual(foldsOf(readGraph(`${TOUR}view:\n  ${view}\n`)), [], view);
    }
    const odd = readGraph(`${TOUR}view:\n  one: {nodes: [b, c], at: here}\n  two: {nodes: [c, d], open: 1}\n`);
    assert.deepEqual(
        foldsOf(odd).map(({ name, nodes, place }) => [name, nodes, place]),
        [
            ['one', ['b', 'c'], null],
            ['two', ['d'], null],
        ],
    );
});

test('links into folded nodes lead to their box, and links out of them begin there', () => {
    const graph = readGraph(fold(TOUR, ['b', 'c']));
    const picture = foldPicture(
        pictureOf(graph, () => undefined),
        graph,
    );
    assert.deepEqual(
        picture.boxes.map((box) => box.id),
        ['a', '&group', 'd', '@done'],
    );
    assert.deepEqual(
        picture.links.map(({ from, port, to, label }) => [from, port, to, label]),
        [
            ['a', 'success', '&group', ''],
            ['&group', 'out', 'd', 'b: no if a.count > 2 +1'],
            ['&group', 'out', 'a', 'c: if a.count < 3'],
            ['d', 'success', '@done', ''],
        ],
    );
    assert.equal(picture.links[1]?.node, 'b', 'a click on it shows the condition that it is drawn for');
    const request = layoutRequest(picture, '&group') as { boxes: [string, number, number][] };
    assert.equal(request.boxes[0]?.[0], '&group');
    const opened = readGraph(unfold(fold(TOUR, ['b', 'c']), 'group'));
    const whole = pictureOf(opened, () => undefined);
    assert.equal(foldPicture(whole, opened), whole);
    // A box's link stands for all that it was made of: it is taken if one of them was.
    const both = readGraph(fold(TOUR.replace('{go: b}', '{go: d}'), ['b', 'c']));
    const links = foldPicture(
        pictureOf(both, () => undefined),
        both,
    ).links;
    assert.deepEqual(
        links.filter((link) => link.to === 'd').map((link) => [link.id, ...(link.others ?? [])]),
        [['b:1:d', 'b:2:d', 'c:1:d']],
    );
});

test('all nodes can be in boxes', () => {
    const graph = readGraph(fold(fold(TOUR, ['a', 'b']), ['c', 'd']));
    const picture = foldPicture(
        pictureOf(graph, () => undefined),
        graph,
    );
    assert.deepEqual(
        picture.boxes.map((box) => box.id),
        ['&group', '&group_2', '@done'],
    );
    assert.deepEqual(
        picture.links.map(({ from, to }) => `${from}>${to}`),
        ['&group>&group_2', '&group_2>&group', '&group_2>@done'],
    );
});
