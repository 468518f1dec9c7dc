// Ticks as bytes, as the editor's server sends them: robot_rt_control/editor/timelines.py.

/** [bytes] The first word says that it is a frame of ticks. */
const HEAD = 24;

/** Ticks in a row, and the values of chosen variables in each. */
export interface Frame {
    /** Which choice of names it is of. */
    choice: number;
    first: number;
    count: number;
    /** Place among the chosen names → values; those of other names are not known in every tick. */
    values: Map<number, Float64Array>;
}

/** @throws RangeError if it is cut off. */
export function readFrame(bytes: ArrayBuffer): Frame {
    const view = new DataView(bytes);
    const [choice, count, names] = [4, 16, 20].map((at) => view.getUint32(at, true)) as [number, number, number];
    const values = new Map<number, Float64Array>();
    const at = HEAD + 4 * (names + (names % 2));
    for (let n = 0; n < names; n++)
        values.set(view.getUint32(HEAD + 4 * n, true), new Float64Array(bytes, at + 8 * n * count, count));
    return { choice, first: view.getFloat64(8, true), count, values };
}
