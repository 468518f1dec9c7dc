// The way of a run, from its log: which nodes of one graph ran, with which results, and which links were taken.

import { later, t } from './language/language.ts';
import type { LogRecord } from './wire.ts';

export interface Visited {
    count: number;
    result: string;
    reason: string;
    outputs: Record<string, unknown>;
    running: boolean;
    seconds: number;
}

export interface Way {
    nodes: Map<string, Visited>;
    /** Those that were taken, as the picture names them: "look:0:press". */
    links: Set<string>;
    /** Where it stands: the node, and before, after or cut. */
    stands: string;
}

/** @param prefix of the graph's call: "" or "drinks". */
export function wayOf(records: readonly LogRecord[], prefix: string, until = records.length): Way {
    const way: Way = { nodes: new Map(), links: new Set(), stands: '' };
    const begun = new Map<string, number>();
    const inner = (path: string): string | null => {
        if (prefix !== '' && !path.startsWith(`${prefix}/`)) return null;
        const rest = prefix === '' ? path : path.slice(prefix.length + 1);
        return rest === '' || rest.includes('/') ? null : rest;
    };
    let before: { id: string; index: number; go: string } | null = null;
    for (let i = 0; i < until && i < records.length; i += 1) {
        const record = records[i] as LogRecord;
        const path = typeof record.path === 'string' ? record.path : '';
        if (record.what === 'end') for (const node of way.nodes.values()) node.running = false;
        if (record.what === 'stands') way.stands = path;
        if (record.what === 'call' && path === prefix && prefix !== '') {
            way.nodes.clear();
            way.links.clear();
            before = null;
        }
        const id = inner(path);
        if (id === null || path === '') continue;
        const node = way.nodes.get(id);
        if (record.what === 'node') {
            way.stands = '';
            way.nodes.set(id, {
                count: Number(record.visit),
                result: '',
                reason: '',
                outputs: node?.outputs ?? {},
                running: true,
                seconds: 0,
            });
            begun.set(id, record.time);
            if (before?.go === id && (before.id !== id || Number(record.attempt) === 1))
                way.links.add(`${before.id}:${before.index}:${id}`);
            before = null;
        } else if (record.what === 'ended' && node) {
            node.running = false;
            node.result = String(record.result);
            node.reason = String(record.reason ?? '');
            node.outputs = (record.outputs as Record<string, unknown>) ?? {};
            node.seconds = record.time - (begun.get(id) ?? record.time);
        } else if (record.what === 'decided') {
            const index = candidateOf(record);
            if (typeof record.go === 'string' && record.go !== '') before = { id, index, go: record.go };
            else if (record.end !== undefined && index >= 0) way.links.add(`${id}:${index}:@${String(record.end)}`);
        }
    }
    return way;
}

/** Which candidate was taken: of several that lead to one node, only that one. -1: none. */
function candidateOf(record: LogRecord): number {
    const judged = Array.isArray(record.judged) ? (record.judged as { candidate: number; held: boolean | null }[]) : [];
    return judged.find((each) => each.held === true)?.candidate ?? -1;
}

/** The only node of a skill that is made of one call has no name of its own: people read the skill's. */
export function nameOfNode(path: string, skill: string): string {
    return path === 'only' && skill !== '' ? skill : path;
}

/** Whose run it is; empty: its log does not say so. */
export function skillOf(records: readonly LogRecord[]): string {
    const run = records.find((record) => record.what === 'run');
    return typeof run?.skill === 'string' ? run.skill : '';
}

const STANDS: Record<string, string> = {
    before: later('stands before {path}'),
    after: later('stands after {path}'),
    cut: later('stands cut {path}'),
};

/** A line of the log in words. */
export function inWords(record: LogRecord, skill = ''): string {
    const path = nameOfNode(typeof record.path === 'string' ? record.path : '', skill);
    const because = record.reason ? `: ${String(record.reason)}` : '';
    const again = (what: string): string =>
        Number(record[what]) > 1
            ? t(what === 'visit' ? ', visit {n}' : ', attempt {n}', { n: Number(record[what]) })
            : '';
    switch (record.what) {
        case 'node':
            return `${t('{path} begins', { path })}${again('visit')}${again('attempt')}`;
        case 'ended':
            return `${path}: ${String(record.result)}${because}`;
        case 'decided':
            return record.go
                ? `${path} → ${String(record.go)}`
                : t('{path} ends the graph: {end}', { path, end: record.end });
        case 'command':
            return [
                String(record.command),
                record.target && ` ${String(record.target)}`,
                record.source && ` (${String(record.source)})`,
                record.refused && t(', refused: {why}', { why: record.refused }),
            ]
                .filter(Boolean)
                .join('');
        case 'stands':
            return t(STANDS[String(record.where)] ?? 'stands {path}', { path });
        case 'end':
            return record.refused === true
                ? `${t('the run was refused')}${because}`
                : `${t('the run ended: {result}', { result: record.result })}${because}`;
        case 'question':
            return t('{path} asks: {text}', { path, text: record.text });
        case 'log':
        case 'progress':
            return `${path}: ${String(record.text)}`;
        case 'start':
            return t('{path} starts {skill}', { path, skill: record.skill });
        case 'call':
            return t('{path} calls {skill}', { path, skill: record.skill });
        case 'jump':
            return t('jump to {path}: {outcome}', { path, outcome: record.outcome });
        case 'reaction':
            return t('reaction in {path}: {when} → {go}', { ...record, path: path || t('the graph') });
        case 'protective_stop':
            return t('protective stop');
        case 'released':
            return t('protective stop released');
        default:
            return `${record.what.replaceAll('_', ' ')} ${path}${because}`;
    }
}
