// What a person does with the picture of a skill, as functions from text to text.

import { t } from '../language/language.ts';
import { type Graph, type GraphNode, isRecord, type Json, listed, readGraph, texts } from './graph.ts';
import { kindsWith } from './node_kinds.ts';
import { arrange, renamePlace } from './places.ts';
import { addState, deleteStates, drawReaction, insertState, removeLink, renameState } from './program_edits.ts';
import {
    place as extentOf,
    insert,
    mapScalars,
    type Path,
    parse,
    Raw,
    remove,
    renameKey,
    render,
    set,
    type Value,
    written,
} from './yaml_edit.ts';

export interface CandidateFields {
    on?: string[];
    when?: string;
    go?: string;
    end?: string;
}

// --- nodes ------------------------------------------------------------------------------------------

/** An id that is free: of a skill's or built-in's name. */
export function freeId(graph: Graph, wanted: string): string {
    const taken = new Set<string>([
        ...graph.nodes.map((node) => node.id),
        ...['roles', 'parameters', 'values'].flatMap((key) =>
            Object.keys(isRecord(graph.content[key]) ? (graph.content[key] as Json) : {}),
        ),
    ]);
    for (const [key, value] of Object.entries(isRecord(graph.content.view) ? graph.content.view : {}))
        if (isRecord(value)) taken.add(key); // folded boxes
    const base = wanted.replace(/[^A-Za-z0-9_]/g, '_').replace(/^([0-9])/, '_$1') || 'node';
    if (!taken.has(base)) return base;
    for (let n = 2; ; n += 1) if (!taken.has(`${base}_${n}`)) return `${base}_${n}`;
}

function box(graph: Graph): string {
    return graph.isProgram ? 'actions' : 'nodes';
}

/** Add a node. `after`: the node and result that lead to it. */
export function addNode(
    text: string,
    id: string,
    content: { [key: string]: Value },
    after?: { node: string; result: string },
): string {
    const graph = readGraph(text);
    let next = graph.isProgram ? addState(text, id, content) : set(text, ['nodes', id], content);
    if (after !== undefined) next = connect(next, after.node, after.result, id);
    return next;
}

/** Remove nodes, and all that leads to them. */
export function deleteNodes(text: string, ids: readonly string[]): string {
    if (readGraph(text).isProgram) return deleteStates(text, ids);
    const gone = new Set(ids);
    let next = text;
    for (const node of readGraph(text).nodes) {
        if (gone.has(node.id)) continue;
        const indices = [...new Set(node.candidates.filter((c) => gone.has(c.go)).map((c) => c.index))];
        for (const index of indices.reverse()) next = disconnect(next, node.id, index);
    }
    const graph = readGraph(next);
    for (const reaction of [...graph.reactions].reverse()) {
        if (gone.has(reaction.go)) next = remove(next, ['reactions', reaction.index]);
    }
    next = ids.reduce((found, id) => remove(found, [box(graph), id]), arrange(next, ids));
    if (typeof graph.content.start === 'string' && gone.has(graph.content.start)) {
        const first = readGraph(next).nodes[0];
        next = first ? set(next, ['start'], first.id) : remove(next, ['start']);
    }
    return next;
}

export { arrange, moveNode } from './places.ts';

// --- links ------------------------------------------------------------------------------------------

function candidateValue(fields: CandidateFields): { [key: string]: Value } {
    const found: { [key: string]: Value } = {};
    const on = fields.on ?? ['success'];
    if (on.length > 1) found.on = [...on];
    else if (on[0] !== undefined && on[0] !== 'success') found.on = on[0];
    if (fields.when) found.when = fields.when;
    if (fields.go) found.go = fields.go;
    if (fields.end) found.end = fields.end;
    return found;
}

function shortest(value: { [key: string]: Value }): Value {
    const keys = Object.keys(value);
    return keys.length === 1 && keys[0] === 'go' ? (value.go as string) : value;
}

/** Draw a link from a result of a node to a node. */
export function connect(text: string, from: string, result: string, to: string): string {
    const graph = readGraph(text);
    if (graph.isProgram) return drawReaction(text, from, to, result);
    const fields = { on: [result], go: to };
    return addCandidate(text, from, fields);
}

