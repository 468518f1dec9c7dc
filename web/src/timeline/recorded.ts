// The timeline of a recording: its values in tiles of columns, as the server cuts them, which are fetched when they are
// looked at, and kept for a while.

import { t } from '../language/language.ts';
import type { PastAbout, PastBars, PastEvent, PastEvents, PastVariable } from '../past/wire.ts';
import type { Answer } from '../wire.ts';
import { emptyColumns } from './series.ts';
import type { Bar, Columns, Mark, Plottable, Samples, TickRange, TimelineSource } from './source.ts';

/** Columns of a tile. Those of level 0 have one tick, those of the next ones twice as many each. */
const TILE = 1024;
/** [bytes] of a column of one variable: four numbers and whether it is broken. */
const COLUMN_BYTES = 33;
/** Tiles that are kept: 35 MB. */
const KEPT = 1024;
/** Until its tile has come, a column is drawn from one that is so many levels coarser. */
const COARSER = 6;
const MOST_NAMES = 16;
/** Ticks in which one is told at once what parts did. */
const PIECE = 20_000;
const MOST_BARS = 100_000;
const MOST_SAMPLES = 20_000;

/** What is asked of the server of recordings: robot_rt_control/editor/past/server.py. */
export interface RecordedLink {
    variables(): Promise<Answer & { variables: PastVariable[] }>;
    columns(asked: { names: string[]; first: number; last: number; count: number }): Promise<ArrayBuffer | null>;
    bars(range: TickRange): Promise<Answer & PastBars>;
}

interface Tile {
    level: number;
    /** Its first tick. */
    first: number;
    columns: Columns;
}

export class RecordedSource implements TimelineSource {
    readonly isLive = false;
    readonly period: number;
    readonly zero: number;
    readonly range: TickRange;
    readonly parts: readonly string[];
    variables: readonly Plottable[] = [];
    private known = new Set<string>();
    private chosen: readonly string[] = [];
    private readonly tiles = new Map<string, Tile>();
    private readonly refused = new Set<string>();
    /** Level and number of a tile → names that lack it. */
    private readonly wanted = new Map<string, { level: number; number: number; names: Set<string> }>();
    private isFetching = false;
    private isClosed = false;
    private readonly allGaps: TickRange[] = [];
    private readonly allBars: Bar[] = [];
    /** The last bar of each part. */
    private readonly lastBars = new Map<string, Bar>();
    private allMarks: Mark[] = [];
    /** Tick and action → the marks with which it began. */
    private begins = new Map<string, Mark[]>();
    private readonly problems = new Map<string, string>();
    private readonly listeners = new Set<() => void>();

    constructor(
        private readonly about: PastAbout,
        private readonly link: RecordedLink,
    ) {
        this.period = about.period;
        this.zero = about.first;
        this.range = { first: about.first, last: about.last };
        this.parts = about.parts.map((part) => part.name);
        void this.describe();
        void this.scan();
    }

    get problem(): string {
        return [...this.problems.values()].join(' ');
    }

    choose(names: readonly string[]): void {
        this.chosen = [...names];
        for (const key of this.tiles.keys()) if (!names.includes(nameOf(key))) this.tiles.delete(key);
        this.refused.clear();
        this.problems.delete('values');
        this.tell();
    }

    /** @throws RangeError: more than 20 000 ticks. */
    samples(name: string, range: TickRange): Samples {
        const [first, last] = [Math.max(range.first, this.range.first), Math.min(range.last, this.range.last)];
        if (last - first >= MOST_SAMPLES) throw new RangeError(`more than ${MOST_SAMPLES} ticks: ask for columns`);
        const ticks: number[] = [];
        const values: number[] = [];
        if (this.isShown(name)) {
            const look = this.looker(name, 0);
            const gaps = this.gaps({ first, last });
            for (let [tick, gap] = [first, 0]; tick <= last; tick++) {
                while ((gaps[gap]?.last ?? Number.POSITIVE_INFINITY) < tick) gap++;
                if (tick >= (gaps[gap]?.first ?? Number.POSITIVE_INFINITY)) continue;
                const tile = look(tick);
                if (tile?.level !== 0) continue; // it has not come yet
                ticks.push(tick);
                values.push(tile.columns.min[tick - tile.first] as number);
            }
        }
        return { ticks: Float64Array.from(ticks), values: Float64Array.from(values) };
    }

