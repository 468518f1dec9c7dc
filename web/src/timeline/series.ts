// The values of one variable in every tick: exact, and with the least and greatest of blocks, so that ten minutes are
// drawn as fast as a second.

import type { Columns, TickRange } from './source.ts';

/** Ticks of a chunk, which is allocated and forgotten as a whole; and of a block. */
const CHUNK = 8192;
const BLOCK = 64;

class Chunk {
    /** NaN: unknown, or it has not come. */
    readonly values = new Float64Array(CHUNK).fill(Number.NaN);
    readonly min = new Float64Array(CHUNK / BLOCK).fill(Number.POSITIVE_INFINITY);
    readonly max = new Float64Array(CHUNK / BLOCK).fill(Number.NEGATIVE_INFINITY);
    /** How many values of a block are known. */
    readonly known = new Uint8Array(CHUNK / BLOCK);
}

export class Series {
    private readonly chunks = new Map<number, Chunk>();
    /** The last tick that is here; -1: none. */
    last = -1;

    /** Values of ticks in a row; those up to `last` are here already. */
    append(first: number, values: Float64Array): void {
        for (let i = Math.max(0, this.last + 1 - first); i < values.length; i++) {
            const tick = first + i;
            const value = values[i] as number;
            this.last = tick;
            if (Number.isNaN(value)) continue;
            const number = Math.floor(tick / CHUNK);
            let chunk = this.chunks.get(number);
            if (!chunk) {
                chunk = new Chunk();
                this.chunks.set(number, chunk);
            }
            const at = tick - number * CHUNK;
            const block = (at / BLOCK) | 0;
            chunk.values[at] = value;
            if (value < (chunk.min[block] as number)) chunk.min[block] = value;
            if (value > (chunk.max[block] as number)) chunk.max[block] = value;
            chunk.known[block] = (chunk.known[block] as number) + 1;
        }
    }

    /** Forget what is before a tick; whole chunks alone. */
    trim(first: number): void {
        for (const number of this.chunks.keys()) if ((number + 1) * CHUNK <= first) this.chunks.delete(number);
    }

    /** NaN: unknown, or not here. */
    at(tick: number): number {
        const number = Math.floor(tick / CHUNK);
        return this.chunks.get(number)?.values[tick - number * CHUNK] ?? Number.NaN;
    }

    /** As `TimelineSource.columns`; what is not here is as unknown. */
    columns({ first, last }: TickRange, count: number): Columns {
        const found = emptyColumns(count);
        const width = (last - first + 1) / count;
        for (let column = 0; column < count; column++) {
            const begin = Math.ceil(first + column * width);
            const end = Math.ceil(first + (column + 1) * width) - 1;
            if (begin <= end) this.fill(found, column, begin, end);
        }
        return found;
    }

    private fill(found: Columns, column: number, begin: number, end: number): void {
        let min = Number.POSITIVE_INFINITY;
        let max = Number.NEGATIVE_INFINITY;
        let known = 0;
        for (let tick = begin; tick <= end; ) {
            const number = Math.floor(tick / CHUNK);
            const chunk = this.chunks.get(number);
            const at = tick - number * CHUNK;
            if (!chunk) {
                tick = (number + 1) * CHUNK;
                continue;
            }
            if (at % BLOCK === 0 && tick + BLOCK - 1 <= end) {
                const block = at / BLOCK;
                min = Math.min(min, chunk.min[block] as number);
                max = Math.max(max, chunk.max[block] as number);
                known += chunk.known[block] as number;
                tick += BLOCK;
                continue;
            }
            const value = chunk.values[at] as number;
            if (!Number.isNaN(value)) {
                if (value < min) min = value;
                if (value > max) max = value;
                known += 1;
            }
            tick += 1;
        }
        if (known === 0) {
            found.broken[column] = 1;
            return;
        }
        found.min[column] = min;
        found.max[column] = max;
        found.first[column] = this.nearest(begin, end, 1);
        found.last[column] = this.nearest(end, begin, -1);
        found.broken[column] = known < end - begin + 1 || Number.isNaN(this.at(begin - 1)) ? 1 : 0;
    }

    /** The known value that is nearest to a tick, on the way to another. */
    private nearest(from: number, to: number, step: number): number {
        for (let tick = from; step > 0 ? tick <= to : tick >= to; tick += step) {
            const value = this.at(tick);
            if (!Number.isNaN(value)) return value;
        }
        return Number.NaN;
    }
}

export function emptyColumns(count: number): Columns {
    const unknown = (): Float64Array => new Float64Array(count).fill(Number.NaN);
    return { min: unknown(), max: unknown(), first: unknown(), last: unknown(), broken: new Uint8Array(count) };
}
