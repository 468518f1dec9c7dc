import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveValues, namedIn, OLD_MS, passedOn, shownValue } from '../src/store/live_values.ts';
import type { Live, VariableInfo } from '../src/wire.ts';

function variable(name: string, type = 'float', unit = 'N'): VariableInfo {
    return { name, type, unit, description: '', value: null };
}

const ALL = ['wrist.force.x', 'wrist.force.y', 'wrist.force.z', 'arm.position[0]', 'arm.position[1]', 'speed', 'b.d'];
const KNOWN = new Map(ALL.map((name) => [name, variable(name)]));

function named(text: string, roles: Record<string, string> = {}): string[] {
    return namedIn(text, KNOWN, roles).map((each) => `${each.name}=${each.variables.map(({ name }) => name)}`);
}

function live(values: Record<string, number | null>, executor = 0): Live {
    return { robot: { values, ...(executor > 0 && { silent: { executor } }) } } as unknown as Live;
}

test('E30 a text names variables, elements of vectors, parts of roles, and nothing else', () => {
    assert.deepEqual(named('wrist.force.z < -3 and speed > 0.5'), ['wrist.force.z=wrist.force.z', 'speed=speed']);
    assert.deepEqual(named('norm(wrist.force) > 1'), ['wrist.force=wrist.force.x,wrist.force.y,wrist.force.z']);
    assert.deepEqual(named('arm.position[1] > arm.position[1]'), ['arm.position[1]=arm.position[1]']);
    assert.deepEqual(named('arm.position'), ['arm.position=arm.position[0],arm.position[1]']);
    assert.deepEqual(named('sensor.d < 1', { sensor: 'b' }), ['sensor.d=b.d']);
    assert.deepEqual(passedOn('speed is $'.concat('{b.d} at $', '{speed}')), 'b.d speed');
    assert.deepEqual(named('$wrist.force.z or x.wrist.force.z or "speed" or wrist.force.q or constructor'), []);
});

test('E30 a value has its digits; unknown is unknown, and what never came is nothing', () => {
    const values = new LiveValues();
    const [z, s] = [variable('wrist.force.z'), variable('speed')];
    assert.equal(values.text(z), '');
    assert.equal(values.age([z], 0, 0), null);
    values.take(live({ 'wrist.force.z': -3.20049, speed: null }), 0);
    assert.equal(values.text(z), '-3.2');
    assert.equal(values.text(s), 'unknown');
    assert.equal(values.age([z, s], 0, 60_000), 0, 'a state that does not change is not sent again');
    assert.deepEqual(
        [shownValue(1, 'bool'), shownValue(0, 'bool'), shownValue(1.23456, '')],
        ['true', 'false', '1.235'],
    );
    assert.deepEqual([shownValue(123456, ''), shownValue(-1e-9, '')], ['123456', '0']);
});

test('E30 what does not come any more is old, and so is what a silent executor or editor once said', () => {
    const values = new LiveValues();
    const speed = variable('speed');
    values.take(live({ speed: 1 }), 0);
    values.take(live({}), 3000); // no answer to the question
    values.take(live({}), 4000);
    assert.equal(values.age([speed], 0, 5000), 2000 + OLD_MS);
    values.take(live({ speed: 2 }), 6000);
    assert.equal(values.age([speed], 0, 6000), 0);
    assert.equal(values.age([speed], 3, 6000), 3000);
    values.take(live({ speed: 2 }, 0.8), 7000);
    assert.deepEqual([values.age([speed], 0, 7000), values.age([speed], 0, 9000)], [OLD_MS, 2800]);
    assert.equal(values.text(speed), '2');
});
