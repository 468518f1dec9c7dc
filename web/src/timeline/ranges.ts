// Which ticks have come: ranges in ascending order that do not touch each other.

import type { TickRange } from './source.ts';

export class Ranges {
    private readonly all: TickRange[] = [];

    /** From the first tick to the last; null: none. */
    get whole(): TickRange | null {
        const first = this.all[0];
        const last = this.all.at(-1);
        return first && last ? { first: first.first, last: last.last } : null;
    }

    /** Ticks that have come; those before the last one are there already. */
    add(first: number, last: number): void {
        const before = this.all.at(-1);
        if (before && last <= before.last) return;
        if (before && first <= before.last + 1) before.last = last;
        else this.all.push({ first, last });
    }

    /** Forget what is before a tick. */
    trim(first: number): void {
        while (this.all[0] && this.all[0].last < first) this.all.shift();
        if (this.all[0] && this.all[0].first < first) this.all[0].first = first;
    }

    /** What has come of a range. */
    within({ first, last }: TickRange): TickRange[] {
        const found: TickRange[] = [];
        for (let i = this.search(first); i < this.all.length; i++) {
            const each = this.all[i] as TickRange;
            if (each.first > last) break;
            found.push({ first: Math.max(first, each.first), last: Math.min(last, each.last) });
        }
        return found;
    }

    /** What is missing of a range, between the first tick that ever came and the last. */
    gaps(range: TickRange): TickRange[] {
        const { whole } = this;
        if (!whole) return [];
        const found: TickRange[] = [];
        let next = Math.max(range.first, whole.first);
        const last = Math.min(range.last, whole.last);
        for (const each of this.within({ first: next, last })) {
            if (each.first > next) found.push({ first: next, last: each.first - 1 });
            next = each.last + 1;
        }
        if (next <= last) found.push({ first: next, last });
        return found;
    }

    /** The first range that ends at a tick or after it. */
    private search(tick: number): number {
        let low = 0;
        let high = this.all.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if ((this.all[middle] as TickRange).last < tick) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}
