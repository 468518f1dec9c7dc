// The timeline of a robot that runs: the last ten minutes of what is shown, as the editor's server sends it.

import { t } from '../language/language.ts';
import type { VariableInfo } from '../wire.ts';
import { readFrame } from './frame.ts';
import { Ranges } from './ranges.ts';
import { emptyColumns, Series } from './series.ts';
import type { Bar, Columns, Mark, Plottable, Samples, TickRange, TimelineSource } from './source.ts';
import type { ReactionNow, WireBar, WireMark, WireNews } from './wire.ts';

/** [s] that are kept. */
const KEPT_S = 600;
const MOST_MARKS = 20_000;
const MOST_SAMPLES = 20_000;
/** [Hz] of news: as often as a person sees, and seldom for a page that nobody sees. */
const RATE = 20;
const HIDDEN_RATE = 2;

/** What a page wants of a timeline. */
export interface TimelineWish {
    choice: number;
    names: readonly string[];
    /** [Hz]; 0: nothing. */
    rate: number;
}

/** The socket of the page. */
export interface TimelineLink {
    /** @param taker gets what comes from now on; null: nobody. */
    followTimeline(wish: TimelineWish | null, taker: TimelineTaker | null): void;
}

export interface TimelineTaker {
    takeTicks(bytes: ArrayBuffer): void;
    takeNews(news: WireNews): void;
}

/** Values of some ticks alone. */
interface Sparse {
    ticks: number[];
    values: number[];
}

export class LiveSource implements TimelineSource, TimelineTaker {
    readonly isLive = true;
    period = 0.001;
    parts: readonly string[] = [];
    problem = '';
    variables: readonly Plottable[] = [];
    private loop = 0;
    private ranges = new Ranges();
    private series = new Map<string, Series>();
    private sparse = new Map<string, Sparse>();
    private allMarks: Mark[] = [];
    private lastMark = 0;
    private allBars = new Map<number, Bar>();
    private everyTick = new Set<string>();
    private sampled: string[] = [];
    private described = new Map<string, VariableInfo>();
    private asked: string | null = null;
    private choice = 0;
    private chosen: readonly string[] = [];
    private readonly listeners = new Set<() => void>();
    private readonly seen = (): void => this.tellWish();

    /**
     * @param describe the state variables, with those of a session's actions if one is given.
     * @param reactions see `TimelineSource`.
     */
    constructor(
        private readonly link: TimelineLink,
        private readonly describe: (session: string) => Promise<VariableInfo[]>,
        readonly reactions?: (session: string, mark?: number) => Promise<ReactionNow[] | string>,
    ) {
        this.tellWish();
        globalThis.document?.addEventListener('visibilitychange', this.seen);
        void this.describeAll([]);
    }

    get range(): TickRange | null {
        return this.ranges.whole;
    }

    choose(names: readonly string[]): void {
        if (names.join('\n') === this.chosen.join('\n')) return;
        this.chosen = [...names];
        for (const kept of [this.series, this.sparse])
            for (const name of kept.keys()) if (!names.includes(name)) kept.delete(name);
        this.choice += 1;
        this.tellWish();
        this.tell();
    }

    samples(name: string, range: TickRange): Samples {
        const sparse = this.sparse.get(name);
        if (sparse) {
            const kept = sparse.ticks.flatMap((tick, i) => (tick >= range.first && tick <= range.last ? [i] : []));
            return {
                ticks: Float64Array.from(kept, (i) => sparse.ticks[i] as number),
                values: Float64Array.from(kept, (i) => sparse.values[i] as number),
            };
        }
        const series = this.series.get(name);
        const ticks: number[] = [];
        if (series)
            for (const { first, last } of this.ranges.within(range))
                for (let tick = first; tick <= Math.min(last, series.last); tick++) ticks.push(tick);
        const values = Float64Array.from(ticks, (tick) => series?.at(tick) ?? Number.NaN);
        return { ticks: Float64Array.from(ticks), values };
    }

    columns(name: string, range: TickRange, count: number): Columns {
        return this.series.get(name)?.columns(range, count) ?? emptyColumns(count);
    }

    gaps(range: TickRange): TickRange[] {
        return this.ranges.gaps(range);
    }

    marks(range: TickRange): readonly Mark[] {
        return this.allMarks.filter((mark) => mark.tick >= range.first && mark.tick <= range.last);
    }

    bars(range: TickRange): readonly Bar[] {
        const bars = [...this.allBars.values()];
        return bars.filter((bar) => bar.first <= range.last && (bar.last === null || bar.last >= range.first));
    }

    subscribe(changed: () => void): () => void {
        this.listeners.add(changed);
        return () => this.listeners.delete(changed);
    }

    close(): void {
        globalThis.document?.removeEventListener('visibilitychange', this.seen);
        this.listeners.clear();
        this.link.followTimeline(null, null);
    }

