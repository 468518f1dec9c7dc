// The way of a run, from its log: which nodes of one graph ran, with which results, and which links were taken.

import { later, t } from './language/language.ts';
import type { LogRecord, RunInfo } from './wire.ts';

export interface Visited {
    count: number;
    attempt: number;
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
                attempt: Number(record.attempt ?? 1),
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

/** When a run began, as people of this browser read it. */
export function dateOf(run: RunInfo): string {
    const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/.exec(run.began) ?? [];
    if (year === undefined) return ''; // in lockstep there is no date
    const date = new Date(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
    return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** How long a run took. */
export function durationOf({ seconds }: RunInfo): string {
    if (!Number.isFinite(seconds)) return '';
    if (seconds < 60) return `${seconds.toFixed(1)} s`;
    const whole = Math.round(seconds);
    const two = (n: number): string => String(n).padStart(2, '0');
    const minutes = Math.floor(whole / 60);
    return minutes < 60
        ? `${minutes}:${two(whole % 60)} min`
        : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)} h`;
}

/** Names for people that a log has: of nodes by path, of answers by the path of their question. */
export interface LogNames {
    nodes: Map<string, string>;
    answers: Map<string, Record<string, string>>;
}

export function namesIn(records: readonly LogRecord[]): LogNames {
    const found: LogNames = { nodes: new Map(), answers: new Map() };
    for (const { what, path, title, titles } of records) {
        if (what === 'node' && typeof title === 'string') found.nodes.set(String(path), title);
        if (what === 'question' && typeof titles === 'object' && titles !== null)
            found.answers.set(String(path), titles as Record<string, string>);
    }
    return found;
}

const NO_NAMES: LogNames = { nodes: new Map(), answers: new Map() };

/** A path as people read it: each node by its own name. */
export function shownPath(path: string, names: LogNames): string {
    if (names.nodes.size === 0) return path;
    const ids = path.split('/');
    return ids.map((id, n) => names.nodes.get(ids.slice(0, n + 1).join('/')) ?? id).join('/');
}

/** The values that a condition was judged by. */
function valuesIn(values: unknown): string {
    if (typeof values !== 'object' || values === null) return '';
    const short = (value: unknown): string =>
        typeof value === 'number'
            ? String(Math.round(value * 1e4) / 1e4)
            : value === null
              ? t('unknown')
              : JSON.stringify(value);
    return Object.entries(values)
        .map(([name, value]) => `${name} = ${short(value)}`)
        .join(', ');
}

const STANDS: Record<string, string> = {
    before: later('stands before {path}'),
    after: later('stands after {path}'),
    cut: later('stands cut {path}'),
};

/** A line of the log in words. */
export function inWords(record: LogRecord, skill = '', names = NO_NAMES): string {
    const id = typeof record.path === 'string' ? record.path : '';
    const path = nameOfNode(shownPath(id, names), skill);
    const beside = (node: unknown): string => {
        const inner = id.includes('/') ? `${id.slice(0, id.lastIndexOf('/'))}/${String(node)}` : String(node);
        return names.nodes.get(inner) ?? String(node);
    };
    const because = record.reason ? `: ${String(record.reason)}` : '';
    const again = (what: string): string =>
        Number(record[what]) > 1
            ? t(what === 'visit' ? ', visit {n}' : ', attempt {n}', { n: Number(record[what]) })
            : '';
    switch (record.what) {
        case 'node':
            return `${t('{path} begins', { path })}${again('visit')}${again('attempt')}`;
        case 'ended':
            return `${path}: ${names.answers.get(id)?.[String(record.result)] ?? String(record.result)}${because}`;
        case 'decided': {
            const judged = Array.isArray(record.judged) ? (record.judged as { values?: unknown }[]) : [];
            const values = valuesIn(Object.assign({}, ...judged.map((each) => each.values)));
            const why = values === '' ? '' : ` (${values})`;
            return record.go
                ? `${path} → ${beside(record.go)}${why}`
                : `${t('{path} ends the graph: {end}', { path, end: record.end })}${why}`;
        }
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
            if (record.skill === 'say')
                return t('{path} says: “{text}”', {
                    path,
                    text: (record.arguments as { text?: unknown } | undefined)?.text,
                });
            return t('{path} starts {skill}', { path, skill: record.skill });
        case 'call':
            return t('{path} calls {skill}', { path, skill: record.skill });
        case 'jump':
            return t('jump to {path}: {outcome}', { path, outcome: record.outcome });
        case 'reaction':
            return t('reaction in {path}: {when} → {go}', {
                when: record.when,
                path: path || t('the graph'),
                go: names.nodes.get(id === '' ? String(record.go) : `${id}/${String(record.go)}`) ?? record.go,
            });
        case 'protective_stop':
            return t('protective stop');
        case 'released':
            return t('protective stop released');
        default:
            return `${record.what.replaceAll('_', ' ')} ${path}${because}`;
    }
}