    /** As `TimelineSource.columns`, with edges that are off by less than a column. */
    columns(name: string, { first, last }: TickRange, count: number): Columns {
        const found = emptyColumns(count);
        found.broken.fill(1);
        if (!this.isShown(name)) return found;
        const width = (last - first + 1) / count;
        const look = this.looker(name, Math.max(Math.floor(Math.log2(width / 2)), 0));
        let wasBroken = true;
        for (let column = 0; column < count; column++) {
            const begin = Math.max(Math.ceil(first + column * width), this.range.first);
            const end = Math.min(Math.ceil(first + (column + 1) * width) - 1, this.range.last);
            if (begin <= end) wasBroken = fill(found, column, { first: begin, last: end }, look, wasBroken);
        }
        return found;
    }

    gaps(range: TickRange): TickRange[] {
        return this.allGaps
            .filter((gap) => gap.first <= range.last && gap.last >= range.first)
            .map((gap) => ({ first: Math.max(gap.first, range.first), last: Math.min(gap.last, range.last) }));
    }

    marks(range: TickRange): readonly Mark[] {
        return this.allMarks.filter((mark) => mark.tick >= range.first && mark.tick <= range.last);
    }

    bars(range: TickRange): readonly Bar[] {
        return this.allBars.filter((bar) => bar.first <= range.last && (bar.last ?? bar.first) >= range.first);
    }

    subscribe(changed: () => void): () => void {
        this.listeners.add(changed);
        return () => this.listeners.delete(changed);
    }

    close(): void {
        this.isClosed = true;
        this.listeners.clear();
    }

    /** The recorded events, as soon as they are here. */
    takeEvents({ events, left_out }: PastEvents): void {
        this.allMarks = events.map(markOf);
        this.begins = new Map();
        for (const mark of this.allMarks) {
            const key = `${mark.tick} ${mark.currentAction}`;
            this.begins.set(key, [...(this.begins.get(key) ?? []), mark]);
        }
        for (const bar of this.allBars) this.nameSession(bar);
        if (left_out > 0)
            this.problems.set('events', t('{n} later events are not shown: there are too many.', { n: left_out }));
        this.tell();
    }

    // --- values -----------------------------------------------------------------------------------

    private isShown(name: string): boolean {
        return this.chosen.includes(name) && this.known.has(name);
    }

    private async describe(): Promise<void> {
        const answer = await this.link.variables();
        if (!answer.success) this.problems.set('variables', answer.message);
        else this.variables = answer.variables.map((each) => ({ ...each, everyTick: true }));
        this.known = new Set(this.variables.map((each) => each.name));
        this.tell();
    }

    /** What finds the tile of a tick, or a coarser one while that is fetched; null: there is none. */
    private looker(name: string, level: number): (tick: number) => Tile | null {
        let last = -1;
        let found: Tile | null = null;
        return (tick) => {
            const number = Math.floor(tick / (TILE * 2 ** level));
            if (number === last) return found;
            last = number;
            found = this.tile(name, level, tick);
            if (found?.level !== level) this.want(name, level, number);
            return found;
        };
    }

    private tile(name: string, wanted: number, tick: number): Tile | null {
        for (let level = wanted; level <= wanted + COARSER; level++) {
            const key = keyOf(level, Math.floor(tick / (TILE * 2 ** level)), name);
            const tile = this.tiles.get(key);
            if (!tile) continue;
            this.tiles.delete(key); // the last one that was used is let go last
            this.tiles.set(key, tile);
            return tile;
        }
        return null;
    }

    private want(name: string, level: number, number: number): void {
        if (this.refused.has(keyOf(level, number, name))) return;
        const key = `${level} ${number}`;
        const wish = this.wanted.get(key) ?? { level, number, names: new Set() };
        this.wanted.set(key, wish);
        wish.names.add(name);
        if (this.isFetching) return;
        this.isFetching = true;
        queueMicrotask(() => void this.fetch()); // when all names have said what they lack
    }

    /** One tile after the other: who is shown what has come says anew what is lacking. */
    private async fetch(): Promise<void> {
        const [wish] = this.wanted.values();
        if (wish) {
            const { level, number } = wish;
            const names = [...wish.names].slice(0, MOST_NAMES);
            const ticks = TILE * 2 ** level;
            const first = number * ticks;
            const bytes = await this.link.columns({ names, first, last: first + ticks - 1, count: TILE });
            const isWhole = bytes?.byteLength === names.length * TILE * COLUMN_BYTES;
            for (const [i, name] of names.entries()) {
                const key = keyOf(level, number, name);
                if (isWhole) this.tiles.set(key, { level, first, columns: columnsIn(bytes, names.length, i) });
                else this.refused.add(key);
            }
            if (!isWhole) this.problems.set('values', t('Some values cannot be read from the recording.'));
            for (const key of this.tiles.keys()) {
                if (this.tiles.size <= KEPT) break;
                this.tiles.delete(key);
            }
        }
        this.wanted.clear();
        this.isFetching = false;
        this.tell();
    }