    takeTicks(bytes: ArrayBuffer): void {
        const frame = readFrame(bytes);
        this.ranges.add(frame.first, frame.first + frame.count - 1);
        if (frame.choice === this.choice)
            for (const [place, values] of frame.values) {
                const name = this.chosen[place];
                if (name === undefined) continue;
                const series = this.series.get(name) ?? new Series();
                this.series.set(name, series);
                series.append(frame.first, values);
            }
        const oldest = (this.range?.last ?? 0) - Math.ceil(KEPT_S / this.period) + 1;
        this.ranges.trim(oldest);
        for (const series of this.series.values()) series.trim(oldest);
        for (const [number, bar] of this.allBars)
            if (bar.last !== null && bar.last < oldest) this.allBars.delete(number);
        this.tell();
    }

    takeNews(news: WireNews): void {
        if (news.layout) {
            const { layout } = news;
            if (layout.loop !== this.loop && this.loop !== 0) this.forget();
            this.loop = layout.loop || this.loop;
            this.period = layout.period || this.period;
            this.parts = layout.parts;
            this.problem = layout.period > 0 ? layout.problem : t('No ticks have come: is the real-time executor up?');
            this.everyTick = new Set(layout.every_tick);
            this.sampled = layout.sampled;
            const sessions = layout.sampled.flatMap((name) => (name.includes('/') ? [name.split('/')[0] ?? ''] : []));
            void this.describeAll([...new Set(sessions)]);
        }
        for (const mark of news.marks ?? []) this.takeMark(mark);
        for (const bar of news.bars ?? []) this.allBars.set(bar.number, barOf(bar));
        for (const [name, samples] of Object.entries(news.samples ?? {})) this.takeSamples(name, samples);
        this.tell();
    }

    private takeMark(mark: WireMark): void {
        if (mark.number <= this.lastMark) return; // it came again, after a lost connection
        if (this.lastMark > 0 && mark.number > this.lastMark + 1)
            this.allMarks.push({
                ...markOf(mark),
                kind: 'events_lost',
                reaction: '',
                reason: t('{n} events before this one were too many to be shown', {
                    n: mark.number - this.lastMark - 1,
                }),
            });
        this.lastMark = mark.number;
        this.allMarks.push(markOf(mark));
        if (this.allMarks.length > MOST_MARKS) this.allMarks.splice(0, MOST_MARKS / 10);
    }

    private takeSamples(name: string, samples: (number | null)[][]): void {
        if (!this.chosen.includes(name)) return;
        const sparse = this.sparse.get(name) ?? { ticks: [], values: [] };
        this.sparse.set(name, sparse);
        for (const [tick, value] of samples) {
            if (typeof tick !== 'number' || tick <= (sparse.ticks.at(-1) ?? -1)) continue;
            sparse.ticks.push(tick);
            sparse.values.push(value ?? Number.NaN);
        }
        if (sparse.ticks.length > MOST_SAMPLES) {
            sparse.ticks.splice(0, MOST_SAMPLES / 10);
            sparse.values.splice(0, MOST_SAMPLES / 10);
        }
    }

    private forget(): void {
        this.ranges = new Ranges();
        this.series.clear();
        this.sparse.clear();
        this.allMarks = [];
        this.lastMark = 0;
        this.allBars.clear();
    }

    /** Units and descriptions, asked for once for each set of sessions. */
    private async describeAll(sessions: readonly string[]): Promise<void> {
        this.list();
        const question = ['', ...sessions].join();
        if (question === this.asked) return;
        this.asked = question;
        for (const session of ['', ...sessions])
            for (const info of await this.describe(session)) {
                const isOfAction = session !== '' && !this.everyTick.has(info.name);
                this.described.set(isOfAction ? `${session}/${info.name}` : info.name, info);
            }
        this.list();
        this.tell();
    }

    private list(): void {
        const ofLoop = loopVariables();
        const known = (name: string, everyTick: boolean): Plottable => ({
            name,
            unit: ofLoop[name]?.unit ?? this.described.get(name)?.unit ?? '',
            description: ofLoop[name]?.description ?? this.described.get(name)?.description ?? '',
            everyTick,
        });
        this.variables = [
            ...[...this.everyTick].map((name) => known(name, true)),
            ...this.sampled.map((name) => known(name, false)),
        ];
    }

    private tellWish(): void {
        const rate = globalThis.document?.hidden ? HIDDEN_RATE : RATE;
        this.link.followTimeline({ choice: this.choice, names: this.chosen, rate }, this);
    }

    private tell(): void {
        for (const listener of this.listeners) listener();
    }
}

/** What the list of state variables does not have. */
function loopVariables(): Record<string, { unit: string; description: string }> {
    return {
        interval: { unit: 's', description: t('from the start of the tick before to that of this one') },
        lateness: { unit: 's', description: t('how late the tick began') },
        deadline_misses: { unit: '', description: t('deadlines that the loop has missed before this tick') },
        lateness_max: { unit: 's', description: t("the latest start of a tick since the loop's start") },
        compute_max: { unit: 's', description: t("the longest time of a tick since the loop's start") },
        events_lost: { unit: '', description: t('events that the loop could not report') },
        tick: { unit: '', description: t('number of the tick') },
    };
}

function markOf({ previous, current, ...mark }: WireMark): Mark {
    return { ...mark, previousAction: previous, currentAction: current };
}

function barOf({ number: _, ...bar }: WireBar): Bar {
    return bar;
}
