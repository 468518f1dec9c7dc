// Edits of a YAML text: each changes the characters that it must, and returns the new text. Comments, order and layout
// of all else stay as they are.

import type { Node, Pair, YAMLMap, YAMLSeq } from 'yaml';
import { Document, isMap, isPair, isScalar, isSeq, parseDocument, Scalar, stringify } from 'yaml';

export type Step = string | number;
export type Path = readonly Step[];
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value } | Raw;

/** A value that is inserted as it is written, such as 0.10 or $guest. */
export class Raw {
    constructor(readonly text: string) {}
}

const WIDTH = 110;

export function parse(text: string): Document.Parsed {
    return parseDocument(text, { keepSourceTokens: true, prettyErrors: false, uniqueKeys: true }) as Document.Parsed;
}

/** The data of a text; undefined: it is not valid YAML. */
export function data(text: string): unknown {
    const document = parse(text);
    return document.errors.length > 0 ? undefined : document.toJS();
}

// --- values as text ---------------------------------------------------------------------------------

function scalarText(value: string, flow: boolean): string {
    // The library knows what needs quotes. Single ones read best, and a text that looks like a number stays a text.
    const scalar = new Scalar(value);
    if (value === '' || /[\n\t]/.test(value)) return JSON.stringify(value);
    const document = new Document(flow ? [scalar] : scalar);
    if (flow) (document.contents as unknown as YAMLSeq).flow = true;
    const written = document.toString({ lineWidth: 0, singleQuote: true, flowCollectionPadding: false }).trimEnd();
    return flow ? written.slice(1, -1) : written;
}

/** A value in one line. `flow`: inside brackets, where more needs quotes. */
export function render(value: Value, flow = true): string {
    if (value instanceof Raw) return value.text;
    if (value === null) return 'null';
    if (typeof value === 'string') return scalarText(value, flow);
    if (typeof value !== 'object') return String(value);
    if (Array.isArray(value)) return `[${value.map((item) => render(item)).join(', ')}]`;
    return `{${Object.entries(value)
        .map(([key, item]) => `${scalarText(key, true)}: ${render(item)}`)
        .join(', ')}}`;
}

/** "key: value" for a block mapping at an indentation: in one line if it fits, otherwise one line for each key. */
function blockPair(key: string, value: Value, indent: string): string {
    const line = `${scalarText(key, false)}: ${render(value, false)}`;
    const isMapping = value !== null && typeof value === 'object' && !(value instanceof Raw) && !Array.isArray(value);
    if (indent.length + line.length <= WIDTH || !isMapping || Object.keys(value).length === 0) return line;
    const inner = `${indent}  `;
    const lines = Object.entries(value).map(([name, item]) => inner + blockPair(name, item, inner));
    return [`${scalarText(key, false)}:`, ...lines].join('\n');
}

// --- places -----------------------------------------------------------------------------------------

function splice(text: string, start: number, end: number, inserted: string): string {
    return text.slice(0, start) + inserted + text.slice(end);
}

function lineStart(text: string, at: number): number {
    return text.lastIndexOf('\n', at - 1) + 1;
}

/** The end of a line, its line feed included. */
function lineEnd(text: string, at: number): number {
    const found = text.indexOf('\n', at);
    return found < 0 ? text.length : found + 1;
}

function rangeOf(node: unknown): [number, number, number] {
    const range = (node as Node | null | undefined)?.range;
    if (!range) throw new Error('a node without a place');
    return [range[0], range[1], range[2]];
}

/** Where a node's value begins and ends, without what follows it. */
export function extent(text: string, node: unknown): [number, number] {
    const [start, valueEnd] = rangeOf(node);
    let end = valueEnd;
    const isBlock = (isMap(node) || isSeq(node)) && !node.flow;
    const isBlockText = isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
    if (isBlock) end = lastEnd(text, node as YAMLMap | YAMLSeq);
    else if (isBlockText) while (end > start && /\s/.test(text[end - 1] ?? '')) end -= 1;
    return [start, end];
}

