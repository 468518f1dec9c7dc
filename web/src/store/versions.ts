// Documents and what is kept of them: opening and saving versions.

import { t } from '../language/language.ts';
import { ask } from '../server.ts';
import { edit } from '../text/history.ts';
import { set } from '../text/yaml_edit.ts';
import type { Answer, LogRecord, ProgramInfo, RunInfo, SaveAnswer, SkillInfo } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Doc, Documents } from './documents.ts';
import type { Library } from './library.ts';
import type { Me } from './me.ts';
import { base, contentOf, contentOfText, type Ran, ranAs } from './ran.ts';
import type { Runs } from './runs.ts';
import type { Talk } from './talk.ts';

type Found = Answer & { skills?: SkillInfo[]; programs?: ProgramInfo[] };

export class Versions {
    constructor(
        private readonly changes: Changes,
        private readonly talk: Talk,
        private readonly me: Me,
        private readonly docs: Documents,
        private readonly library: Library,
        private readonly runs: Runs,
    ) {}

    async openSkill(reference: string): Promise<void> {
        const name = base(reference);
        const version = Number(reference.split('@')[1] ?? 0);
        const isLibrary = this.library.kept(name)?.origin === 'library';
        const at = this.docs.all.findIndex(
            (doc) =>
                doc.savedName === name &&
                (version === 0
                    ? !doc.isFixed || isLibrary
                    : doc.basedOn === version && doc.history.text === doc.savedText),
        );
        if (at >= 0) {
            this.docs.activate(at);
            return;
        }
        const skill = this.library.skills.find((each) => each.name === name);
        const isKept = this.library.programs.some((program) => program.name === name);
        if (skill?.origin === 'program' || (isKept && (!skill || skill.origin === 'library'))) {
            await this.openProgram(reference);
            return;
        }
        if (skill?.origin === 'action_type' || this.library.types.has(name)) {
            this.talk.show({ kind: 'expand', name });
            return;
        }
        const answer = await this.me.do<Found>('list_skills', { name: reference, with_text: true });
        const found = answer.skills?.find((each) => each.name === name);
        if (!found) return;
        if (found.text === '') {
            this.talk.show({ kind: 'expand', name });
            return;
        }
        this.docs.open(found.text, {
            savedName: name,
            basedOn: found.version,
            savedText: found.text,
            readOnly: found.origin === 'library' || reference !== name,
        });
    }

    async openProgram(reference: string): Promise<void> {
        const name = base(reference);
        const at = this.docs.all.findIndex((doc) => doc.savedName === name);
        if (at >= 0 && reference === name) {
            this.docs.activate(at);
            return;
        }
        const answer = await this.me.do<Found>('list_programs', { name: reference, with_text: true });
        const found = answer.programs?.[0];
        const open = this.docs.all.findIndex(
            (doc) => doc.savedName === name && doc.basedOn === found?.version && doc.savedText === found.text,
        );
        if (open >= 0) this.docs.activate(open);
        else if (found) {
            this.docs.open(found.text, {
                savedName: name,
                basedOn: found.version,
                savedText: found.text,
                readOnly: found.origin === 'library' || found.version !== Math.max(found.version, ...found.versions),
            });
        }
    }

    /** A copy of what is shown, under another name. */
    openCopy(): void {
        const doc = this.docs.doc;
        if (!doc) return;
        const taken = (name: string): boolean =>
            this.library.skill(name) !== undefined || this.library.programs.some((program) => program.name === name);
        let name = `my_${doc.graph.name}`;
        for (let n = 2; taken(name); n += 1) name = `my_${doc.graph.name}_${n}`;
        this.docs.open(set(doc.history.text, ['name'], name));
    }

    async openReplay(run: RunInfo): Promise<void> {
        const answer = await this.me.do<Answer & { lines?: string[] }>('read_runs', { run: run.run });
        if (!answer.success) return;
        const records = (answer.lines ?? []).map((line) => JSON.parse(line) as LogRecord);
        const hasText = records.some((record) => typeof record.text === 'string' && record.what === 'run');
        if (this.library.skill(run.skill) || hasText) await this.openRan(records);
        this.runs.replay = { run: run.run, records, at: records.length };
        this.changes.tell();
    }

