// What differs between two versions of a text, in words: nodes, links, and what stands beside them.

import { t } from '../language/language.ts';
import { type Graph, type GraphNode, isRecord, type Json, linkLabel } from './graph.ts';

export type Kind = 'added' | 'removed' | 'changed' | 'same';

export interface NodeChange {
    id: string;
    kind: Kind;
    /** The skill or built-in that it is, or was. */
    what: string;
    /** Of a changed one: what is different. */
    words: string[];
}

export interface Comparison {
    nodes: NodeChange[];
    /** Of the text as a whole: parameters, reactions, … */
    others: string[];
}

/** Two values are the same whatever the order of their keys. */
function same(a: unknown, b: unknown): boolean {
    if (isRecord(a) && isRecord(b)) {
        const keys = Object.keys(a);
        return keys.length === Object.keys(b).length && keys.every((key) => key in b && same(a[key], b[key]));
    }
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, n) => same(item, b[n]));
    return a === b;
}

function shown(value: unknown): string {
    if (value === undefined) return t('none');
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** What is different in two mappings: "with.force: 5 → 8". */
function inWords(before: Json, after: Json, prefix = ''): string[] {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key): string[] => {
        const a = before[key];
        const b = after[key];
        if (same(a, b)) return [];
        if (isRecord(a) && isRecord(b)) return inWords(a, b, `${prefix}${key}.`);
        if (a === undefined) return [t('{key} added: {value}', { key: `${prefix}${key}`, value: shown(b) })];
        if (b === undefined) return [t('{key} removed: {value}', { key: `${prefix}${key}`, value: shown(a) })];
        return [`${prefix}${key}: ${shown(a)} → ${shown(b)}`];
    });
}

/** The links of a node, as they are read: "on contact → press". */
export function linksOf(node: GraphNode, isProgram: boolean): string[] {
    return node.candidates
        .filter((link) => link.go !== '' || link.end !== '')
        .map((link) => {
            const to = link.go !== '' ? link.go : t('ends: {end}', { end: link.end });
            const label = linkLabel(link, isProgram);
            return label === '' ? `→ ${to}` : `${label} → ${to}`;
        });
}

function linkWords(before: GraphNode, after: GraphNode, isProgram: boolean): string[] {
    const a = linksOf(before, isProgram);
    const b = linksOf(after, isProgram);
    const words = [
        ...b.filter((link) => !a.includes(link)).map((link) => t('link added: {link}', { link })),
        ...a.filter((link) => !b.includes(link)).map((link) => t('link removed: {link}', { link })),
    ];
    return words.length === 0 && a.join('\n') !== b.join('\n') ? [t('links are judged in another order')] : words;
}

function without(content: Json, ...keys: string[]): Json {
    return Object.fromEntries(Object.entries(content).filter(([key]) => !keys.includes(key)));
}

export function compare(before: Graph, after: Graph): Comparison {
    const ids = [...new Set([...after.nodes, ...before.nodes].map((node) => node.id))];
    const nodes = ids.map((id): NodeChange => {
        const a = before.nodes.find((node) => node.id === id);
        const b = after.nodes.find((node) => node.id === id);
        const one = b ?? a;
        const what = one?.skill || (one?.kind ?? '').replace('_', ' ');
        if (!a || !b) return { id, kind: a ? 'removed' : 'added', what, words: [] };
        const words = [
            ...(a.isStart === b.isStart ? [] : [t(b.isStart ? 'is the start now' : 'is the start no more')]),
            ...(after.isProgram
                ? inWords(a.content, b.content)
                : [...inWords(without(a.content, 'then'), without(b.content, 'then')), ...linkWords(a, b, false)]),
        ];
        return { id, kind: words.length === 0 ? 'same' : 'changed', what, words };
    });
    const parts = ['nodes', 'actions', 'start', 'view'];
    const others = inWords(without(before.content, ...parts), without(after.content, ...parts));
    if (!same(before.content.view, after.content.view)) others.push(t('view: nodes were moved or folded'));
    return { nodes, others };
}

/** The links that one version has and the other has not, by "from>to". */
export function otherLinks(one: Graph, other: Graph): Set<string> {
    const links = (graph: Graph): string[] =>
        graph.nodes.flatMap((node) =>
            node.candidates.map((link) => `${node.id}>${link.go !== '' ? link.go : `@${link.end}`}`),
        );
    const known = new Set(links(other));
    return new Set(links(one).filter((link) => !known.has(link)));
}
