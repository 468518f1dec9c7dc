// Which text ran: the picture shows a run only if it is of the same one.

import { type Graph, readGraph } from '../text/graph.ts';
import type { LogRecord } from '../wire.ts';

export interface Ran {
    /** The text itself, of a run that was started with one; else null. */
    text: string | null;
    /** 0: the log does not say. */
    version: number;
}

export function base(reference: string): string {
    return reference.split('@')[0] ?? reference;
}

/** What ran under a name, as the log says; null: the beginning of the log is not there. */
export function ranAs(records: readonly LogRecord[], name: string): Ran | null {
    const run = records.find((record) => record.what === 'run');
    if (!run) return null;
    const isRoot = run.skill === name;
    if (isRoot && typeof run.text === 'string') return { text: run.text, version: 0 };
    const call = isRoot
        ? undefined
        : [...records].reverse().find((record) => record.what === 'call' && base(String(record.skill)) === name);
    const called = Number(String(call?.skill ?? '').split('@')[1] ?? 0);
    const versions = (run.versions ?? {}) as Record<string, number>;
    return { text: null, version: called || (versions[name] ?? 0) };
}

/** The path of the graph of a name in a run, by its log: '' for the run itself; null: it is not in it. */
export function pathIn(records: readonly LogRecord[], name: string): string | null {
    if (records.some((record) => record.what === 'run' && record.skill === name)) return '';
    const called = records.findLast((record) => record.what === 'call' && base(String(record.skill)) === name);
    return called ? String(called.path) : null;
}

const known = new WeakMap<Graph, string>();

/** All that a run takes from a text: not the places of nodes, comments and layout. */
export function contentOf(graph: Graph): string {
    let found = known.get(graph);
    if (found === undefined) {
        const { view: _, ...content } = graph.content as Record<string, unknown>;
        found = JSON.stringify(content);
        known.set(graph, found);
    }
    return found;
}

const texts = new Map<string, string>();

/** The same of a text. */
export function contentOfText(text: string): string {
    let found = texts.get(text);
    if (found === undefined) {
        if (texts.size > 50) texts.clear();
        found = contentOf(readGraph(text));
        texts.set(text, found);
    }
    return found;
}
