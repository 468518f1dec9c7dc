// What a picture shows, read from the text of a skill or of a program.

import { t } from '../language/language.ts';
import { allKinds, kindNamed, kindsWith, writtenIn } from './node_kinds.ts';
import { placeOf } from './places.ts';
import { programGraph } from './program_graph.ts';
import { parse } from './yaml_edit.ts';

export type Json = Record<string, unknown>;

/** A candidate of a node, or a reaction of a program's state. */
export interface Candidate {
    index: number;
    on: string[];
    when: string;
    go: string;
    end: string;
    /** Of a program: the event that it emits. */
    event: string;
    stop: boolean;
}

export interface GraphNode {
    id: string;
    /** How people see its name; empty: as its id. */
    title: string;
    /** skill, wait, say, …; empty: nothing yet, or several. */
    kind: string;
    /** The skill or action type; empty: it is built in. */
    skill: string;
    /** What it does, in short. */
    detail: string;
    content: Json;
    candidates: Candidate[];
    place: [number, number] | null;
    isStart: boolean;
}

export interface Reaction {
    index: number;
    when: string;
    go: string;
    at: string;
}

export interface Graph {
    isProgram: boolean;
    name: string;
    /** How people see its name; empty: as it is. */
    title: string;
    level: string;
    nodes: GraphNode[];
    reactions: Reaction[];
    /** The one call of a skill without nodes. */
    is: Json | null;
    content: Json;
    problem: string;
}

export const STANDARD_FAILURES = ['failed', 'timeout', 'cancelled'];

export function isRecord(value: unknown): value is Json {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function texts(value: unknown): string[] {
    if (Array.isArray(value)) return value.map(String);
    return value === undefined || value === null ? [] : [String(value)];
}

export function listed(value: unknown): unknown[] {
    return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** What a person typed with separators between. */
export function wordsOf(typed: string, separator = ','): string[] {
    return typed
        .split(separator)
        .map((each) => each.trim())
        .filter(Boolean);
}

/** Role → the part that takes it if nobody names another one. */
export function usualParts(roles: unknown): Record<string, string> {
    const found: Record<string, string> = {};
    for (const [role, of] of Object.entries(isRecord(roles) ? roles : {}))
        if (isRecord(of) && typeof of.default === 'string') found[role] = of.default;
    return found;
}

function candidate(written: unknown, index: number): Candidate {
    const empty = { index, on: ['success'], when: '', go: '', end: '', event: '', stop: false };
    if (!isRecord(written)) return { ...empty, go: String(written) };
    return {
        ...empty,
        on: written.on === undefined ? ['success'] : texts(written.on),
        when: written.when === undefined ? '' : String(written.when),
        go: written.go === undefined ? '' : String(written.go),
        end: written.end === undefined ? '' : String(written.end),
    };
}

export function kindOf(content: Json): string {
    const kinds = ['skill', ...allKinds().map((each) => each.name)].filter((key) => content[key] !== undefined);
    return kinds.length === 1 ? (kinds[0] ?? '') : '';
}

/** The skills that a call calls: itself, and its branches with their names. */
export function callsOf(content: Json): [string[], string][] {
    const found: [string[], string][] = content.skill === undefined ? [] : [[[], String(content.skill)]];
    for (const kind of kindsWith('branches')) {
        for (const [name, branch] of Object.entries(isRecord(content[kind]) ? content[kind] : {})) {
            if (isRecord(branch))
                found.push(...callsOf(branch).map(([path, skill]): [string[], string] => [[name, ...path], skill]));
        }
    }
    return found;
}

function short(value: unknown): string {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** What a call does, in short. */
export function detailOf(content: Json): string {
    const kind = kindOf(content);
    if (kind === 'skill') {
        const given = isRecord(content.with) ? Object.entries(content.with) : [];
        return given.map(([key, value]) => `${key} ${short(isRecord(value) ? value.value : value)}`).join(', ');
    }
    const builtIn = kindNamed(kind);
    const field = builtIn?.fields[0];
    if (!builtIn || !field) return '';
    const value = writtenIn(builtIn, field, content);
    if (field.form === 'seconds') return `${short(isRecord(value) ? value.value : value)} s`;
    if (field.form === 'branches') return Object.keys(isRecord(value) ? value : {}).join(', ');
    if (field.form === 'values' && isRecord(value)) {
        return Object.entries(value)
            .map(([name, one]) => `${name} = ${short(one)}`)
            .join(', ');
    }
    return short(value ?? content[kind]);
}

export const EMPTY: Graph = {
    isProgram: false,
    name: '',
    title: '',
    level: 'blueprint',
    nodes: [],
    reactions: [],
    is: null,
    content: {},
    problem: '',
};

/** The picture of a text. What cannot be read is `problem`; then the nodes are those that can be. */
export function readGraph(text: string): Graph {
    const document = parse(text);
    const problem = document.errors[0]?.message ?? '';
    let content: unknown;
    try {
        content = document.toJS({ maxAliasCount: 0 });
    } catch (error) {
        return { ...EMPTY, problem: String(error) };
    }
    if (!isRecord(content)) return { ...EMPTY, problem: problem || (text.trim() === '' ? '' : t('not a mapping')) };
    if (problem !== '') return { ...EMPTY, name: String(content.name ?? ''), problem };
    return isRecord(content.actions) ? programGraph(content) : skillGraph(content);
}

function skillGraph(content: Json): Graph {
    const written = isRecord(content.nodes) ? content.nodes : {};
    const start = content.start === undefined ? (Object.keys(written)[0] ?? '') : String(content.start);
    const nodes = Object.entries(written).map(([id, node]): GraphNode => {
        const body = isRecord(node) ? node : {};
        const kind = kindOf(body);
        return {
            id,
            title: typeof body.title === 'string' ? body.title : '',
            kind,
            skill: kind === 'skill' ? String(body.skill) : '',
            detail: detailOf(body),
            content: body,
            candidates: listed(body.then).map(candidate),
            place: placeOf(content.view, id),
            isStart: id === start,
        };
    });
    const reactions = listed(content.reactions).map((reaction, index): Reaction => {
        const body = isRecord(reaction) ? reaction : {};
        return { index, when: String(body.when ?? ''), go: String(body.go ?? ''), at: String(body.at ?? 'once') };
    });
    return {
        isProgram: false,
        name: String(content.name ?? ''),
        title: typeof content.title === 'string' ? content.title : '',
        level: String(content.level ?? 'blueprint'),
        nodes,
        reactions,
        is: isRecord(content.is) ? content.is : null,
        content,
        problem: '',
    };
}

/** How often and how long a node is tried, in short; empty: once, without end. */
export function boundsOf(content: Json): string {
    const { retry, repeat, timeout } = content;
    const written = isRecord(timeout) ? timeout.value : timeout;
    return [
        Number(retry) > 0 ? t('up to {n} attempts', { n: Number(retry) + 1 }) : '',
        Number(repeat) > 0 ? t('{n} times', { n: Number(repeat) + 1 }) : '',
        written !== undefined && written !== null ? t('at most {seconds} s', { seconds: short(written) }) : '',
    ]
        .filter(Boolean)
        .join(', ');
}

/** The label of a link: what has to hold. */
export function linkLabel(link: Candidate, isProgram: boolean): string {
    if (isProgram) return link.when;
    const on = link.on.length === 1 && link.on[0] === 'success' ? '' : link.on.join(', ');
    return [on, link.when === '' ? '' : `if ${link.when}`].filter((part) => part !== '').join(' ');
}
