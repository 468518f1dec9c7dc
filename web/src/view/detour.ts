// Ways for links of nodes that a person moved: beside the boxes between, not behind them.

export interface Rectangle {
    x: number;
    y: number;
    width: number;
    height: number;
}

export type Point = [number, number];

const ROOM = 6;
const BESIDE = 20;
const MOST = 8;

/** Whether the curve between two points, with vertical tangents, passes a rectangle. */
function passes([ax, ay]: Point, [bx, by]: Point, { x, y, width, height }: Rectangle): boolean {
    if (
        Math.max(ay, by) < y - ROOM ||
        Math.min(ay, by) > y + height + ROOM ||
        Math.max(ax, bx) < x - ROOM ||
        Math.min(ax, bx) > x + width + ROOM
    )
        return false;
    for (let n = 0; n <= 24; n += 1) {
        const t = n / 24;
        const px = ax + (bx - ax) * t * t * (3 - 2 * t);
        // Control points half way down.
        const py = ay + (by - ay) * (1.5 * t * (1 - t) ** 2 + 1.5 * t * t * (1 - t) + t ** 3);
        if (px > x - ROOM && px < x + width + ROOM && py > y - ROOM && py < y + height + ROOM) return true;
    }
    return false;
}

/** What a way passes, and at which of its pieces. */
function hit(points: readonly Point[], boxes: readonly Rectangle[]): [number, Rectangle] | null {
    for (let n = 1; n < points.length; n += 1) {
        const [a, b] = [points[n - 1] as Point, points[n] as Point];
        const found = boxes.filter((box) => passes(a, b, box)).sort((one, two) => one.y - two.y)[0];
        if (found) return [n, found];
    }
    return null;
}

/** Around a box, on one side of it. */
function around(points: readonly Point[], at: number, box: Rectangle, x: number): Point[] {
    const before = points[at - 1] as Point;
    const after = points[at] as Point;
    const top = Math.max(before[1] + 6, Math.min(box.y - ROOM - 4, after[1] - 12));
    const bottom = Math.min(after[1] - 6, Math.max(box.y + box.height + ROOM + 4, top + 6));
    return bottom <= top ? [] : [...points.slice(0, at), [x, top], [x, bottom], ...points.slice(at)];
}

/**
 * The points of a way downwards, between its ends; none: the direct one is free, or none is found.
 *
 * @param boxes all others.
 */
export function detour(from: Point, to: Point, boxes: readonly Rectangle[]): Point[] {
    if (hit([from, to], boxes) === null) return [];
    // Each side of each box that is in the way: the first ways found are the shortest.
    let ways: Point[][] = [[from, to]];
    for (let step = 0; step < MOST && ways.length > 0; step += 1) {
        const next: Point[][] = [];
        for (const way of ways) {
            const found = hit(way, boxes);
            if (!found) return way.slice(1, -1);
            const [at, box] = found;
            for (const x of [box.x - BESIDE, box.x + box.width + BESIDE]) {
                const longer = around(way, at, box, x);
                if (longer.length > 0) next.push(longer);
            }
        }
        ways = next.sort((one, two) => length(one) - length(two)).slice(0, 6);
    }
    return (ways.find((way) => hit(way, boxes) === null) ?? []).slice(1, -1);
}

function length(points: readonly Point[]): number {
    return points.reduce(
        (sum, [x, y], n) =>
            sum + (n === 0 ? 0 : Math.abs(x - (points[n - 1] as Point)[0]) + Math.abs(y - (points[n - 1] as Point)[1])),
        0,
    );
}
