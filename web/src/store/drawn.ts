// Whether what is drawn is what runs, or ran in a replay.

import { ask } from '../server.ts';
import type { Answer, LogRecord, ProgramInfo, SkillInfo } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Documents } from './documents.ts';
import type { Link } from './link.ts';
import { base, contentOf, contentOfText, type Ran, ranAs } from './ran.ts';
import { Retry } from './retry.ts';
import type { Runs } from './runs.ts';

export class Drawn {
    textsLoaded = 0;
    /** "list_skills tour@2" → its text; null: it is not there; undefined: it is asked for. */
    private readonly texts = new Map<string, string | null | undefined>();
    private readonly retry = new Retry();

    constructor(
        private readonly changes: Changes,
        private readonly docs: Documents,
        private readonly link: Link,
        private readonly runs: Runs,
    ) {}

    /** The path of the shown graph in the run; null: it is not in it, or what runs is another version of it. */
    get prefix(): string | null {
        const path = this.pathInRun;
        return path !== null && !['same', 'unknown'].includes(this.comparedWith(this.runs.log.records)) ? null : path;
    }

    /** Whether the run has a graph of the shown name. */
    get inRun(): boolean {
        return this.pathInRun !== null;
    }

    private get pathInRun(): string | null {
        const name = this.docs.doc?.shown.name;
        const run = this.runs.run;
        if (name === undefined || name === '' || !run) return null;
        if (base(run.does) === name) return '';
        const inside = [...this.runs.nodes].reverse().find((node) => base(node.does) === name);
        if (inside) return inside.path;
        const records = [...this.runs.log.records].reverse();
        const called = records.find((r) => r.what === 'call' && base(String(r.skill)) === name);
        return called ? String(called.path) : null;
    }

    /** What ran under the name of the shown document. */
    ran(records: readonly LogRecord[]): Ran | null {
        return ranAs(records, this.docs.doc?.shown.name ?? '');
    }

    /**
     * How what is shown differs from what runs, or ran in the replay: 'other'; 'pending': its text is awaited;
     * 'unknown': the log does not say.
     */
    comparedWith(records: readonly LogRecord[]): 'same' | 'other' | 'pending' | 'unknown' {
        const doc = this.docs.doc;
        if (!doc || doc.shown.isProgram) return 'unknown';
        if (records.length === 0) return 'pending';
        const text = this.textThatRan(records);
        if (text === null) return 'unknown';
        if (text === undefined) return 'pending';
        return contentOfText(text) === contentOf(doc.shown) ? 'same' : 'other';
    }

    /**
     * The text that ran under the name of the shown document; null: the log does not say which, or it is not kept;
     * undefined: it is asked for.
     */
    textThatRan(records: readonly LogRecord[]): string | null | undefined {
        const doc = this.docs.doc;
        const ran = this.ran(records);
        if (!doc || !ran) return null;
        if (ran.text !== null || ran.version === 0) return ran.text;
        if (ran.version === doc.basedOn && doc.savedName === doc.shown.name) return doc.savedText;
        return this.keptText('list_skills', `${doc.shown.name}@${ran.version}`);
    }

    /** How the shown program differs from "touch@2"; one without a version is taken for the shown one. */
    comparedWithProgram(reference: string): 'same' | 'other' | 'pending' {
        const doc = this.docs.doc;
        const version = Number(reference.split('@')[1] ?? 0);
        if (!doc || version === 0) return 'same';
        const isOwn = version === doc.basedOn && doc.savedName === base(reference);
        const text = isOwn ? doc.savedText : this.keptText('list_programs', reference);
        if (text === undefined) return 'pending';
        return text !== null && contentOfText(text) === contentOf(doc.shown) ? 'same' : 'other';
    }

    /** Whether a program that runs is of the text that is shown. */
    readonly isShown = (reference: string): boolean => this.comparedWithProgram(reference) === 'same';

    /** A program of the shown name that runs in another version: "touch@2"; '': none. */
    get otherProgram(): string {
        const doc = this.docs.doc;
        if (!doc?.shown.isProgram) return '';
        const sessions = (this.link.live.robot.programs ?? []).map((each) => each.program);
        const isOther = (each: string): boolean =>
            base(each) === doc.shown.name && this.comparedWithProgram(each) === 'other';
        return [...sessions, ...this.runs.running].find(isOther) ?? '';
    }

    /** The text of a version; null: it is not there; undefined: it is asked for. */
    private keptText(list: 'list_skills' | 'list_programs', reference: string): string | null | undefined {
        const key = `${list} ${reference}`;
        if (!this.texts.has(key)) {
            this.texts.set(key, undefined);
            void ask<Answer & { skills?: SkillInfo[]; programs?: ProgramInfo[] }>(list, {
                name: reference,
                with_text: true,
            }).then((answer) => {
                const isMissing = answer.refusals?.some((refusal) => refusal.error === 'DefinitionError');
                if (answer.success || isMissing) {
                    this.texts.set(key, (answer.skills ?? answer.programs)?.[0]?.text || null);
                    this.textsChanged();
                } else {
                    this.retry.soon(key, async () => {
                        this.texts.delete(key); // who shows it asks again
                        this.textsChanged();
                    });
                }
            });
        }
        return this.texts.get(key);
    }

    private textsChanged(): void {
        this.textsLoaded += 1;
        this.changes.tell();
    }
}