/** The end of the last thing in a block collection: comments after it do not belong to it. */
function lastEnd(text: string, node: YAMLMap | YAMLSeq): number {
    const last = node.items[node.items.length - 1] as unknown;
    if (last === undefined) return rangeOf(node)[1];
    if (isPair(last)) return pairEnd(text, last as Pair);
    return extent(text, last)[1];
}

function pairEnd(text: string, pair: Pair): number {
    const [, keyEnd] = rangeOf(pair.key);
    if (!hasValue(pair)) return Math.max(keyEnd, text.indexOf(':', keyEnd) + 1);
    return extent(text, pair.value)[1];
}

function hasValue(pair: Pair): boolean {
    const value = pair.value as Node | null;
    if (!value?.range) return false;
    return !(isScalar(value) && value.value === null && value.range[0] === value.range[1]);
}

function keyOf(pair: Pair): string {
    const key = pair.key as Scalar;
    return isScalar(key) && typeof key.source === 'string' ? key.source : String(key.value);
}

function nodeAt(document: Document.Parsed, path: Path): unknown {
    let node: unknown = document.contents;
    for (const step of path) {
        if (isMap(node)) node = node.items.find((pair) => keyOf(pair as Pair) === String(step))?.value;
        else if (isSeq(node)) node = node.items[Number(step)];
        else return undefined;
    }
    return node;
}

function pairAt(document: Document.Parsed, path: Path): Pair | undefined {
    const parent = nodeAt(document, path.slice(0, -1));
    const key = String(path[path.length - 1]);
    return isMap(parent) ? (parent.items.find((pair) => keyOf(pair as Pair) === key) as Pair | undefined) : undefined;
}

/** Where the item of a path is written, key included; undefined: there is none. */
export function place(text: string, path: Path): [number, number] | undefined {
    const document = parse(text);
    const pair = pairAt(document, path);
    if (pair) return [rangeOf(pair.key)[0], pairEnd(text, pair)];
    const node = nodeAt(document, path);
    return node === undefined || node === null ? undefined : extent(text, node);
}

/** The line (from 1) of an item's key; 0: there is none. */
export function lineOf(text: string, path: Path): number {
    const found = place(text, path);
    return found ? text.slice(0, found[0]).split('\n').length : 0;
}

/** How a value is written. */
export function written(text: string, path: Path): string {
    const node = nodeAt(parse(text), path);
    if (node === undefined || node === null) return '';
    const [start, end] = extent(text, node);
    return text.slice(start, end);
}

// --- edits ------------------------------------------------------------------------------------------

/** Set an item; what is missing around it is made. */
export function set(text: string, path: Path, value: Value): string {
    const document = parse(text);
    const step = path[path.length - 1];
    const parentPath = path.slice(0, -1);
    const parent = nodeAt(document, parentPath);
    if (isSeq(parent) && typeof step === 'number') {
        const node = parent.items[step];
        if (node === undefined) return insert(text, parentPath, step, value);
        return replaceNode(text, node, value, parent.flow === true);
    }
    const isEmptyBox = isMap(parent) && parent.items.length === 0 && parentPath.length === 1;
    if (isMap(parent) && !isEmptyBox) {
        const pair = pairAt(document, path);
        return pair ? replaceValue(text, parent, pair, value) : addPair(text, parent, String(step), value);
    }
    if (path.length === 1) {
        const start = text.trim() === '' ? '' : text.replace(/\n?$/, '\n');
        return `${start}${blockPair(String(step), value, '')}\n`;
    }
    // The mapping around it is missing, or empty: it is made, of the top level as a block.
    if (parentPath.length === 1) return makeBlock(text, document, String(parentPath[0]), String(step), value);
    return set(text, parentPath, { [String(step)]: value });
}

function makeBlock(text: string, document: Document.Parsed, key: string, inner: string, value: Value): string {
    const pair = pairAt(document, [key]);
    const line = `  ${blockPair(inner, value, '  ')}`;
    if (!pair) return `${text === '' || text.endsWith('\n') ? text : `${text}\n`}${key}:\n${line}\n`;
    const end = pairEnd(text, pair);
    const colon = text.indexOf(':', rangeOf(pair.key)[1]) + 1;
    const rest = text.slice(end, lineEnd(text, end));
    const next = splice(text, colon, end, '');
    const at = lineEnd(next, colon);
    const feed = rest.endsWith('\n') ? '' : '\n';
    return splice(next, at, at, `${feed}${line}\n`);
}

