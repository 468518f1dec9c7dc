import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listOf, listText } from '../src/operate/present.ts';
import { kindOfField, partsFor, variablesOf } from '../src/operate/Take.tsx';
import { typed } from '../src/text/blueprint_edits.ts';
import { set } from '../src/text/yaml_edit.ts';
import type { ParameterInfo, PartInfo } from '../src/wire.ts';

function part(name: string, kind: string, joints: number): PartInfo {
    const joint_names = [...Array(joints).keys()].map((j) => `j${j}`);
    return { name, kind, joint_names, command_modes: joints ? ['position'] : [] } as unknown as PartInfo;
}

function info(name: string, length: string, unit: string): ParameterInfo {
    return { name, type: 'float', length, unit } as ParameterInfo;
}

const PARTS = [part('left', 'arm', 2), part('right', 'arm', 2), part('hand', 'gripper', 1), part('below', 'io', 0)];

test('fields of joints and of a pose of the tool are known, and no others', () => {
    assert.equal(kindOfField(info('position', 'dof', 'joint')), 'joints');
    assert.equal(kindOfField(info('position', 'any', '')), 'joints');
    assert.equal(kindOfField(info('tool_position', '3', 'm')), 'position');
    assert.equal(kindOfField(info('tool_orientation', '4', '')), 'orientation');
    for (const [name, length, unit] of [
        ['velocity', 'dof', 'joint/s'],
        ['offset', '3', 'm'],
        ['speed', '1', 'm/s'],
    ] as const)
        assert.equal(kindOfField(info(name, length, unit)), null);
});

test('what is taken is of the parts that are named, else of all that have it', () => {
    const names = (found: PartInfo[]): string[] => found.map((each) => each.name);
    assert.deepEqual(names(partsFor('joints', PARTS, ['hand'])), ['hand']);
    assert.deepEqual(names(partsFor('position', PARTS, ['hand'])), ['left', 'right'], 'a role is no part');
    assert.deepEqual(names(partsFor('joints', PARTS, [])), ['left', 'right', 'hand']);
    const [left] = PARTS;
    assert.deepEqual(variablesOf('joints', left as PartInfo), ['left.position[0]', 'left.position[1]']);
    assert.deepEqual(variablesOf('position', left as PartInfo), ['left.tool.x', 'left.tool.y', 'left.tool.z']);
});

test('values are taken to the micrometre, and not if one is unknown', () => {
    assert.equal(listText(listOf(['a', 'b'], { a: 0.1234567, b: -1e-9 }) ?? []), '[0.123457, 0]');
    assert.equal(listOf(['a', 'b'], { a: 1, b: null }), null);
    assert.equal(listOf(['a'], {}), null);
});

test('numbers between commas are a list without brackets', () => {
    const written = (entered: string, type = 'float'): string => set('a: 1\n', ['a'], typed(entered, type));
    assert.equal(written('0, 0, 0.06'), 'a: [0, 0, 0.06]\n');
    assert.equal(written('1,-2e-3'), 'a: [1, -2e-3]\n');
    assert.equal(written('[0, 0]'), 'a: [0, 0]\n');
    assert.equal(written('0, x'), 'a: 0, x\n');
    assert.equal(written('0, 0', 'text'), 'a: 0, 0\n');
});