    // --- what parts did ---------------------------------------------------------------------------

    private async scan(): Promise<void> {
        for (let { first } = this.range; first <= this.range.last && !this.isClosed; first += PIECE) {
            const answer = await this.link.bars({ first, last: Math.min(first + PIECE - 1, this.range.last) });
            if (!answer.success) {
                this.problems.set(
                    'bars',
                    t('What parts did is not shown from tick {tick} on: {why}', { tick: first, why: answer.message }),
                );
                this.tell();
                return;
            }
            this.takeBars(answer, first);
            this.tell();
            if (this.allBars.length + this.allGaps.length > MOST_BARS) {
                const text = t('What parts did is not shown from tick {tick} on: {why}', {
                    tick: first + PIECE,
                    why: t('it changes too often.'),
                });
                this.problems.set('bars', text);
                this.tell();
                return;
            }
        }
    }

    private takeBars({ bars, gaps }: PastBars, begin: number): void {
        for (const [first, last] of gaps) {
            const before = this.allGaps.at(-1);
            if (before && before.last === first - 1) before.last = last;
            else this.allGaps.push({ first, last });
        }
        const ends = new Set(this.allGaps.map((gap) => gap.last));
        for (const [number, action, first, last] of bars) {
            const part = this.parts[number] ?? '';
            const name = this.about.actions[action] ?? '';
            const before = this.lastBars.get(part);
            if (before && first === begin && before.last === first - 1 && before.action === name) {
                before.last = last;
                continue;
            }
            const began = first === this.range.first || ends.has(first - 1);
            const bar = { part, action: name, session: '', first, last, began };
            this.nameSession(bar);
            this.lastBars.set(part, bar);
            this.allBars.push(bar);
        }
    }

    /** Ticks do not know sessions, but the event with which an action began does. */
    private nameSession(bar: Bar): void {
        const marks = this.begins.get(`${bar.first} ${bar.action}`) ?? [];
        bar.session = marks.find((mark) => mark.part.split(', ').includes(bar.part))?.session ?? bar.session;
    }

    private tell(): void {
        for (const listener of this.listeners) listener();
    }
}

/** One column from those of tiles that begin in it. Returns whether its end is missing or unknown. */
function fill(
    found: Columns,
    column: number,
    { first, last }: TickRange,
    look: (tick: number) => Tile | null,
    wasBroken: boolean,
): boolean {
    let isBroken = wasBroken;
    let endIsBroken = true;
    for (let tick = first; tick <= last; ) {
        const tile = look(tick);
        if (!tile) {
            isBroken = endIsBroken = true;
            break;
        }
        const wide = 2 ** tile.level;
        const at = Math.floor((tick - tile.first) / wide);
        const begin = tile.first + at * wide;
        tick = begin + wide;
        if (begin < first && tick <= last) continue; // the column before has it
        const [min, max] = [tile.columns.min[at] as number, tile.columns.max[at] as number];
        endIsBroken = tile.columns.broken[at] !== 0;
        isBroken ||= endIsBroken;
        if (Number.isNaN(min)) continue;
        const isFirst = Number.isNaN(found.min[column] as number);
        found.min[column] = isFirst ? min : Math.min(found.min[column] as number, min);
        found.max[column] = isFirst ? max : Math.max(found.max[column] as number, max);
        if (isFirst) found.first[column] = tile.columns.first[at] as number;
        found.last[column] = tile.columns.last[at] as number;
    }
    found.broken[column] = isBroken ? 1 : 0;
    return endIsBroken;
}

function keyOf(level: number, number: number, name: string): string {
    return `${level} ${number} ${name}`;
}

function nameOf(key: string): string {
    return key.split(' ').slice(2).join(' ');
}

/** The columns of one of some names: robot_rt_control/editor/past/values.py, `column_bytes`. */
function columnsIn(bytes: ArrayBuffer, names: number, place: number): Columns {
    const numbers = (field: number): Float64Array =>
        new Float64Array(bytes, 8 * TILE * (4 * place + field), TILE).slice();
    const broken = new Uint8Array(bytes, 32 * TILE * names + TILE * place, TILE).slice();
    return { min: numbers(0), max: numbers(1), first: numbers(2), last: numbers(3), broken };
}

function markOf(event: PastEvent): Mark {
    return {
        tick: event.tick,
        kind: event.kind,
        session: event.session,
        reaction: event.reaction,
        event: event.event,
        previousAction: event.previous_action,
        currentAction: event.current_action,
        part: event.part,
        reason: event.reason,
        values: event.values,
    };
}
