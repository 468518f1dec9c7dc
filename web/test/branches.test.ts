import assert from 'node:assert/strict';
import { test } from 'node:test';

import { addBranch, changeBranch, removeBranch, renameBranch } from '../src/text/branches.ts';
import { callsOf, readGraph } from '../src/text/graph.ts';
import { brief, isUnder, mistakesAt, placeOfMistake } from '../src/text/mistake_place.ts';
import { set } from '../src/text/yaml_edit.ts';

const BOTH = `name: both
nodes:
  # Side by side.
  race: {first_of: {hand: {skill: grasp, parts: {gripper: gripper}}, clock: {wait: 5}}, then: [{on: hand, go: \
done_it}, {on: [clock, failure], end: done}]}   # quick
  all:
    all_of:
      left: {skill: move_until_contact, with: {force: 5.0}}   # it presses
      right:
        first_of:
          seen: {wait_until: below.distance < 1}
          late: {wait: 3}
    then: [{when: $all.left.watch.push > 1 and $all.right.seen.x > 0, go: race}]
  done_it: {say: $race.hand.width}
`;

function changedLines(before: string, after: string): [string[], string[]] {
    const a = before.split('\n');
    const b = after.split('\n');
    return [a.filter((line) => !b.includes(line)), b.filter((line) => !a.includes(line))];
}

test('branches are added, changed and removed in their lines', () => {
    const added = addBranch(BOTH, ['nodes', 'race'], 'first_of');
    assert.ok(added.includes('clock: {wait: 5}, branch_3: {wait: 1}}, then'), added);
    assert.deepEqual(changedLines(BOTH, addBranch(BOTH, ['nodes', 'all'], 'all_of'))[1], ['      branch_3: {wait: 1}']);
    const changed = changeBranch(added, ['nodes', 'race'], 'first_of', 'branch_3', { skill: 'grasp' });
    const filled = set(changed, ['nodes', 'race', 'first_of', 'branch_3', 'with', 'width'], 0.02);
    assert.ok(filled.includes('branch_3: {skill: grasp, with: {width: 0.02}}}'), filled);
    assert.ok(filled.endsWith(BOTH.slice(BOTH.indexOf('   # quick'))));
    const left = removeBranch(BOTH, ['nodes', 'all'], 'all_of', 'left');
    assert.deepEqual(changedLines(BOTH, left), [
        ['      left: {skill: move_until_contact, with: {force: 5.0}}   # it presses'],
        [],
    ]);
    assert.equal(removeBranch(left, ['nodes', 'all'], 'all_of', 'right'), left, 'the last one stays');
    const inner = addBranch(BOTH, ['nodes', 'all', 'all_of', 'right'], 'first_of');
    assert.deepEqual(changedLines(BOTH, inner)[1], ['          branch_3: {wait: 1}']);
});

test('a branch is renamed with its result and the outputs that are read', () => {
    const hand = renameBranch(BOTH, ['nodes', 'race'], 'first_of', 'hand', 'grip');
    assert.ok(
        hand.includes('first_of: {grip: {skill: grasp') &&
            hand.includes('{on: grip, go: done_it}') &&
            hand.includes('say: $race.grip.width'),
    );
    const left = renameBranch(BOTH, ['nodes', 'all'], 'all_of', 'left', 'press');
    assert.ok(
        left.includes('press: {skill: move_until_contact, with: {force: 5.0}}   # it presses') &&
            left.includes('$all.press.watch.push > 1'),
    );
    const seen = renameBranch(BOTH, ['nodes', 'all', 'all_of', 'right'], 'first_of', 'seen', 'near');
    assert.ok(seen.includes('near: {wait_until') && seen.includes('$all.right.near.x > 0'));
    assert.equal(renameBranch(BOTH, ['nodes', 'race'], 'first_of', 'hand', 'clock'), BOTH, 'the name is taken');
});

test('all calls of a node have their branches’ names', () => {
    const graph = readGraph(BOTH);
    const all = graph.nodes.flatMap((node) =>
        callsOf(node.content).map(([path, skill]) => [node.id, ...path, skill].join('/')),
    );
    assert.deepEqual(all, ['race/hand/grasp', 'all/left/move_until_contact']);
});

