import assert from 'node:assert/strict';
import { test } from 'node:test';

import { detour, type Point, type Rectangle } from '../src/view/detour.ts';

/** Points of the curve that is drawn: vertical tangents at each point. */
function drawn(points: readonly Point[]): Point[] {
    return points.slice(1).flatMap(([bx, by], n): Point[] => {
        const [ax, ay] = points[n] as Point;
        const half = (by - ay) / 2;
        return Array.from({ length: 41 }, (_, k): Point => {
            const t = k / 40;
            const s = 1 - t;
            const at = (a: number, b: number, c: number, d: number): number =>
                s ** 3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t ** 3 * d;
            return [at(ax, ax, bx, bx), at(ay, ay + half, by - half, by)];
        });
    });
}

function isFree(points: readonly Point[], boxes: readonly Rectangle[]): boolean {
    return drawn(points).every(([px, py]) =>
        boxes.every(({ x, y, width, height }) => px < x || px > x + width || py < y || py > y + height),
    );
}

test('a free way stays as it is', () => {
    assert.deepEqual(detour([100, 100], [120, 400], []), []);
    assert.deepEqual(detour([100, 100], [120, 400], [{ x: 300, y: 200, width: 200, height: 80 }]), []);
});

test('a way passes beside a box, on the nearer side', () => {
    const box = { x: 0, y: 200, width: 200, height: 80 };
    const points = detour([150, 100], [150, 400], [box]);
    assert.deepEqual(
        points.map(([x]) => x),
        [220, 220],
    );
    assert.ok(isFree([[150, 100], ...points, [150, 400]], [box]));
    assert.deepEqual(
        detour([50, 100], [50, 400], [box]).map(([x]) => x),
        [-20, -20],
    );
});

test('ways between many boxes cross none', () => {
    let seed = 7;
    const random = (): number => {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        return seed / 2147483648;
    };
    let found = 0;
    let needed = 0;
    for (let n = 0; n < 300; n += 1) {
        const boxes = Array.from(
            { length: 6 },
            (_, row): Rectangle => ({ x: 400 * random(), y: 160 + 140 * row, width: 120 + 140 * random(), height: 70 }),
        );
        const from: Point = [600 * random(), 100];
        const to: Point = [600 * random(), 1010];
        const points = detour(from, to, boxes);
        const isDirect = isFree([from, to], boxes);
        if (points.length > 0) assert.ok(isFree([from, ...points, to], boxes), JSON.stringify([from, to, boxes]));
        if (!isDirect) {
            needed += 1;
            if (points.length > 0) found += 1;
        }
    }
    assert.ok(needed > 150 && found > 0.95 * needed, `${found} of ${needed}`);
});
