// What a person does with skills and programs as a whole: extract, rename, delete, take back.

import { t } from '../language/language.ts';
import { ask } from '../server.ts';
import { extractSkill, type OutputType, renameSkill } from '../text/blueprint_edits.ts';
import { tidyFolds } from '../text/folds.ts';
import { readGraph } from '../text/graph.ts';
import { edit } from '../text/history.ts';
import { BAD_NAME, NAME } from '../text/names.ts';
import type { Answer, SaveAnswer, SkillInfo } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Documents } from './documents.ts';
import type { Library } from './library.ts';
import type { Me } from './me.ts';
import type { Talk } from './talk.ts';

export class Shelf {
    /** Skills that were deleted and can be taken back. */
    bin: SkillInfo[] = [];

    constructor(
        private readonly changes: Changes,
        private readonly talk: Talk,
        private readonly me: Me,
        private readonly docs: Documents,
        private readonly library: Library,
    ) {}

    /** Make a skill of the selected nodes, and keep it: it is on its shelf at once. Returns why not. */
    async extract(name: string, level: string): Promise<string> {
        const doc = this.docs.doc;
        if (!doc) return t('There is no blueprint.');
        const types = new Map<string, OutputType>();
        for (const node of doc.graph.nodes) {
            for (const output of this.library.skill(node.skill)?.outputs ?? [])
                types.set(`${node.id}.${output.name}`, output);
        }
        if (this.library.skill(name)) return t('There is a skill {name} already.', { name });
        const found = extractSkill(doc.history.text, doc.selection, name, level, types);
        if (found.problem !== '') return found.problem;
        const answer = await ask<SaveAnswer>('save_skill', { text: found.skill, based_on: 0 });
        if (!answer.success) return answer.message;
        this.docs.setText(tidyFolds(found.text));
        this.docs.select([found.node]);
        await this.library.loadSkills();
        this.talk.dialog = null;
        this.talk.say(t('{name} is a new {level}.', { name, level: t(level.replace('_', ' ')) }));
        return '';
    }

    /** Rename a kept skill; its callers follow. Returns why not. */
    async rename(from: string, to: string): Promise<string> {
        if (!NAME.test(to)) return t(BAD_NAME);
        if (this.library.skill(to)) return t('There is a skill {name} already.', { name: to });
        const answer = await ask<Answer & { skills?: SkillInfo[] }>('list_skills', { with_text: true });
        if (!answer.success) return answer.message;
        const all = answer.skills ?? [];
        const own = all.find((skill) => skill.name === from);
        if (own?.origin !== 'store') return t('{name} cannot be renamed.', { name: from });
        const saved = await ask<SaveAnswer>('save_skill', { text: renameSkill(own.text, from, to), draft: true });
        if (!saved.success) return saved.message;
        for (const caller of all.filter((skill) => skill.origin === 'store' && skill.name !== from)) {
            const text = renameSkill(caller.text, from, to);
            if (text === caller.text) continue;
            const kept = await ask<SaveAnswer>('save_skill', { text, based_on: caller.version, draft: true });
            if (!kept.success) return `${caller.name}: ${kept.message}`;
            for (const doc of this.docs.all.filter((each) => each.savedName === caller.name && !each.readOnly)) {
                this.docs.update(doc, { basedOn: kept.version ?? doc.basedOn, savedText: text });
            }
        }
        const gone = await ask<Answer>('delete_skill', { name: from });
        for (const doc of this.docs.all.filter((each) => !each.readOnly)) {
            const next = edit(doc.history, renameSkill(doc.history.text, from, to));
            const graph = readGraph(next.text);
            const isOwn = doc.savedName === from;
            this.docs.update(doc, {
                history: next,
                graph,
                shown: graph.problem === '' ? graph : doc.shown,
                ...(isOwn ? { savedName: to, basedOn: saved.version ?? 0, savedText: next.text } : {}),
            });
        }
        this.docs.keep();
        await this.library.loadSkills();
        this.talk.dialog = null;
        if (gone.success) this.talk.say(t('{from} is {to} now, also for its callers.', { from, to }));
        else this.talk.say(t('{to} is kept; {from} stays: {why}', { to, from, why: gone.message }), true);
        return '';
    }

    async deleteProgram(name: string): Promise<void> {
        const text = this.library.programs.find((program) => program.name === name)?.text ?? '';
        const answer = await this.me.do<Answer>('delete_program', { name });
        if (!answer.success) return;
        const back = t('{name} is back: its last version as a new one.', { name });
        const undo = (): void => void this.me.do('save_program', { text }, back);
        this.talk.say(t('Deleted {name}.', { name }), false, text === '' ? undefined : undo);
    }

    async deleteSkill(name: string): Promise<void> {
        const answer = await this.me.do<Answer>('delete_skill', { name });
        if (!answer.success) return;
        const undo = (): void => void this.restoreSkill(name);
        this.talk.say(t('Deleted {name}. It is in the bin for 30 days.', { name }), false, undo);
    }

    async restoreSkill(name: string): Promise<void> {
        await this.me.do('delete_skill', { name, restore: true }, t('{name} is back with its versions.', { name }));
        await this.library.loadSkills();
        await this.loadBin();
    }

    async loadBin(): Promise<void> {
        const answer = await ask<Answer & { skills?: SkillInfo[] }>('list_skills', { deleted: true });
        if (answer.success) this.bin = answer.skills ?? [];
        this.changes.tell();
    }
}