    /** Show what ran, in a document of its own if it is not shown already. */
    async openRan(records: readonly LogRecord[]): Promise<void> {
        const name = String(records.find((record) => record.what === 'run')?.skill ?? '');
        const ran = ranAs(records, name);
        if (ran) await this.openVersion(name, ran);
    }

    async openVersion(name: string, { text, version }: Ran): Promise<void> {
        const open = this.docs.all.findIndex((doc) =>
            text !== null
                ? contentOf(doc.shown) === contentOfText(text)
                : doc.savedName === name &&
                  doc.basedOn === version &&
                  contentOf(doc.shown) === contentOfText(doc.savedText),
        );
        if (open >= 0) this.docs.activate(open);
        else if (text !== null) this.docs.open(text, { savedText: text, readOnly: true });
        else {
            const isNewest = version === 0 || version === this.library.kept(name)?.version;
            const isOpen = this.docs.all.some((doc) => doc.savedName === name);
            await this.openSkill(version === 0 || (isNewest && !isOpen) ? name : `${name}@${version}`);
        }
    }

    /** The highest version that is kept of what a document was made from; 0: there is none. */
    newestOf(doc: Doc): number {
        const found = doc.graph.isProgram
            ? this.library.programs.find((each) => each.name === doc.savedName)
            : this.library.kept(doc.savedName);
        return found ? Math.max(found.version, ...found.versions) : 0;
    }

    /** Go on with the version that was saved meanwhile; changes of one's own are shown beside it first. */
    async openNewest(): Promise<void> {
        const doc = this.docs.doc;
        if (!doc) return;
        const isProgram = doc.graph.isProgram;
        const list = isProgram ? 'list_programs' : 'list_skills';
        const answer = await this.me.do<Found>(list, { name: doc.savedName, with_text: true });
        const found = (answer.skills ?? answer.programs)?.[0];
        if (!found) return;
        if (doc.isFixed) await (isProgram ? this.openProgram(doc.savedName) : this.openSkill(doc.savedName));
        else if (doc.history.text === doc.savedText) this.takeTheirs(found.text, found.version);
        else this.talk.show({ kind: 'overtaken', text: found.text, version: found.version });
    }

    /** Take the text that somebody else saved. */
    takeTheirs(text: string, version: number): void {
        const doc = this.docs.doc;
        if (!doc) return;
        this.docs.setHistory(doc, edit(doc.history, text));
        this.docs.update(this.docs.doc as Doc, { basedOn: version, savedText: text });
        this.docs.keep();
        this.talk.show(null);
    }

    /** Keep the document as the next version of its name. */
    async save(options: { draft?: boolean; basedOn?: number } = {}): Promise<boolean> {
        const doc = this.docs.doc;
        if (!doc) return false;
        const text = doc.history.text;
        const isProgram = doc.graph.isProgram;
        const isOwn = doc.savedName === doc.graph.name;
        const based_on = options.basedOn ?? (isOwn ? doc.basedOn : 0);
        const answer = isProgram
            ? await ask<SaveAnswer>('save_program', { text, based_on })
            : await ask<SaveAnswer>('save_skill', { text, based_on, draft: options.draft ?? false });
        if (answer.success) {
            const name = answer.name ?? doc.graph.name;
            const version = answer.version ?? 0;
            const now = this.docs.all.find((each) => each.key === doc.key) ?? doc;
            this.docs.update(now, { savedName: name, basedOn: version, savedText: text });
            this.talk.dialog = null;
            this.docs.keep();
            this.talk.say(
                t(
                    options.draft
                        ? 'Saved {name} as version {version}, a draft: it cannot be run.'
                        : 'Saved {name} as version {version}.',
                    { name, version },
                ),
            );
        } else if (answer.refusals?.some((refusal) => refusal.error === 'Overtaken')) {
            const latest = await ask<Found>(isProgram ? 'list_programs' : 'list_skills', { name: doc.graph.name });
            const version = (latest.skills ?? latest.programs)?.[0]?.version ?? 0;
            this.talk.show({ kind: 'overtaken', text: answer.overtaken ?? '', version });
        } else {
            const why = answer.message.split('\n')[0] ?? '';
            this.talk.say(
                t(isProgram ? 'Not saved: {why}' : 'Not saved: {why} You can keep it as a draft.', { why }),
                true,
            );
        }
        return answer.success;
    }
}