function replaceNode(text: string, node: unknown, value: Value, flow: boolean): string {
    const [start, end] = extent(text, node);
    return splice(text, start, end, render(value, flow));
}

function replaceValue(text: string, parent: YAMLMap, pair: Pair, value: Value): string {
    const keyEnd = rangeOf(pair.key)[1];
    const colon = text.indexOf(':', keyEnd) + 1;
    const flow = parent.flow === true;
    if (!hasValue(pair)) return splice(text, colon, colon, ` ${render(value, flow)}`);
    const [start, end] = extent(text, pair.value);
    const isBlock = text.slice(colon, start).includes('\n') || /^[|>]/.test(text.slice(start, start + 1));
    if (!isBlock) return splice(text, start, end, render(value, flow));
    return splice(text, colon, end, ` ${render(value, flow)}`);
}

function addPair(text: string, map: YAMLMap, key: string, value: Value): string {
    if (map.flow) {
        const [start, end] = rangeOf(map);
        const pair = `${scalarText(key, true)}: ${render(value)}`;
        const last = map.items[map.items.length - 1] as Pair | undefined;
        if (!last) return splice(text, start, end, `{${pair}}`);
        const at = pairEnd(text, last);
        return splice(text, at, at, `, ${pair}`);
    }
    const first = map.items[0] as Pair | undefined;
    if (!first) throw new Error('an empty block mapping');
    const [keyStart] = rangeOf(first.key);
    const indent = ' '.repeat(keyStart - lineStart(text, keyStart));
    const at = lineEnd(text, lastEnd(text, map));
    const feed = at > 0 && text[at - 1] !== '\n' ? '\n' : '';
    return splice(text, at, at, `${feed}${indent}${blockPair(key, value, indent)}\n`);
}

/** Put a new key before the others of a mapping; at the top level after the first one, which is the name. */
export function setFirst(text: string, path: Path, key: string, value: Value): string {
    const map = nodeAt(parse(text), path);
    const first = isMap(map) ? (map.items[0] as Pair | undefined) : undefined;
    if (!isMap(map) || first === undefined) return set(text, [...path, key], value);
    const [start] = rangeOf(first.key);
    if (map.flow) return splice(text, start, start, `${scalarText(key, true)}: ${render(value)}, `);
    if (path.length > 0) {
        const indent = ' '.repeat(start - lineStart(text, start));
        return splice(text, start, start, `${blockPair(key, value, indent)}\n${indent}`);
    }
    const at = lineEnd(text, pairEnd(text, first));
    const feed = text[at - 1] !== '\n' ? '\n' : '';
    return splice(text, at, at, `${feed}${blockPair(key, value, '')}\n`);
}

/** Insert an item into a list; a list that is missing is made. */
export function insert(text: string, path: Path, index: number, value: Value): string {
    const list = nodeAt(parse(text), path);
    if (!isSeq(list)) return set(text, path, [value]);
    const before = list.items[index];
    const last = list.items[list.items.length - 1];
    if (list.flow) {
        if (last === undefined) {
            const [start, end] = rangeOf(list);
            return splice(text, start, end, `[${render(value)}]`);
        }
        if (before !== undefined) {
            const [start] = itemExtent(text, before);
            return splice(text, start, start, `${render(value)}, `);
        }
        const [, end] = itemExtent(text, last);
        return splice(text, end, end, `, ${render(value)}`);
    }
    const [start] = itemExtent(text, list.items[0]);
    const dash = text.lastIndexOf('-', start - 1);
    const indent = ' '.repeat(dash - lineStart(text, dash));
    if (before !== undefined && index > 0) {
        const at = lineStart(text, text.lastIndexOf('-', itemExtent(text, before)[0] - 1));
        return splice(text, at, at, `${indent}- ${render(value)}\n`);
    }
    if (before !== undefined) return splice(text, dash, dash, `- ${render(value)}\n${indent}`);
    const at = lineEnd(text, itemExtent(text, last)[1]);
    const feed = text[at - 1] !== '\n' ? '\n' : '';
    return splice(text, at, at, `${feed}${indent}- ${render(value)}\n`);
}

