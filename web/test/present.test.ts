import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Present } from '../src/scene/present.ts';
import type { Drawer } from '../src/server.ts';

class Seen implements Drawer {
    taken: string[] = [];
    takeJoints = (frame: ArrayBuffer) => void this.taken.push(`joints ${new Uint8Array(frame)[0]}`);
    takeShapes = (shapes: unknown[]) => void this.taken.push(`shapes ${shapes.length}`);
    takeObjects = (objects: unknown[]) => void this.taken.push(`objects ${objects.length}`);
}

test('a picture that is opened later gets what came before, also what came in between', () => {
    const present = new Present();
    const first = new Seen();
    present.follow(first);
    present.takeShapes([]);
    present.takeJoints(new Uint8Array([1]).buffer);
    assert.deepEqual(first.taken, ['shapes 0', 'joints 1']);
    present.follow(null);
    present.takeJoints(new Uint8Array([2]).buffer);
    const second = new Seen();
    present.follow(second);
    assert.deepEqual(second.taken, ['shapes 0', 'joints 2']);
});

test('while the past is shown, a picture gets nothing of now, and all of it afterwards', () => {
    const present = new Present();
    present.takeJoints(new Uint8Array([1]).buffer);
    present.hold(true);
    const seen = new Seen();
    present.follow(seen);
    present.takeJoints(new Uint8Array([3]).buffer);
    assert.deepEqual(seen.taken, []);
    present.hold(false);
    assert.deepEqual(seen.taken, ['joints 3']);
});
