import assert from 'node:assert/strict';
import { test } from 'node:test';

import { whatIsLost } from '../src/lost.ts';
import type { Live } from '../src/wire.ts';

function live(robot: Live['robot'], blueprints: Live['blueprints']): Live {
    return {
        robot,
        blueprints,
        people: { operator: '', operator_name: '', here: [], log: [] },
        programs_changed: 0,
        starts: [],
    };
}

test('an executor of blueprints that was never there is not running, one that was there is lost', () => {
    const [never, ...none] = whatIsLost(live({ blueprints: false, executor: true }, {}));
    assert.match(never ?? '', /is not running: .* Start it with .*blueprints:=true/);
    assert.deepEqual(none, []);
    assert.match(
        whatIsLost(live({ blueprints: false, executor: true }, { nodes: [] })).join(),
        /^The blueprint executor is lost:/,
    );
});

test('a page without blueprints misses no executor of them', () => {
    const silent = { executor: 0.8, blueprints: 3 };
    assert.deepEqual(whatIsLost(live({ blueprints: false, executor: true }, {}), false), []);
    assert.equal(whatIsLost(live({ blueprints: false, executor: false, silent }, { nodes: [] }), false).length, 1);
});

test('nothing is said before something is known, and nothing of those that are there', () => {
    assert.deepEqual(whatIsLost(live({}, {})), []);
    assert.deepEqual(whatIsLost(live({ blueprints: true, executor: true }, { nodes: [] })), []);
});

test('the robot’s executor and what an executor says of itself', () => {
    assert.deepEqual(
        whatIsLost(live({ blueprints: true, executor: false }, { nodes: [], problem: 'no control server' })),
        ['The robot’s real-time executor cannot be reached: what is shown may be old.', 'no control server'],
    );
});

test('E16 silence is shown as exactly that, with what STOP can still do', () => {
    const texts = whatIsLost(
        live({ blueprints: false, executor: false, silent: { executor: 0.8, blueprints: 3 } }, { nodes: [] }),
    );
    assert.equal(texts.length, 2);
    assert.match(
        texts[0] ?? '',
        /^No word from the robot’s real-time executor for 0\.8 s: .* STOP is still sent to it .* emergency stop/,
    );
    assert.match(texts[1] ?? '', /^No word from the blueprint executor for 3 s: .* STOP does not need it/);
});
