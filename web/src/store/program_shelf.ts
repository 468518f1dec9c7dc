// What a state of a program can be: an action of the library, or another program.

import { readGraph } from '../text/graph.ts';
import { newCommand } from '../text/motion_edits.ts';
import { exitsOf } from '../text/program_graph.ts';
import type { Value } from '../text/yaml_edit.ts';
import type { ActionType, PartInfo, ProgramInfo, SkillInfo } from '../wire.ts';
import type { Uses } from './program_live.ts';
import { base } from './ran.ts';

const EMPTY: SkillInfo = {
    name: '',
    version: 0,
    versions: [],
    origin: '',
    level: '',
    category: '',
    description: '',
    scenarios: [],
    tags: [],
    parts: [],
    moves: [],
    parameters: [],
    results: [],
    failures: [],
    outputs: [],
    phrases: [],
    gestures: [],
    calls: [],
    runs: 0,
    succeeded: 0,
    duration: null,
    problem: '',
    saved: { sec: 0, nanosec: 0 },
    text: '',
};

export function statesOf(types: Iterable<ActionType>, programs: readonly ProgramInfo[]): SkillInfo[] {
    // Laws alone are for strategies.
    const actions = [...types]
        .filter((type) => !type.slots.some((slot) => slot.kinds.join() === 'axis'))
        .map(
            (type): SkillInfo => ({
                ...EMPTY,
                name: type.name,
                origin: 'action_type',
                level: 'capability',
                category: type.slots.some((slot) => slot.moves) ? 'part_control' : 'sensing',
                description: type.description,
                parts: type.slots.map(
                    (slot) => `${slot.name}: ${slot.kinds.filter((kind) => kind !== 'axis').join(' or ')}`,
                ),
                parameters: type.parameters,
            }),
        );
    const used = programs.map(
        (program): SkillInfo => ({
            ...EMPTY,
            name: program.name,
            version: program.version,
            versions: program.versions,
            origin: 'program',
            level: 'meta_skill',
            description: program.description,
            tags: program.tags,
            parts: program.parts,
            parameters: program.parameters,
            results: program.text === '' ? program.events : exitsOf(readGraph(program.text)),
        }),
    );
    return [...actions, ...used];
}

/** Which of their states are programs, of the newest versions of all that are kept. */
export function usesOf(programs: readonly ProgramInfo[]): Map<string, [string, string][]> {
    return new Map(
        programs.flatMap((program): [string, [string, string][]][] => {
            const states = readGraph(program.text)
                .nodes.filter((node) => node.content.use !== undefined)
                .map((node): [string, string] => [node.id, node.skill]);
            return [
                [program.name, states],
                [`${program.name}@${program.version}`, states],
            ];
        }),
    );
}

/** Who uses a program: blueprints and skills that call it, and programs that have it as a state. */
export function usersOf(name: string, skills: readonly SkillInfo[], uses: Uses): string[] {
    const calling = skills
        .filter((skill) => skill.name !== name && skill.calls.some((call) => call.split('@')[0] === name))
        .map((skill) => skill.name);
    const using = [...uses]
        .filter(([, states]) => states.some(([, used]) => base(used) === name))
        .map(([program]) => base(program));
    return [...new Set([...calling, ...using])].sort();
}

type Part = Pick<PartInfo, 'name' | 'kind' | 'joint_names'>;

export interface Around {
    types: ReadonlyMap<string, ActionType>;
    programs: readonly ProgramInfo[];
    parts: readonly Part[];
    doc: { graph: { content: Record<string, unknown> } } | undefined;
}

/** How many joints a part has, or the part that a role means; 0: nobody knows. */
export function jointsOf(name: string, around: Pick<Around, 'parts' | 'doc'>): number {
    const declared = (
        around.doc?.graph.content.roles as Record<string, { default?: unknown; kinds?: unknown } | null> | undefined
    )?.[name];
    const kinds = [declared?.kinds ?? []].flat().map(String);
    const known = (each: string): Part | undefined => around.parts.find((part) => part.name === each);
    const part =
        known(name) ??
        known(String(declared?.default ?? '')) ??
        (declared === undefined ? undefined : around.parts.find((each) => kinds.includes(each.kind)));
    return part?.joint_names?.length ?? 0;
}

/** What a state begins with: its parts are the first that fit, roles before parts of the workcell. */
export function stateContent(what: string, around: Around): { [key: string]: Value } {
    const type = around.types.get(what);
    if (!type) return { use: what };
    const roles = Object.entries((around.doc?.graph.content.roles ?? {}) as Record<string, { kinds?: unknown } | null>);
    const taken = new Set<string>();
    const first = (kinds: readonly string[]): string => {
        const fits = (kind: string): boolean => kinds.length === 0 || kinds.includes(kind);
        const role = roles.find(
            ([name, each]) => !taken.has(name) && [each?.kinds ?? []].flat().some((kind) => fits(String(kind))),
        );
        const found =
            role?.[0] ??
            (roles.length > 0
                ? ''
                : (around.parts.find((part) => !taken.has(part.name) && fits(part.kind))?.name ?? ''));
        if (found !== '') taken.add(found);
        return found;
    };
    const parts = type.slots.map((slot): [string, string] => [slot.name, first(slot.kinds)]);
    if (what === 'motion_group') {
        const part = parts[0]?.[1] ?? '';
        return { type: what, commands: [newCommand(part, jointsOf(part, around))] };
    }
    return { type: what, parts: parts.length === 1 ? (parts[0]?.[1] ?? '') : Object.fromEntries(parts) };
}
