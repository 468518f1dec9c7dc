// The goals that a node has: fields of joints, and of a tool's pose.

import { t } from '../language/language.ts';
import { type Kind, kindOfField, partsFor } from '../operate/Take.tsx';
import { setField, typed } from '../text/blueprint_edits.ts';
import { type GraphNode, isRecord, type Json, texts, usualParts } from '../text/graph.ts';
import { kindsWith } from '../text/node_kinds.ts';
import type { Path } from '../text/yaml_edit.ts';
import type { ParameterInfo, PartInfo, SkillInfo } from '../wire.ts';

export interface Goal {
    /** Where it is in the text; another one has another key. */
    key: string;
    /** For people: its fields. */
    label: string;
    /** Whether its fields are of joints, else of the tool's pose. */
    ofJoints: boolean;
    /** The part that it is shown of. */
    part: PartInfo;
    /** Of its values. */
    path: Path;
    /** Its parameters, by what they are. */
    fields: Partial<Record<Kind, ParameterInfo>>;
    /** What they have: numbers; null: nothing, so that it stays as it is. */
    values: Partial<Record<Kind, number[] | null>>;
    /** Why it cannot be shown: a field has something else than numbers. */
    problem: string;
}

const LENGTHS: Record<Kind, (part: PartInfo) => number> = {
    joints: (part) => part.joint_names.length,
    position: () => 3,
    orientation: () => 4,
};

/** What the goals of a call are made from. */
interface Call {
    path: Path;
    infos: readonly ParameterInfo[];
    given: Json;
    /** Parts that it names, or would use. */
    named: readonly string[];
}

/** The goals of a call: a position and an orientation of the same name are one. */
export function goalsOf({ path, infos, given, named }: Call, parts: readonly PartInfo[]): Goal[] {
    const found = new Map<string, Goal>();
    for (const info of infos) {
        const kind = kindOfField(info);
        const part = kind && partsFor(kind, parts, named)[0];
        if (!kind || !part) continue;
        const stem = kind === 'joints' ? info.name : info.name.replace(new RegExp(`${kind}$`), '(pose)');
        const key = [...path, stem].join('.');
        const goal = found.get(key) ?? {
            key,
            label: '',
            ofJoints: kind === 'joints',
            part,
            path,
            fields: {},
            values: {},
            problem: '',
        };
        goal.fields[kind] = info;
        goal.label = Object.values(goal.fields)
            .map((each) => each.name)
            .join(', ');
        const count = LENGTHS[kind](part);
        const value = numbersIn(given[info.name], count);
        if (value === undefined)
            goal.problem = t('{name} has no {count} numbers: it is not drawn.', { name: info.name, count });
        else goal.values[kind] = value;
        found.set(key, goal);
    }
    // A turn alone is not dragged: the pose needs a place.
    return [...found.values()].filter((goal) => goal.ofJoints || goal.fields.position);
}

/** Null: nothing is written; undefined: something else than so many numbers. */
function numbersIn(value: unknown, n: number): number[] | null | undefined {
    if (value === undefined || value === null || value === '') return null;
    const list = Array.isArray(value) ? value : typeof value === 'number' && n === 1 ? [value] : [];
    const isGoal = list.length === n && list.every((each) => typeof each === 'number' && Number.isFinite(each));
    return isGoal ? (list as number[]) : undefined;
}

export function hasValues(goal: Goal): boolean {
    return Object.values(goal.values).some((value) => value !== null);
}

/** What goals are looked up in: store/library.ts. */
export interface Known {
    parts: readonly PartInfo[];
    skill: (name: string) => SkillInfo | undefined;
}

/** The goals of a node of a blueprint or state of a program, and of the branches inside it. */
export function goalsOfNode(node: GraphNode, isProgram: boolean, roles: Json, known: Known): Goal[] {
    const usualOf = new Map(Object.entries(usualParts(roles)));
    const of = (content: Json, path: Path, skill: string, key: string): Goal[] => {
        const info = known.skill(skill);
        if (!info) return [];
        const given = isRecord(content.parts) ? content.parts : {};
        const usual = info.parts.map((text) => {
            const [role = ''] = text.split(':');
            return typeof given[role] === 'string' ? given[role] : (/\((.*)\)/.exec(text)?.[1] ?? '');
        });
        const named = [...texts(content.parts), ...Object.values(given).map(String), ...usual].map(
            (name) => usualOf.get(name) ?? name,
        );
        const values = isRecord(content[key]) ? content[key] : {};
        return goalsOf({ path: [...path, key], infos: info.parameters, given: values, named }, known.parts);
    };
    if (isProgram) return of(node.content, ['actions', node.id], node.skill, 'parameters');
    const inCall = (content: Json, path: Path): Goal[] => [
        ...(content.skill === undefined ? [] : of(content, path, String(content.skill), 'with')),
        ...kindsWith('branches').flatMap((kind) =>
            Object.entries(isRecord(content[kind]) ? content[kind] : {}).flatMap(([name, branch]) =>
                isRecord(branch) ? inCall(branch, [...path, kind, name]) : [],
            ),
        ),
    ];
    return inCall(node.content, ['nodes', node.id]);
}

/** The text with other values of a goal, to 1 µm and 1 µrad. */
export function withValues(text: string, goal: Goal, values: Partial<Record<Kind, readonly number[]>>): string {
    let changed = text;
    for (const kind of ['joints', 'position', 'orientation'] as const) {
        const info = goal.fields[kind];
        const value = values[kind];
        if (!info || !value) continue;
        const list = `[${value.map((each) => Number(each.toFixed(6)) + 0).join(', ')}]`;
        changed = setField(changed, [...goal.path, info.name], typed(list, info.type));
    }
    return changed;
}
