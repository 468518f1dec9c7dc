// What blueprints and programs can be made of: skills, programs, types of actions, and what the workcell has.

import { t } from '../language/language.ts';
import { ask } from '../server.ts';
import { callsOf } from '../text/graph.ts';
import type {
    ActionType,
    Answer,
    Live,
    ParameterInfo,
    PartInfo,
    ProgramInfo,
    SkillInfo,
    VariableInfo,
} from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Documents } from './documents.ts';
import type { Uses } from './program_live.ts';
import { type NameHint, programNames } from './program_names.ts';
import { type Around, statesOf, usesOf } from './program_shelf.ts';
import { base } from './ran.ts';
import { Retry } from './retry.ts';

export class Library {
    skills: SkillInfo[] = [];
    programs: ProgramInfo[] = [];
    /** States of programs are made of them. */
    types = new Map<string, ActionType>();
    variables: VariableInfo[] = [];
    parts: PartInfo[] = [];
    /** What a motion command of a program can have. */
    motionKeys: ParameterInfo[] = [];
    private readonly byName = seen((skills: SkillInfo[]) => new Map(skills.map((each) => [each.name, each])));
    private readonly states = seen((types: Library['types'], programs: ProgramInfo[]) =>
        statesOf(types.values(), programs),
    );
    private readonly used = seen((programs: ProgramInfo[]) => usesOf(programs));
    private readonly loaded = new Set<string>();
    private readonly retry = new Retry();
    private skillsSeen = -1;
    private programsSeen = -1;

    constructor(
        private readonly changes: Changes,
        private readonly docs: Documents,
    ) {}

    /** Whether skills, programs and what the workcell has are here. */
    get isLoaded(): boolean {
        return this.loaded.size === 3;
    }

    /** Whether it is known which names are programs: the executor of blueprints lists them as skills. */
    get knowsPrograms(): boolean {
        return this.loaded.has('programs');
    }

    /** Ask for what has changed. */
    follow(live: Live): void {
        const count = live.blueprints.skills_changed ?? -1;
        if (count !== this.skillsSeen) {
            this.skillsSeen = count;
            void this.loadSkills();
        }
        if (live.programs_changed !== this.programsSeen) {
            this.programsSeen = live.programs_changed;
            void this.loadPrograms();
        }
    }

    async loadWorkcell(): Promise<void> {
        const [parts, variables, types] = await Promise.all([
            ask<Answer & { parts?: PartInfo[] }>('parts'),
            ask<Answer & { variables?: VariableInfo[] }>('variables'),
            ask<Answer & { action_types?: ActionType[]; motion_command?: ParameterInfo[] }>('action_types'),
        ]);
        if (!parts.parts || !variables.variables || !types.action_types)
            this.retry.soon('workcell', () => this.loadWorkcell());
        else this.loaded.add('workcell');
        this.parts = parts.parts ?? [];
        this.variables = variables.variables ?? [];
        this.types = new Map((types.action_types ?? []).map((type) => [type.name, type]));
        this.motionKeys = types.motion_command ?? [];
        this.changes.tell();
    }

    async loadSkills(): Promise<void> {
        const answer = await ask<Answer & { skills?: SkillInfo[] }>('list_skills', {});
        if (answer.success) {
            this.skills = answer.skills ?? [];
            this.loaded.add('skills');
            this.changes.tell();
            this.docs.check();
        } else this.retry.soon('skills', () => this.loadSkills());
    }

    async loadPrograms(): Promise<void> {
        const answer = await ask<Answer & { programs?: ProgramInfo[] }>('list_programs', { with_text: true });
        if (answer.success) {
            this.programs = answer.programs ?? [];
            this.loaded.add('programs');
        } else this.retry.soon('programs', () => this.loadPrograms());
        this.changes.tell();
    }

    /** A skill by its name; for a program that is shown, what a state of it can be comes first. */
    skill(name: string): SkillInfo | undefined {
        const own = this.docs.doc?.graph.isProgram
            ? this.forStates.find((each) => each.name === base(name))
            : undefined;
        const known = this.kept(base(name));
        if (own?.origin !== 'program') return own ?? known;
        // Its own exits; the executor knows which of them are failures.
        const fails = (exit: string): boolean => known?.failures.includes(exit) ?? false;
        return { ...own, results: own.results.filter((exit) => !fails(exit)), failures: own.results.filter(fails) };
    }

    /** A skill that the executor of blueprints knows. */
    kept(name: string): SkillInfo | undefined {
        return this.byName(this.skills).get(name);
    }

    /** What a state of a program can be: actions, and programs. They need no executor of blueprints. */
    get forStates(): SkillInfo[] {
        return this.states(this.types, this.programs);
    }

    /** Which states of programs are programs themselves. */
    get uses(): Uses {
        return this.used(this.programs);
    }

    /** What a state of the shown program can refer to. */
    get around(): Around {
        return { types: this.types, programs: this.programs, parts: this.parts, doc: this.docs.doc };
    }

    /** Parts that fit a role such as "arm: arm or gripper (left)". */
    partsFor(role: string): string[] {
        const kinds = (role.split(':')[1] ?? '')
            .replace(/\(.*\)/, '')
            .split(/ or |,/)
            .map((kind) => kind.trim())
            .filter(Boolean);
        return this.parts.filter((part) => kinds.length === 0 || kinds.includes(part.kind)).map((part) => part.name);
    }

    /** Names that a condition or value can use. */
    completions(isCondition: boolean): NameHint[] {
        const doc = this.docs.doc;
        if (doc?.graph.isProgram) {
            const owner = doc.link?.node ?? doc.selection[0] ?? '';
            return programNames(doc.graph, owner, isCondition, this.types, this.variables, this.parts);
        }
        const found: NameHint[] = [];
        for (const key of ['parameters', 'values']) {
            const declared = doc?.graph.content[key];
            for (const name of Object.keys((declared as object | undefined) ?? {}))
                found.push({ name: `$${name}`, hint: key.slice(0, -1) });
        }
        for (const node of doc?.graph.nodes ?? []) {
            for (const [path, skill] of callsOf(node.content)) {
                for (const output of this.skill(skill)?.outputs ?? []) {
                    found.push({
                        name: `$${[node.id, ...path, output.name].join('.')}`,
                        hint: output.unit || t('output'),
                    });
                }
            }
            if (isCondition) found.push({ name: `${node.id}.count`, hint: t('visits') });
        }
        if (isCondition)
            for (const variable of this.variables) found.push({ name: variable.name, hint: variable.unit });
        return found;
    }
}

/** Compute it again only for other arguments. */
function seen<A extends unknown[], T>(compute: (...of: A) => T): (...of: A) => T {
    let last: { of: A; found: T } | undefined;
    return (...of) => {
        if (!last || of.some((each, n) => each !== last?.of[n])) last = { of, found: compute(...of) };
        return last.found;
    };
}