function itemExtent(text: string, item: unknown): [number, number] {
    if (isPair(item)) return [rangeOf((item as Pair).key)[0], pairEnd(text, item as Pair)]; // [a: b] in brackets
    return extent(text, item);
}

/** Remove an item of a mapping or list. What becomes empty goes as well, except of the top level. */
export function remove(text: string, path: Path): string {
    const document = parse(text);
    const parentPath = path.slice(0, -1);
    const parent = nodeAt(document, parentPath);
    const step = path[path.length - 1];
    if (!isMap(parent) && !isSeq(parent)) return text;
    const index = isMap(parent) ? parent.items.findIndex((pair) => keyOf(pair as Pair) === String(step)) : Number(step);
    const items = parent.items as unknown[];
    if (items[index] === undefined) return text;
    if (items.length === 1 && parentPath.length > 0) {
        if (parentPath.length === 1 && (parentPath[0] === 'nodes' || parentPath[0] === 'actions')) {
            return emptied(text, document, parentPath);
        }
        return remove(text, parentPath);
    }
    const [start, end] = itemExtent(text, items[index]);
    if (parent.flow) {
        const next = items[index + 1];
        if (next !== undefined) return splice(text, start, itemExtent(text, next)[0], '');
        if (index > 0) return splice(text, itemExtent(text, items[index - 1])[1], end, '');
        return splice(text, start, end, '');
    }
    const begin = isSeq(parent) ? text.lastIndexOf('-', start - 1) : start;
    const line = lineStart(text, begin);
    if (text.slice(line, begin).trim() !== '') {
        // The first key after a dash: the next one takes its place.
        const next = items[index + 1];
        return next === undefined ? splice(text, begin, end, '{}') : splice(text, begin, itemExtent(text, next)[0], '');
    }
    return splice(text, line, lineEnd(text, end), '');
}

function emptied(text: string, document: Document.Parsed, path: Path): string {
    const pair = pairAt(document, path);
    if (!pair) return text;
    const colon = text.indexOf(':', rangeOf(pair.key)[1]) + 1;
    return splice(text, colon, pairEnd(text, pair), ' {}');
}

/** Give a key another name. */
export function renameKey(text: string, path: Path, name: string): string {
    const pair = pairAt(parse(text), path);
    if (!pair) return text;
    const [start, end] = rangeOf(pair.key);
    return splice(text, start, end, scalarText(name, true));
}

/** Replace scalars, and keys of no mapping. `change` returns the new value, or undefined to leave it. */
export function mapScalars(text: string, change: (value: Value, path: Path) => Value | undefined): string {
    const edits: [number, number, string][] = [];
    const walk = (node: unknown, path: Path, flow: boolean): void => {
        if (isMap(node)) {
            for (const item of node.items) {
                const pair = item as Pair;
                walk(pair.value, [...path, keyOf(pair)], flow || node.flow === true);
            }
        } else if (isSeq(node)) {
            for (const [index, item] of node.items.entries()) walk(item, [...path, index], flow || node.flow === true);
        } else if (isScalar(node) && node.range) {
            const next = change(node.value as Value, path);
            if (next !== undefined && next !== node.value)
                edits.push([...extent(text, node), renderLike(node, next, flow)]);
        }
    };
    walk(parse(text).contents, [], false);
    edits.sort((a, b) => b[0] - a[0]);
    return edits.reduce((found, [start, end, inserted]) => splice(found, start, end, inserted), text);
}

function renderLike(node: Scalar, value: Value, flow: boolean): string {
    if (typeof value === 'string' && node.type === 'QUOTE_SINGLE') return `'${value.replaceAll("'", "''")}'`;
    if (typeof value === 'string' && node.type === 'QUOTE_DOUBLE') return JSON.stringify(value);
    return render(value, flow);
}

export { stringify };
