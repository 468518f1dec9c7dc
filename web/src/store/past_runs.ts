// The run of a blueprint at a moment of the past: a replay that follows the slider of the robot's past (H18).

import { ask } from '../server.ts';
import type { Answer, LogRecord } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Documents } from './documents.ts';
import type { PastMoment } from './page.ts';
import { pathIn } from './ran.ts';
import type { Runs } from './runs.ts';

/** [ms] between two questions for what is new of a run that goes on. */
const AGAIN_MS = 500;
/** In the place of the name of a run. */
const WHAT_IF = 'what if';
const NO_RUN: readonly LogRecord[] = [];

/** The log of a run, as far as it is here. */
interface Log {
    records: LogRecord[];
    /** [ms] on the browser's clock when it was asked for. */
    askedAt: number;
}

/** How many records of a log were written until a tick, this one included. */
export function happenedUntil(records: readonly LogRecord[], tick: number): number {
    let [begin, end] = [0, records.length];
    while (begin < end) {
        const middle = (begin + end) >> 1;
        if ((records[middle]?.tick ?? 0) <= tick) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

/**
 * The run that a tick shows: one that goes on then, rather one that has the graph of a name; else the last one that
 * had begun. Null: none had.
 */
export function runAt(logs: ReadonlyMap<string, readonly LogRecord[]>, tick: number, name: string): string | null {
    const begun = [...logs].filter(([, records]) => happenedUntil(records, tick) > 0).reverse();
    const going = begun.filter(([, records]) => records[happenedUntil(records, tick) - 1]?.what !== 'end');
    const own = going.find(([, records]) => pathIn(records, name) !== null);
    return (own ?? going[0] ?? begun[0])?.[0] ?? null;
}

export class PastRuns {
    private moment: PastMoment | null = null;
    private readonly logs = new Map<string, Log>();
    private isReading = false;

    constructor(
        private readonly changes: Changes,
        private readonly docs: Documents,
        private readonly runs: Runs,
    ) {}

    /** Show the run of this moment in place of that of now; null: no more. A replay that a person opens stays. */
    show(moment: PastMoment | null): void {
        const isNew = (moment === null) !== (this.moment === null);
        this.moment = moment;
        if (moment) {
            for (const run of [...this.logs.keys()]) if (!moment.runs.includes(run)) this.logs.delete(run);
            void this.read(moment.runs);
        } else this.logs.clear();
        if (isNew) this.runs.replay = null;
        this.place();
    }

    private place(): void {
        const { replay } = this.runs;
        if (!this.moment || (replay && !replay.seek)) return;
        const { tick, seek, runs, whatIf } = this.moment;
        if (whatIf && tick >= whatIf.tick) {
            const { records } = whatIf;
            const at = happenedUntil(records, tick);
            if (replay?.isWhatIf && replay.at === at && replay.records === records) return;
            this.runs.replay = { run: WHAT_IF, records, at, seek, isWhatIf: true };
            this.changes.tell();
            return;
        }
        const logs = new Map(runs.map((run) => [run, this.logs.get(run)?.records ?? NO_RUN]));
        const run = runAt(logs, tick, this.docs.doc?.shown.name ?? '') ?? '';
        const records = logs.get(run) ?? NO_RUN;
        const at = happenedUntil(records, tick);
        const isAwaited = run === '' && runs.some((each) => !this.logs.get(each)?.records.length);
        const isSame = replay?.run === run && replay.at === at && replay.records === records;
        if (isSame && replay.isAwaited === isAwaited) return;
        this.runs.replay = { run, records, at, seek, isAwaited };
        this.changes.tell();
    }

    /** Ask for the records that are not here, of one run after the other, the latest one first. */
    private async read(runs: readonly string[]): Promise<void> {
        if (this.isReading) return;
        this.isReading = true;
        try {
            for (const run of [...runs].reverse()) {
                if (!this.moment) break;
                await this.readRest(run);
            }
        } finally {
            this.isReading = false;
        }
    }

    private async readRest(run: string): Promise<void> {
        const log = this.logs.get(run) ?? { records: [], askedAt: Number.NEGATIVE_INFINITY };
        if (log.records.at(-1)?.what === 'end' || performance.now() - log.askedAt < AGAIN_MS) return;
        this.logs.set(run, log);
        for (let isMore = true; isMore; ) {
            log.askedAt = performance.now();
            const request = { run, first: log.records.length };
            const answer = await ask<Answer & { lines?: string[]; total?: number }>('read_runs', request);
            if (this.logs.get(run) !== log) return; // it is not shown any more
            const lines = answer.success ? (answer.lines ?? []) : [];
            log.records = [...log.records, ...lines.map((line) => JSON.parse(line) as LogRecord)];
            if (lines.length > 0) this.place();
            isMore = lines.length > 0 && log.records.length < (answer.total ?? 0);
        }
    }
}
