// Where in time somebody looks, and how that moves.

export const SPEEDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10] as const;

export class Player {
    /** The tick that is shown. */
    tick: number;
    /** 0: it stands still. */
    direction: -1 | 0 | 1 = 0;
    speed = 1;
    /** Between two pictures less than a tick may pass. */
    private fraction = 0;

    /**
     * @param first the first tick.
     * @param last the last one.
     * @param period [s] of a tick.
     */
    constructor(
        public first: number,
        public last: number,
        private readonly period: number,
    ) {
        this.tick = first;
    }

    /** Look at a tick, or at the nearest there is. */
    seek(tick: number): void {
        this.tick = Math.min(Math.max(Math.round(tick), this.first), this.last);
        this.fraction = 0;
    }

    step(ticks: number): void {
        this.direction = 0;
        this.seek(this.tick + ticks);
    }

    /** Begin to play, or end it. At the end it begins anew. */
    play(direction: -1 | 1): void {
        if (this.direction === direction) {
            this.direction = 0;
            return;
        }
        if (direction > 0 && this.tick >= this.last) this.seek(this.first);
        if (direction < 0 && this.tick <= this.first) this.seek(this.last);
        this.direction = direction;
        this.fraction = 0;
    }

    /** So much time [s] has passed. Returns whether another tick is shown. */
    advance(seconds: number): boolean {
        if (this.direction === 0) return false;
        this.fraction += (this.direction * seconds * this.speed) / this.period;
        const whole = Math.trunc(this.fraction);
        if (whole === 0) return false;
        const fraction = this.fraction - whole;
        const wanted = this.tick + whole;
        this.seek(wanted);
        this.fraction = fraction;
        if (wanted >= this.last || wanted <= this.first) this.direction = 0;
        return true;
    }
}

/** The number of a list's items, in ascending order of ticks, that are not later than a tick. */
export function countUntil(items: readonly { tick: number }[], tick: number): number {
    let [low, high] = [0, items.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((items[middle]?.tick ?? 0) <= tick) low = middle + 1;
        else high = middle;
    }
    return low;
}
