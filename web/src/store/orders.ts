// What a person tells the robot beside STOP: starts, and all that a run can be told.

import { t } from '../language/language.ts';
import type { Changes } from './changes.ts';
import type { Documents } from './documents.ts';
import { DRAFTS } from './drafts.ts';
import type { Drawn } from './drawn.ts';
import type { Me } from './me.ts';
import type { Runs } from './runs.ts';
import type { Talk } from './talk.ts';

const BREAKPOINTS = `${DRAFTS}.breakpoints`;

export class Orders {
    /** By the name of the graph. */
    breakpoints: Record<string, string[]> = {};

    constructor(
        private readonly changes: Changes,
        private readonly talk: Talk,
        private readonly me: Me,
        private readonly docs: Documents,
        private readonly runs: Runs,
        private readonly drawn: Drawn,
    ) {}

    control(command: string, more: object = {}): void {
        void this.me.do('control', { command, run: this.runs.run?.run ?? '', ...more });
    }

    async start(options: object): Promise<void> {
        const doc = this.docs.doc;
        if (!doc) return;
        const isSaved = doc.history.text === doc.savedText && doc.savedName !== '';
        if (doc.graph.isProgram && !isSaved) {
            this.talk.say(t('Save the program first: a run takes it from the index.'), true);
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
