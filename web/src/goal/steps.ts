// Steps of a tool's pose by keys and buttons.

import type { Pose } from './pose.ts';

export interface Step {
    label: string;
    metres: number;
    degrees: number;
}

export const AXES = ['x', 'y', 'z'];

type Quaternion = [number, number, number, number];

/** @param axis 0 to 2, of the world or of the tool. */
export function stepped(
    pose: Pose,
    step: Step,
    axis: number,
    direction: number,
    isTurn: boolean,
    inToolAxes: boolean,
): Pose {
    const q = pose.orientation as Quaternion;
    const unit = [0, 1, 2].map((i) => (i === axis ? direction : 0));
    if (!isTurn) {
        const way = inToolAxes ? turned(q, unit) : unit;
        return { position: pose.position.map((p, i) => p + step.metres * (way[i] ?? 0)), orientation: q };
    }
    const half = (step.degrees * Math.PI) / 360;
    const [x = 0, y = 0, z = 0] = unit.map((each) => each * Math.sin(half));
    const by: Quaternion = [x, y, z, Math.cos(half)];
    return { position: pose.position, orientation: inToolAxes ? product(q, by) : product(by, q) };
}

function product(a: Quaternion, b: Quaternion): Quaternion {
    const [ax, ay, az, aw] = a;
    const [bx, by, bz, bw] = b;
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ];
}

function turned(q: Quaternion, v: number[]): number[] {
    const [x, y, z, w] = q;
    const [a = 0, b = 0, c = 0] = v;
    return product(product(q, [a, b, c, 0]), [-x, -y, -z, w]).slice(0, 3);
}
