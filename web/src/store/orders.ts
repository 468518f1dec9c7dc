// What a person tells the robot: the protective stop, starts, and all that a run can be told.

import { ask } from '../server.ts';
import type { Answer } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Documents } from './documents.ts';
import { DRAFTS } from './drafts.ts';
import type { Drawn } from './drawn.ts';
import type { Link } from './link.ts';
import type { Me } from './me.ts';
import type { Runs } from './runs.ts';
import { StopSender } from './stop.ts';
import type { Talk } from './talk.ts';

/** [ms] for the answer to a STOP, before it is sent again. */
const STOP_ANSWER_MS = 5_000;
const BREAKPOINTS = `${DRAFTS}.breakpoints`;

export class Orders {
    readonly stopping: StopSender;
    /** By the name of the graph. */
    breakpoints: Record<string, string[]> = {};

    constructor(
        private readonly changes: Changes,
        private readonly talk: Talk,
        private readonly me: Me,
        private readonly docs: Documents,
        private readonly link: Link,
        private readonly runs: Runs,
        private readonly drawn: Drawn,
    ) {
        const send = (): Promise<Answer> => ask('protective_stop', { stop: true }, STOP_ANSWER_MS);
        this.stopping = new StopSender(send, () => changes.tell());
    }

    /** The protective stop, whatever the state of the page: it is sent again until it is confirmed. */
    async stop(): Promise<void> {
        if (await this.stopping.press()) this.talk.say('Protective stop.');
    }

    /** Whether the stop of editors' pages is latched, or one of a robot that does not tell them apart. */
    get isStoppedHere(): boolean {
        const { stops, protective_stop: stopped } = this.link.live.robot;
        if (stops !== undefined && stops.length > 0) return stops.some((stop) => stop.source === 'editor');
        return stopped === true || this.link.live.blueprints.protective_stop === true;
    }

    control(command: string, more: object = {}): void {
        void this.me.do('control', { command, run: this.runs.run?.run ?? '', ...more });
    }

    async start(options: object): Promise<void> {
        const doc = this.docs.doc;
        if (!doc) return;
        const isSaved = doc.history.text === doc.savedText && doc.savedName !== '';
        if (doc.graph.isProgram && !isSaved) {
            this.talk.say('Save the program first: a run takes it from the index.', true);
            return;
        }
        this.runs.replay = null;
        this.runs.chosen = '';
        await this.me.do('run', {
            // What is drawn is what runs: also if somebody has saved another version meanwhile.
            skill: !isSaved ? doc.history.text : doc.basedOn > 0 ? `${doc.savedName}@${doc.basedOn}` : doc.savedName,
            breakpoints: this.breakpoints[doc.graph.name] ?? [],
            ...options,
        });
    }

    toggleBreakpoint(node: string): void {
        const name = this.docs.doc?.graph.name ?? '';
        this.breakpoints = { ...this.breakpoints, [name]: toggled(this.breakpoints[name] ?? [], node) };
        localStorage.setItem(BREAKPOINTS, JSON.stringify(this.breakpoints));
        const prefix = this.drawn.prefix;
        const run = this.runs.run;
        if (run && run.state !== 'ended' && prefix !== null) {
            const full = prefix === '' ? node : `${prefix}/${node}`;
            this.control('breakpoints', { breakpoints: toggled(run.breakpoints, full) });
        }
        this.changes.tell();
    }

    restore(): void {
        try {
            this.breakpoints = JSON.parse(localStorage.getItem(BREAKPOINTS) ?? '{}') as Record<string, string[]>;
        } catch {
            this.breakpoints = {};
        }
    }
}

function toggled(all: string[], one: string): string[] {
    return all.includes(one) ? all.filter((each) => each !== one) : [...all, one];
}
