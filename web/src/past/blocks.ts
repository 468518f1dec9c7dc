// The ticks of a recording as they are needed: blocks of some hundred, fetched, kept for a while and let go.

import { t } from '../language/language.ts';
import type { PastAbout } from './wire.ts';

const FAULTED = 2;
const MISSING = 255;
/** [bytes] of blocks that are kept. */
const KEPT = 96 << 20;
const AT_ONCE = 3;

/** Of one tick. */
export interface TickState {
    /** [s] since the recording's first tick. */
    time: number;
    /** [rad or m] of the joints, in the order of the recording. */
    q: Float32Array;
    /** Of each part: number of its action, -1: none, -2: its name is not known. */
    actions: Int32Array;
    /** Of each part: number of its fault; 0: none. */
    faults: Uint8Array;
    states: Uint8Array;
}

/** The bytes of editor/past/recorded.py, `joints_of`. Throws RangeError: they are none. */
export class Block {
    private readonly times: Float64Array;
    private readonly q: Float32Array;
    private readonly actions: Int32Array;
    private readonly states: Uint8Array;
    private readonly faults: Uint8Array;
    private readonly joints: number;
    private readonly parts: number;

    constructor(readonly bytes: ArrayBuffer) {
        const [ticks = 0, joints = 0, parts = 0] = new Uint32Array(bytes, 0, 4);
        let at = 16;
        const next = (size: number): number => {
            at += size;
            return at - size;
        };
        this.times = new Float64Array(bytes, next(8 * ticks), ticks);
        this.q = new Float32Array(bytes, next(4 * ticks * joints), ticks * joints);
        this.actions = new Int32Array(bytes, next(4 * ticks * parts), ticks * parts);
        this.states = new Uint8Array(bytes, next(ticks * parts), ticks * parts);
        this.faults = new Uint8Array(bytes, next(ticks * parts), ticks * parts);
        [this.joints, this.parts] = [joints, parts];
    }

    /** A tick by its place in the block; null: the recording lacks it. */
    at(n: number): TickState | null {
        const time = this.times[n] ?? Number.NaN;
        if (Number.isNaN(time)) return null;
        const [joint, part] = [n * this.joints, n * this.parts];
        return {
            time,
            q: this.q.subarray(joint, joint + this.joints),
            actions: this.actions.subarray(part, part + this.parts),
            states: this.states.subarray(part, part + this.parts),
            faults: this.faults.subarray(part, part + this.parts),
        };
    }
}

/** The parts that are faulted, with the words for it. */
export function faultedParts(state: TickState | null, about: PastAbout): { name: string; fault: string }[] {
    return about.parts.flatMap((part, i) =>
        state && state.states[i] === FAULTED && state.faults[i] !== MISSING
            ? [{ name: part.name, fault: about.faults[String(state.faults[i])] || t('no reason was recorded') }]
            : [],
    );
}

export class Blocks {
    private readonly kept = new Map<number, Block>();
    private size = 0;
    private wanted: number[] = [];
    private readonly underWay = new Set<number>();
    private readonly refused = new Set<number>();
    /** Those that end after the last tick that there was when they were asked for. */
    private readonly partial = new Set<number>();

    /**
     * @param load the bytes of a block; null: it cannot be had.
     * @param changed called when a block has come.
     */
    constructor(
        private readonly about: PastAbout,
        private readonly load: (block: number) => Promise<ArrayBuffer | null>,
        private readonly changed: () => void,
    ) {}

    private numberOf(tick: number): number {
        return Math.floor(tick / this.about.block);
    }

    /** What is recorded of a tick; null: the recording lacks it; undefined: it has not come yet. */
    at(tick: number): TickState | null | undefined {
        const number = this.numberOf(tick);
        const block = this.kept.get(number);
        if (!block) return this.refused.has(number) ? null : undefined;
        this.kept.delete(number); // the last one that was used is let go last
        this.kept.set(number, block);
        return block.at(tick - number * this.about.block);
    }

    /** Have this tick, and then those that follow it in a direction: so many blocks. */
    want(tick: number, direction: number, ahead: number): void {
        const [first, last] = [this.numberOf(this.about.first), this.numberOf(this.about.last)];
        const begin = this.numberOf(tick);
        this.wanted = [];
        for (let i = 0; i <= ahead; i++) {
            const number = begin + i * direction;
            if (number < first || number > last) break;
            if (!this.kept.has(number) && !this.underWay.has(number) && !this.refused.has(number))
                this.wanted.push(number);
        }
        this.fetch();
    }

    private fetch(): void {
        while (this.underWay.size < AT_ONCE) {
            const number = this.wanted.shift();
            if (number === undefined) return;
            this.underWay.add(number);
            if ((number + 1) * this.about.block - 1 > this.about.last) this.partial.add(number);
            void this.load(number).then((bytes) => {
                this.underWay.delete(number);
                if (bytes) this.keep(number, bytes);
                else this.refused.add(number);
                this.changed();
                this.fetch();
            });
        }
    }

    /** There are more ticks than before: what has not come yet then is asked for anew. */
    grew(): void {
        this.refused.clear();
        for (const number of this.partial) {
            if (this.underWay.has(number)) continue;
            this.partial.delete(number);
            this.size -= this.kept.get(number)?.bytes.byteLength ?? 0;
            this.kept.delete(number);
        }
    }

    private keep(number: number, bytes: ArrayBuffer): void {
        this.kept.set(number, new Block(bytes));
        this.size += bytes.byteLength;
        for (const [oldest, block] of this.kept) {
            if (this.size <= KEPT || oldest === number) break;
            this.kept.delete(oldest);
            this.size -= block.bytes.byteLength;
        }
    }
}

/** Where the joints of a scene are: what View.takeJoints takes. A joint that mimics others is where they say. */
export function sceneJoints(
    scene: { version: number; joints: { name: string; follows: number[] | null }[] },
    names: readonly string[],
    q: ArrayLike<number>,
): ArrayBuffer {
    const bytes = new ArrayBuffer(4 + 4 * scene.joints.length);
    new DataView(bytes).setUint32(0, scene.version, true);
    const found = new Float32Array(bytes, 4);
    const numbers = new Map(names.map((name, i) => [name, i]));
    for (const [i, joint] of scene.joints.entries()) found[i] = q[numbers.get(joint.name) ?? -1] ?? Number.NaN;
    for (const [i, joint] of scene.joints.entries()) {
        let [of, factor, offset]: [number, number, number] = [i, 1, 0];
        for (let n = 0; n < scene.joints.length && Number.isNaN(found[of]); n++) {
            const follows: number[] | null = scene.joints[of]?.follows ?? null;
            if (!follows) break;
            offset += factor * (follows[2] ?? 0);
            factor *= follows[1] ?? 1;
            of = follows[0] ?? of;
        }
        if (joint.follows) found[i] = factor * (found[of] ?? Number.NaN) + offset;
    }
    return bytes;
}
