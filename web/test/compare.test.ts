import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compare, linksOf, otherLinks } from '../src/text/compare.ts';
import { readGraph } from '../src/text/graph.ts';

const BEFORE = readGraph(`name: tour
parameters: {times: {type: int, default: 2}}
nodes:
  look:  {skill: move_until_contact, with: {force: 5.0, way: [0, 0, -0.1]}, then: [{on: contact, go: press}, {end: \
done}]}
  press: {skill: act_on_object, retry: 1, then: tell}
  tell:  {say: nothing there}
  old:   {wait: 1}
view: {look: [1, 2]}
`);
const AFTER = readGraph(`name: tour
parameters: {times: {type: int, default: 3}}
start: press
nodes:
  look:  {skill: move_until_contact, with: {way: [0, 0, -0.1], force: 8.0}, then: [{on: contact, when: look.count < \
3, go: press}, {end: done}]}
  press: {skill: act_on_object, timeout: 30, then: tell}
  tell:  {say: nothing there}   # the same
  fresh: {all_of: {one: {wait: 1}}}
reactions: [{when: below.distance < 0.2, go: tell}]
`);

test('two versions are compared in words', () => {
    const found = compare(BEFORE, AFTER);
    assert.deepEqual(
        found.nodes.map(({ id, kind, what }) => [id, kind, what]),
        [
            ['look', 'changed', 'move_until_contact'],
            ['press', 'changed', 'act_on_object'],
            ['tell', 'same', 'say'],
            ['fresh', 'added', 'all of'],
            ['old', 'removed', 'wait'],
        ],
    );
    assert.deepEqual(found.nodes[0]?.words, [
        'is the start no more',
        'with.force: 5 → 8',
        'link added: contact if look.count < 3 → press',
        'link removed: contact → press',
    ]);
    assert.deepEqual(found.nodes[1]?.words, ['is the start now', 'retry removed: 1', 'timeout added: 30']);
    assert.deepEqual(found.others, [
        'parameters.times.default: 2 → 3',
        'reactions added: [{"when":"below.distance < 0.2","go":"tell"}]',
        'view: nodes were moved or folded',
    ]);
});

test('the same is the same', () => {
    const found = compare(AFTER, AFTER);
    assert.ok(found.nodes.every(({ kind }) => kind === 'same') && found.others.length === 0);
    const turned = readGraph('name: t\nnodes:\n  a: {wait: 1, then: [{on: failure, go: a}, {end: done}]}\n');
    const other = readGraph('name: t\nnodes:\n  a: {then: [{end: done}, {on: failure, go: a}], wait: 1}\n');
    assert.deepEqual(compare(turned, other).nodes[0]?.words, ['links are judged in another order']);
});

test('links that only one version has are marked', () => {
    assert.deepEqual([...otherLinks(AFTER, BEFORE)], []);
    const more = readGraph('name: t\nnodes:\n  a: {wait: 1, then: b}\n  b: {wait: 1, then: [{end: done}]}\n');
    const less = readGraph('name: t\nnodes:\n  a: {wait: 1, then: b}\n  b: {wait: 1}\n');
    assert.deepEqual([...otherLinks(more, less)], ['b>@done']);
    assert.deepEqual(linksOf(more.nodes[1] as never, false), ['→ ends: done']);
});