/** Add a candidate: one for a certain result stands before those that take every success. */
export function addCandidate(text: string, node: string, fields: CandidateFields): string {
    const path = ['nodes', node, 'then'];
    const found = readGraph(text).nodes.find((n) => n.id === node);
    if (!found) return text;
    const value = candidateValue(fields);
    if (found.candidates.length === 0) {
        const one = shortest(value);
        return set(text, path, typeof one === 'string' ? one : [one]);
    }
    const isSpecial = (fields.on ?? ['success'])[0] !== 'success' || fields.when !== undefined;
    const first = found.candidates.findIndex(
        (c) => c.when === '' && c.on.some((on) => on === 'success' || on === 'any'),
    );
    const index = isSpecial && first >= 0 ? first : found.candidates.length;
    if (Array.isArray(found.content.then)) return insert(text, path, index, value);
    const old = new Raw(flowOf(text, path));
    return set(text, path, index === 0 ? [value, asItem(old)] : [asItem(old), value]);
}

/** A single candidate in a list stays as it is written: "seat" becomes {go: seat}. */
function asItem(old: Raw): Raw {
    return old.text.startsWith('{') ? old : new Raw(`{go: ${old.text}}`);
}

/** How a value is written, in one line. */
function flowOf(text: string, path: Path): string {
    const found = written(text, path);
    if (!found.includes('\n') && !found.includes('#'))
        return /^[\w.$]+$|^[{['"]/.test(found) ? found : render(valueAt(text, path) as Value);
    return render(valueAt(text, path) as Value);
}

export function valueAt(text: string, path: Path): unknown {
    let value: unknown = parse(text).toJS();
    for (const step of path) value = isRecord(value) || Array.isArray(value) ? (value as never)[step] : undefined;
    return value;
}

/** Remove a candidate. */
export function disconnect(text: string, node: string, index: number): string {
    const graph = readGraph(text);
    if (graph.isProgram) return removeLink(text, node, index);
    const found = graph.nodes.find((n) => n.id === node);
    if (!found) return text;
    if (!Array.isArray(found.content.then) || found.candidates.length === 1)
        return remove(text, ['nodes', node, 'then']);
    return remove(text, ['nodes', node, 'then', index]);
}

/** Change what a candidate says; fields that are not named stay. */
export function changeCandidate(text: string, node: string, index: number, fields: CandidateFields): string {
    const found = readGraph(text).nodes.find((n) => n.id === node);
    const old = found?.candidates[index];
    if (!found || !old) return text;
    const value = candidateValue({ on: old.on, when: old.when, go: old.go, end: old.end, ...fields });
    const path: Path = Array.isArray(found.content.then) ? ['nodes', node, 'then', index] : ['nodes', node, 'then'];
    const before = valueAt(text, path);
    if (isRecord(before)) {
        let next = text;
        for (const key of ['on', 'when', 'go', 'end']) {
            const wanted = value[key];
            if (wanted === undefined && before[key] !== undefined) {
                if (key === 'on' && texts(before[key]).join() === 'success') continue;
                next = remove(next, [...path, key]);
            } else if (wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(before[key])) {
                next = set(next, [...path, key], wanted);
            }
        }
        return next;
    }
    return set(
        text,
        path,
        Array.isArray(found.content.then) || typeof shortest(value) === 'string' ? shortest(value) : [value],
    );
}

/** Candidates are judged in order: put one before or after another one. */
export function moveCandidate(text: string, node: string, index: number, to: number): string {
    const path = ['nodes', node, 'then'];
    const found = listed(valueAt(text, path));
    if (found.length < 2 || to < 0 || to >= found.length || index === to) return text;
    const item = new Raw(flowOf(text, [...path, index]));
    return insert(remove(text, [...path, index]), path, to, item);
}

/** Put a new node into a link. */
export function insertOnLink(
    text: string,
    from: string,
    index: number,
    id: string,
    content: { [key: string]: Value },
): string {
    const graph = readGraph(text);
    const link = graph.nodes.find((n) => n.id === from)?.candidates.find((c) => c.index === index);
    if (!link) return text;
    if (graph.isProgram) return insertState(text, from, index, id, content);
    const then: Value = link.go ? link.go : [{ end: link.end }];
    return changeCandidate(set(text, ['nodes', id], { ...content, then }), from, index, { go: id, end: '' });
}

// --- names ------------------------------------------------------------------------------------------

function escaped(name: string): string {
    return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** References to a node's outputs and count in a text. */
function renamedIn(value: string, from: string, to: string, isCondition: boolean): string {
    const outputs = value.replace(new RegExp(`\\$${escaped(from)}(?=\\.)`, 'g'), `$$${to}`);
    if (!isCondition) return outputs;
    return outputs.replace(new RegExp(`(?<![\\w.$])${escaped(from)}(?=\\.)`, 'g'), to);
}

/** Give a node another id; links, reactions, references and its place follow. */
export function renameNode(text: string, from: string, to: string): string {
    const graph = readGraph(text);
    if (from === to || !graph.nodes.some((n) => n.id === from)) return text;
    if (graph.isProgram) return renameState(text, from, to);
    const key = box(graph);
    const next = mapScalars(text, (value, path) => {
        if (typeof value !== 'string') return undefined;
        const last = path[path.length - 1];
        const name = typeof last === 'number' ? path[path.length - 2] : last;
        const isTop = path.length === 1 || (path.length === 2 && path[0] === 'start');
        if (isTop && path[0] === 'start') return value === from ? to : undefined;
        const inThen =
            path[0] === 'nodes' &&
            path[2] === 'then' &&
            path.length <= 4 &&
            (path.length === 3 || typeof last === 'number');
        if ((name === 'go' && path.length > 2) || inThen) return value === from ? to : undefined;
        if (typeof name !== 'string' || ['description', 'skill', 'name', 'on', 'end'].includes(name)) return undefined;
        return renamedIn(value, from, to, ['when', 'until', ...kindsWith('condition')].includes(name));
    });
    return renamePlace(renameKey(next, [key, from], to), from, to);
}

/** Give a skill another name in the text of a caller, or its own. */
export function renameSkill(text: string, from: string, to: string): string {
    return mapScalars(text, (value, path) => {
        const last = path[path.length - 1];
        if (path.length === 1 && last === 'name') return value === from ? to : undefined;
        if (last !== 'skill' || typeof value !== 'string') return undefined;
        const [name, version] = value.split('@');
        // A version counts from 1 under the new name.
        return name === from && version === undefined ? to : name === from ? to : undefined;
    });
}

// --- copies -----------------------------------------------------------------------------------------

/** Nodes as text, for the clipboard: "nodes:\n  a: …", as they are written. */
export function copyNodes(text: string, ids: readonly string[]): string {
    const key = box(readGraph(text));
    const parts = ids.flatMap((id) => {
        const found = extentOf(text, [key, id]);
        if (!found) return [];
        const column = found[0] - (text.lastIndexOf('\n', found[0] - 1) + 1);
        const lines = text.slice(found[0], found[1]).split('\n');
        return lines.map((line, n) => `  ${n === 0 ? line : line.slice(Math.min(column, line.search(/\S|$/)))}`);
    });
    return parts.length === 0 ? '' : `${key}:\n${parts.join('\n')}\n`;
}

/**
 * Insert nodes that were copied. Returns the text and the new ids; links to nodes that did not come along are left out.
 */
export function pasteNodes(text: string, copied: string): { text: string; ids: string[] } {
    let graph = readGraph(text);
    let pasted = copied;
    const from = readGraph(copied);
    if (
        from.problem !== '' ||
        from.nodes.length === 0 ||
        (from.isProgram !== graph.isProgram && graph.nodes.length > 0)
    ) {
        return { text, ids: [] };
    }
    const known = new Set(from.nodes.map((n) => n.id));
    for (const node of from.nodes) {
        const gone = node.candidates.filter((c) => c.go !== '' && !known.has(c.go)).map((c) => c.index);
        for (const index of [...new Set(gone)].reverse()) pasted = disconnect(pasted, node.id, index);
    }
    const taken = new Set(graph.nodes.map((n) => n.id));
    for (const id of known) {
        if (!taken.has(id)) continue;
        const both = { ...graph, nodes: [...graph.nodes, ...readGraph(pasted).nodes] };
        pasted = renameNode(pasted, id, freeId(both, id));
    }
    const ids = readGraph(pasted).nodes.map((n) => n.id);
    const key = box(readGraph(pasted));
    const block = pasted.slice(pasted.indexOf('\n') + 1).replace(/\n*$/, '\n');
    graph = readGraph(text);
    if (graph.nodes.length === 0 || graph.problem !== '') {
        const cleared = graph.problem === '' && key in graph.content ? remove(text, [key]) : text;
        return { text: `${cleared}${cleared === '' || cleared.endsWith('\n') ? '' : '\n'}${key}:\n${block}`, ids };
    }
    // As lines after the last node, at the indentation of that mapping.
    const last = graph.nodes[graph.nodes.length - 1] as GraphNode;
    const found = extentOf(text, [key, last.id]);
    if (!found) return { text, ids: [] };
    const begin = text.lastIndexOf('\n', found[0] - 1) + 1;
    const indent = text.slice(begin, found[0]);
    if (indent.trim() !== '') {
        // A mapping in braces: one by one.
        const added = readGraph(pasted).nodes.reduce(
            (t, n) => set(t, [key, n.id], n.content as { [k: string]: Value }),
            text,
        );
        return { text: added, ids };
    }
    const feed = text.indexOf('\n', found[1]);
    const at = feed < 0 ? text.length : feed + 1;
    const lines = block
        .trimEnd()
        .split('\n')
        .map((line) => indent + line.slice(2))
        .join('\n');
    return { text: `${text.slice(0, at)}${feed < 0 ? '\n' : ''}${lines}\n${text.slice(at)}`, ids };
}

// --- a skill out of nodes ---------------------------------------------------------------------------

export interface OutputType {
    type: string;
    unit: string;
}

export interface Extracted {
    /** The new skill. */
    skill: string;
    /** The graph, with one node that calls it. */
    text: string;
    node: string;
    problem: string;
}

/**
 * Make a skill of nodes. Parameters that they use, outputs of other nodes, roles and ways out come along.
 *
 * @param outputTypes of nodes' outputs, by "node.output".
 */
export function extractSkill(
    text: string,
    ids: readonly string[],
    name: string,
    level: string,
    outputTypes: ReadonlyMap<string, OutputType> = new Map(),
): Extracted {
    const graph = readGraph(text);
    const chosen = new Set(ids);
    const inside = graph.nodes.filter((n) => chosen.has(n.id));
    const outside = graph.nodes.filter((n) => !chosen.has(n.id));
    const refused = (problem: string): Extracted => ({ skill: '', text, node: '', problem });
    if (inside.length === 0) return refused(t('Select the nodes first.'));
    const entries = new Set<string>();
    for (const node of inside) if (node.isStart) entries.add(node.id);
    for (const node of outside) for (const c of node.candidates) if (chosen.has(c.go)) entries.add(c.go);
    for (const reaction of graph.reactions) if (chosen.has(reaction.go)) entries.add(reaction.go);
    if (entries.size > 1) {
        return refused(
            t('These nodes are entered at several places ({nodes}): a skill has one start.', {
                nodes: [...entries].join(', '),
            }),
        );
    }
    const entry = [...entries][0] ?? inside[0]?.id ?? '';

    // The ways out: each node outside that something leads to, and each `end`, is a result.
    const outs = inside.flatMap((n) =>
        n.candidates.filter((c) => (c.go !== '' && !chosen.has(c.go)) || c.end !== '').map((c) => ({ node: n, c })),
    );
    const targets = [...new Set(outs.map(({ c }) => c.go || `end:${c.end}`))];
    const standard = new Set(['done', 'failed', 'timeout', 'cancelled']);
    const isFailure = (target: string): boolean =>
        outs
            .filter(({ c }) => (c.go || `end:${c.end}`) === target)
            .every(({ c }) => c.on.every((on) => on === 'failure' || (standard.has(on) && on !== 'done')));
    const endsByItself = inside.some((n) => n.candidates.length === 0);
    const results = new Map<string, string>();
    for (const target of targets) {
        const plain = target.startsWith('end:') ? target.slice(4) : `to_${target}`;
        const isOnly = targets.length === 1 && !endsByItself && !isFailure(target);
        results.set(target, isOnly || standard.has(plain) ? (standard.has(plain) ? plain : 'done') : plain);
    }

    // What they use from around them.
    const used = {
        parameters: new Set<string>(),
        values: new Set<string>(),
        roles: new Set<string>(),
        outputs: new Set<string>(),
    };
    const declared = (key: string): Json => (isRecord(graph.content[key]) ? (graph.content[key] as Json) : {});
    const scan = (value: unknown, key: string): void => {
        if (typeof value === 'string') {
            for (const match of value.matchAll(/\$([A-Za-z_]\w*)((?:\.\w+)*)/g)) {
                const [, head = '', rest = ''] = match;
                if (rest !== '' && !chosen.has(head) && graph.nodes.some((n) => n.id === head))
                    used.outputs.add(head + rest);
                else if (head in declared('parameters')) used.parameters.add(head);
                else if (head in declared('values')) used.values.add(head);
            }
            if (key === 'parts' && value in declared('roles')) used.roles.add(value);
        } else if (isRecord(value)) for (const [k, v] of Object.entries(value)) scan(v, key === 'parts' ? 'parts' : k);
        else if (Array.isArray(value)) for (const v of value) scan(v, key);
    };
    for (const node of inside) scan(node.content, '');
    for (const node of inside) {
        const setsOf = isRecord(node.content.set) ? Object.keys(node.content.set) : [];
        if (setsOf.length > 0)
            return refused(t('Node {node} sets values of this blueprint, which a skill cannot.', { node: node.id }));
    }
    const backwards = new Set<string>();
    const scanOut = (value: unknown): void => {
        if (typeof value === 'string') {
            for (const match of value.matchAll(/\$([A-Za-z_]\w*)((?:\.\w+)+)/g))
                if (chosen.has(match[1] ?? '')) backwards.add(`${match[1]}${match[2]}`);
        } else if (isRecord(value)) Object.values(value).forEach(scanOut);
        else if (Array.isArray(value)) value.forEach(scanOut);
    };
    for (const node of outside) scanOut(node.content);
    scanOut(graph.content.outputs);

    // The new skill.
    const parameterOf = (output: string): string => output.replaceAll('.', '_');
    let skill = `name: ${name}\nlevel: ${level}\n`;
    for (const role of used.roles) skill = set(skill, ['roles', role], declared('roles')[role] as Value);
    for (const parameter of used.parameters)
        skill = set(skill, ['parameters', parameter], (declared('parameters')[parameter] ?? {}) as Value);
    for (const value of used.values) {
        const { default: _, ...rest } = (declared('values')[value] ?? {}) as Json;
        skill = set(skill, ['parameters', value], rest as Value);
    }
    for (const output of used.outputs) {
        const known = outputTypes.get(output);
        const declaration: { [key: string]: Value } = {};
        if (known && known.type !== 'float') declaration.type = known.type;
        if (known?.unit) declaration.unit = known.unit;
        skill = set(skill, ['parameters', parameterOf(output)], declaration);
    }
    for (const [target, result] of results) {
        if (!standard.has(result)) skill = set(skill, ['results', result], isFailure(target) ? { failure: true } : {});
    }
    for (const output of backwards) {
        const known = outputTypes.get(output);
        const declaration: { [key: string]: Value } = { value: `$${output}` };
        if (known && known.type !== 'float') declaration.type = known.type;
        if (known?.unit) declaration.unit = known.unit;
        skill = set(skill, ['outputs', parameterOf(output)], declaration);
    }
    skill = set(skill, ['start'], entry);
    skill += copyNodes(
        text,
        inside.map((n) => n.id),
    );
    for (const node of inside) {
        for (const c of node.candidates) {
            if (c.go !== '' && !chosen.has(c.go))
                skill = changeCandidate(skill, node.id, c.index, { go: '', end: results.get(c.go) ?? 'done' });
        }
    }
    skill = mapScalars(skill, (value) => {
        if (typeof value !== 'string') return undefined;
        let next = value;
        for (const output of used.outputs)
            next = next.replace(new RegExp(`\\$${escaped(output)}(?![\\w.])`, 'g'), `$$${parameterOf(output)}`);
        return next;
    });

    // The graph that calls it.
    const rest = { ...graph, nodes: outside };
    const node = freeId(rest, name);
    const content: { [key: string]: Value } = { skill: name };
    const given: { [key: string]: Value } = {};
    for (const each of [...used.parameters, ...used.values]) given[each] = `$${each}`;
    for (const output of used.outputs) given[parameterOf(output)] = `$${output}`;
    if (Object.keys(given).length > 0) content.with = given;
    if (used.roles.size > 0) content.parts = Object.fromEntries([...used.roles].map((role) => [role, role]));
    const ways = targets.map((target): CandidateFields => {
        const result = results.get(target) ?? 'done';
        const way = target.startsWith('end:') ? { end: target.slice(4) } : { go: target };
        return result === 'done' ? way : { on: [result], ...way };
    });
    const special = ways.filter((w) => w.on !== undefined);
    const plain = ways.filter((w) => w.on === undefined);
    const list = [...special, ...plain].map(candidateValue);
    if (list.length === 1) {
        const one = shortest(list[0] as { [key: string]: Value });
        content.then = typeof one === 'string' ? one : [one];
    } else if (list.length > 1) content.then = list;

    let next = text;
    for (const other of outside) {
        for (const c of other.candidates)
            if (chosen.has(c.go)) next = changeCandidate(next, other.id, c.index, { go: node });
    }
    for (const reaction of graph.reactions)
        if (chosen.has(reaction.go)) next = set(next, ['reactions', reaction.index, 'go'], node);
    if (typeof graph.content.start === 'string' && chosen.has(graph.content.start)) next = set(next, ['start'], node);
    // It stands where the first of them stood.
    const first = inside[0] as GraphNode;
    const kept = isRecord(graph.content.view) ? graph.content.view : {};
    for (const each of inside) {
        if (kept[each.id] !== undefined) next = remove(next, ['view', each.id]);
        if (each.id !== first.id) next = remove(next, ['nodes', each.id]);
    }
    next = set(next, ['nodes', first.id], content);
    if (first.id !== node) next = renameKey(next, ['nodes', first.id], node);
    next = mapScalars(next, (value) => {
        if (typeof value !== 'string') return undefined;
        let found = value;
        for (const output of backwards)
            found = found.replace(
                new RegExp(`\\$${escaped(output)}(?![\\w.])`, 'g'),
                `$$${node}.${parameterOf(output)}`,
            );
        return found;
    });
    return { skill, text: next, node, problem: '' };
}

// --- fields -----------------------------------------------------------------------------------------

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;

/** A value as a person typed it: YAML if it can be, otherwise a text. Numbers between commas are a list. */
export function typed(entered: string, type: string): Value {
    const trimmed = entered.trim();
    if (type === 'text') return trimmed.includes('$') ? trimmed : entered;
    const words = trimmed.split(',').map((word) => word.trim());
    if (words.length > 1 && words.every((word) => NUMBER.test(word))) return new Raw(`[${words.join(', ')}]`);
    if (NUMBER.test(trimmed) || trimmed === 'true' || trimmed === 'false') return new Raw(trimmed);
    if (trimmed.startsWith('[')) {
        const parsed = parse(trimmed);
        if (parsed.errors.length === 0) return new Raw(trimmed);
    }
    return trimmed;
}

/** Set a field of a node, or remove it: undefined. */
export function setField(text: string, path: Path, value: Value | undefined): string {
    return value === undefined ? remove(text, path) : set(text, path, value);
}
