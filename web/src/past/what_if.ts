// What would have come of a change: simulated from a moment of the past. robot_rt_control/editor/what_ifs.py.

import { ask, askBytes } from '../server.ts';
import type { Doc } from '../store/documents.ts';
import type { Answer, LogRecord, Scene } from '../wire.ts';
import { Other } from './other.ts';
import type { PastAbout } from './wire.ts';

export interface WhatIfAnswer extends Answer {
    number: number;
    /** Empty: it had not ended after the time that is simulated. */
    result: string;
    failure: boolean;
    reason: string;
    /** Ticks of the simulation in which it began and ended. */
    first: number;
    last: number;
    records: LogRecord[];
    said: string[];
    /** What of the moment was not taken over. */
    notes: string[];
    about: PastAbout;
}

/** What a page asks about. */
export interface Change {
    run: string;
    /** Of the graph. */
    name: string;
    text: string;
    tick: number;
    /** Key of the document whose text it is. */
    doc: number;
    /** The text that ran; null: it is not known. */
    before: string | null;
}

/** Whether the text that ran can be put back: nothing but what was asked about is lost with it. */
export function canGoBack({ doc, text, before }: Change, shown: Doc): boolean {
    return shown.key === doc && !shown.readOnly && before !== null && before !== text && shown.history.text === text;
}

/** The records of an answer as if they had been written from the moment on. */
export function recordsFrom({ name, text, tick }: Change, answer: WhatIfAnswer): LogRecord[] {
    const { period } = answer.about;
    const moved = answer.records.map((record): LogRecord => {
        const at = tick + Math.max(record.tick - answer.first, 0);
        return { ...record, tick: at, time: at * period };
    });
    return [{ what: 'run', tick, time: tick * period, skill: name, text, versions: {} }, ...moved];
}

export class WhatIf {
    /** Null: it is being simulated, or there is a problem. */
    answer: WhatIfAnswer | null = null;
    records: LogRecord[] = [];
    problem = '';
    ghost: Other | null = null;
    /** Requests may overtake each other: an end concerns this one alone. */
    private readonly id = Math.random().toString(36).slice(2);

    constructor(
        readonly change: Change,
        readonly changed: () => void,
    ) {}

    /** @param loop whose ticks they are. */
    async simulate(loop: number): Promise<void> {
        const { run, text, tick } = this.change;
        const answer = await ask<WhatIfAnswer>('what_if', { id: this.id, run, text, tick, loop });
        if (answer.success) {
            this.answer = answer;
            this.records = recordsFrom(this.change, answer);
            this.ghost = new Other({ ...answer.about, first: answer.first, last: answer.last }, this.changed, {
                joints: (block) => askBytes('what_if_joints', { number: answer.number, block }),
                scene: () => ask<Answer & Scene>('scene'),
            });
        } else this.problem = answer.message;
        this.changed();
    }

    /** Put it away, or end it. */
    end(): void {
        this.ghost?.follow(null);
        // After a refusal none is this page's, and another page's may be going on.
        if (this.problem === '') void ask<Answer>('what_if_end', { id: this.id });
    }
}