test('a mistake leads to its field', () => {
    const graph = readGraph(BOTH);
    const at = (what: string, got = '', node = ''): string => placeOfMistake(graph, what, got, node).join('/');
    assert.equal(at("node 'race': then[1].when, column 1: there is no such state variable"), 'nodes/race/then/1/when');
    assert.equal(at("node 'all': when is not valid at column 3"), 'nodes/all/then/0/when');
    assert.equal(
        at("node 'all/right/seen': wait_until, column 1: there is no such state variable"),
        'nodes/all/all_of/right/first_of/seen/wait_until',
    );
    assert.equal(
        at("node 'all/left': skill 'move_until_contact': parameter 'force': out of range"),
        'nodes/all/all_of/left/with/force',
    );
    assert.equal(
        at("node 'all/left': skill 'move_until_contact' has no parameter 'forse'"),
        'nodes/all/all_of/left/with/forse',
    );
    assert.equal(
        at("node 'race/hand': no part for role 'gripper' of 'grasp'"),
        'nodes/race/first_of/hand/parts/gripper',
    );
    assert.equal(at("node 'race/clock': wait: parameter 'time': out of range"), 'nodes/race/first_of/clock/wait');
    assert.equal(at("node 'race': timeout: parameter 'time': out of range"), 'nodes/race/timeout');
    assert.equal(at("node 'race/clock': ask: answers", "'ok' 2 times"), 'nodes/race/first_of/clock/ask/answers');
    assert.equal(at("node 'race/clock': ask: parameter 'text': wrong type"), 'nodes/race/first_of/clock/ask');
    assert.equal(at("node 'race': it has no result 'clock'"), 'nodes/race/then/1/on');
    assert.equal(at("node 'race': the skill has no result 'done'"), 'nodes/race/then/1/end');
    assert.equal(at("node 'all': unknown node", "'rase'"), 'nodes/all', 'there is none such');
    assert.equal(at("node 'race': branch 'hand'"), 'nodes/race/first_of/hand');
    assert.equal(at("unknown skill 'grasp'", '', 'race'), 'nodes/race/first_of/hand/skill');
    assert.equal(at("unknown skill 'gone'", '', 'race'), 'nodes/race');
    assert.equal(at("node 'done_it' cannot be reached", '', 'done_it'), 'nodes/done_it');
    assert.equal(at('nodes.race.then[0].gi: unknown key', "'gi'", 'all'), 'nodes/race/then/0/gi');
    assert.equal(at('reaction 2: when: unknown parameter $x'), 'reactions/2/when');
    assert.equal(at('reaction 0: unknown node'), 'reactions/0/go');
    assert.equal(at('reactions[1].when'), 'reactions/1/when');
    assert.equal(at('phrase x starts y already'), '');
});

test('a field shows what is wrong in it', () => {
    const mistakes = [
        { place: ['nodes', 'a', 'then', 0, 'when'], n: 1 },
        { place: ['nodes', 'a'], n: 2 },
        { place: [], n: 3 },
    ];
    assert.deepEqual(
        mistakesAt(mistakes, ['nodes', 'a', 'then', 0]).map(({ n }) => n),
        [1],
    );
    assert.ok(isUnder(['nodes', 'a', 'wait'], ['nodes', 'a']) && !isUnder(['nodes', 'a'], ['nodes', 'a', 'wait']));
    const names = Array.from({ length: 12 }, (_, n) => `arm.joint[${n}]`).join(', ');
    assert.equal(
        brief(`no such variable. expected one of: ${names}, … (29 in all); got 'x'. Look`),
        "no such variable. expected one of: arm.joint[0], arm.joint[1], arm.joint[2], …; got 'x'. Look",
    );
    assert.equal(brief("node 'a/b': then[1].when, column 3: no"), 'when, column 3: no');
    assert.equal(brief('reaction 0: when is not valid'), 'when is not valid');
    assert.equal(brief('expected one of: a, b, c, d; got e'), 'expected one of: a, b, c, d; got e');
    assert.equal(
        brief(`unknown skill. expected one of: ${names}`),
        'unknown skill. expected one of: arm.joint[0], arm.joint[1], arm.joint[2], …',
    );
});
