// Runs of blueprints: those under way, those of the past, the log of the one that is followed, and a replay.

import { ask } from '../server.ts';
import type { Answer, Live, LiveNode, LogRecord, RunInfo } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Documents } from './documents.ts';
import type { Link } from './link.ts';
import { base } from './ran.ts';
import { Retry } from './retry.ts';

export interface Replay {
    run: string;
    records: readonly LogRecord[];
    /** How many of them have happened. */
    at: number;
    /** No run is known yet that had begun: not all logs are here. */
    isAwaited?: boolean;
    /** It was simulated, and did not happen. */
    isWhatIf?: boolean;
    /** Moves the slider of the robot's past, which this follows; of a replay by itself there is none. */
    seek?: (tick: number) => void;
}

export class Runs {
    past: RunInfo[] = [];
    /** Whether the logs have been read once. */
    isRead = false;
    log: { run: string; records: LogRecord[] } = { run: '', records: [] };
    replay: Replay | null = null;
    /** The run that a person wants to see, if there are several. */
    chosen = '';
    private readonly retry = new Retry();
    private shown: { of: Live | null; run: string | undefined; nodes: LiveNode[] } = {
        of: null,
        run: undefined,
        nodes: [],
    };

    constructor(
        private readonly changes: Changes,
        private readonly docs: Documents,
        private readonly link: Link,
    ) {
        changes.subscribe(() => this.follow());
    }

    async load(): Promise<void> {
        const answer = await ask<Answer & { lines?: string[] }>('read_runs', { at_most: 200 });
        if (answer.success) {
            this.past = (answer.lines ?? []).map((line) => JSON.parse(line) as RunInfo);
            this.isRead = true;
        } else this.retry.soon('runs', () => this.load());
        this.changes.tell();
    }

    /** Ask for the log of the run that is shown, if that is another one now. */
    private follow(): void {
        const run = this.run?.run;
        if (run === undefined || run === this.log.run) return;
        this.log = { run, records: [] };
        this.link.tellWishes();
    }

    takeLog({ run, first, lines }: NonNullable<Live['log']>): void {
        if (run !== this.log.run || first > this.log.records.length) return;
        const records = lines.map((line) => JSON.parse(line) as LogRecord);
        this.log = { run, records: [...this.log.records.slice(0, first), ...records] };
    }

    private get live(): LiveNode[] {
        return this.link.live.blueprints.nodes ?? [];
    }

    /** All runs that are under way, and the last ones. */
    get now(): LiveNode[] {
        return this.live.filter((node) => node.path === '');
    }

    /** The run that is shown: one under way, or the last one. */
    get run(): LiveNode | undefined {
        const runs = this.now;
        const chosen = runs.find((node) => node.run === this.chosen);
        if (chosen) return chosen;
        const name = this.docs.doc?.graph.name;
        const mine = runs.find((node) => node.state !== 'ended' && base(node.does) === name);
        return mine ?? runs.find((node) => node.state !== 'ended') ?? runs[runs.length - 1];
    }

    get isUnderWay(): boolean {
        return this.run !== undefined && this.run.state !== 'ended';
    }

    /** Of the run that is shown. */
    get nodes(): LiveNode[] {
        const run = this.run?.run;
        if (this.shown.of !== this.link.live || this.shown.run !== run) {
            const found = this.live.filter((node) => node.run === run && node.path !== '');
            const same = JSON.stringify(found) === JSON.stringify(this.shown.nodes);
            this.shown = { of: this.link.live, run, nodes: same ? this.shown.nodes : found };
        }
        return this.shown.nodes;
    }

    /**
     * What the nodes of all blueprints run now, of the run that the page follows with versions; rehearsed ones run
     * nothing.
     */
    get running(): string[] {
        const runs = this.now.filter((run) => run.state !== 'ended' && !run.rehearsed).map((run) => run.run);
        const nodes = this.live.filter((node) => runs.includes(node.run) && node.does !== '');
        const begun = this.log.records.find((record) => record.what === 'run');
        const versions = (begun?.versions ?? {}) as Record<string, number>;
        const version = (node: LiveNode): number => (node.run === this.log.run ? (versions[node.does] ?? 0) : 0);
        return [
            ...new Set(nodes.map((node) => (version(node) > 0 ? `${node.does}@${version(node)}` : node.does))),
        ].sort();
    }
}
