import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decode } from '../src/scene/mesh.ts';
import { Robots } from '../src/scene/robots.ts';
import type { Scene, SceneLink } from '../src/wire.ts';

/** One piece, as robot_rt_control/view/mesh.py writes it. */
function bytes(vertices: number[], normals: number[], corners: number[], color: number[]): ArrayBuffer {
    const made = new DataView(new ArrayBuffer(4 * (7 + vertices.length + normals.length + corners.length)));
    const integers = [1, vertices.length / 3, corners.length / 3, normals.length > 0 ? 1 : 0];
    let at = 0;
    for (const each of integers) made.setUint32(4 * at++, each, true);
    for (const each of [...color, ...vertices, ...normals]) made.setFloat32(4 * at++, each, true);
    for (const each of corners) made.setUint32(4 * at++, each, true);
    return made.buffer;
}

const TRIANGLE = [0, 0, 0, 1, 0, 0, 0, 1, 0];
const EYE = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

function link(of: Partial<SceneLink>): SceneLink {
    return { name: '', parent: -1, X: EYE, motion: 'fixed', axis: [0, 0, 1], joint: -1, shapes: [], ...of };
}

function scene(...links: SceneLink[]): Scene {
    const joints = links.filter((each) => each.joint >= 0).map((each) => ({ name: each.name, follows: null }));
    return { version: 1, name: 'r', links, joints, parts: [{ name: 'arm', links: [1] }], problems: [] };
}

test('a mesh with and without normals and color', () => {
    const [plain] = decode(bytes(TRIANGLE, [], [0, 1, 2], [Number.NaN, 0, 0]));
    assert.deepEqual([...(plain?.positions ?? [])], TRIANGLE);
    assert.deepEqual([plain?.normals.length, [...(plain?.corners ?? [])], plain?.color], [0, [0, 1, 2], null]);
    const [shaded] = decode(bytes(TRIANGLE, TRIANGLE, [2, 1, 0], [1, 0.5, 0]));
    assert.deepEqual([[...(shaded?.normals ?? [])], shaded?.color], [TRIANGLE, [1, 0.5, 0]]);
    assert.throws(() => decode(bytes(TRIANGLE, [], [0, 1, 2], [1, 1, 1]).slice(0, -4)), RangeError);
});

test('links turn and slide; a joint that is not known stays', () => {
    const moved = [...EYE];
    moved[12] = 1; // 1 m along x
    const it = new Robots(
        scene(
            link({ name: 'base' }),
            link({ name: 'turn', parent: 0, X: moved, motion: 'turn', joint: 0 }),
            link({ name: 'slide', parent: 1, motion: 'slide', axis: [1, 0, 0], joint: 1 }),
        ),
        async () => [],
        () => {},
    );
    const at = (): number[] => (it.link('slide')?.matrixWorld.toArray().slice(12, 15) ?? []).map((x) => +x.toFixed(6));
    it.move([Math.PI / 2, 0.5]);
    assert.deepEqual(at(), [1, 0.5, 0]);
    it.move([Number.NaN, 0.25]);
    assert.deepEqual(at(), [1, 0.25, 0]);
    assert.equal(it.link('nobody'), undefined);
});

test('a mesh that comes late is drawn in its place, and painted if its part has a fault meanwhile', async () => {
    const shape = { kind: 'mesh', size: [2, 2, 2], X: EYE, color: [0, 0, 1, 1], mesh: 'm' };
    let changes = 0;
    const it = new Robots(
        scene(link({ name: 'base' }), link({ name: 'tip', parent: 0, shapes: [shape] })),
        async () => decode(bytes(TRIANGLE, [], [0, 1, 2], [1, 0, 0])),
        () => changes++,
    );
    it.setFaulted(new Set(['arm']));
    assert.equal(it.loading, 1);
    await new Promise((resolve) => setTimeout(resolve));
    assert.deepEqual([it.loading, changes, it.link('tip')?.children.length], [0, 1, 1]);
    const mesh = it.link('tip')?.children[0] as unknown as { material: { color: { r: number; b: number } } };
    assert.ok(mesh.material.color.r > 0.4 && mesh.material.color.b < 0.5);
    it.setFaulted(new Set());
    assert.ok(mesh.material.color.r === 0 && mesh.material.color.b === 1);
});
