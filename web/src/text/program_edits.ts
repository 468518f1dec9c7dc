// What a person does with the states, reactions and declarations of a program, as functions from text to text.

import { type Graph, isRecord, type Json, listed, readGraph, texts } from './graph.ts';
import { arrange, renamePlace } from './places.ts';
import { insert, mapScalars, type Path, place, Raw, remove, renameKey, set, type Value, written } from './yaml_edit.ts';

/** The owner of a reaction: a state; empty: none, it is judged in every state. */
type Owner = string;

export function newProgram(name: string): string {
    return `name: ${name}\ndescription: ''\nactions: {}\n`;
}

function bodyOf(graph: Graph, id: string): Json {
    return graph.nodes.find((node) => node.id === id)?.content ?? {};
}

function reactionsPath(owner: Owner): Path {
    return owner === '' ? ['reactions'] : ['actions', owner, 'reactions'];
}

export function reactionsOf(graph: Graph, owner: Owner): Json[] {
    return listed(owner === '' ? graph.content.reactions : bodyOf(graph, owner).reactions).map((each) =>
        isRecord(each) ? each : {},
    );
}

/** One name is written without brackets; none: undefined. */
function names(list: readonly string[]): Value | undefined {
    return list.length === 0 ? undefined : list.length === 1 ? (list[0] as string) : [...list];
}

// --- states -----------------------------------------------------------------------------------------

/** Whether a program begins with a state. */
export function setStart(text: string, id: string, begins: boolean): string {
    const now = texts(readGraph(text).content.start);
    if (now.includes(id) === begins) return text;
    const next = names(begins ? [...now, id] : now.filter((each) => each !== id));
    return next === undefined ? remove(text, ['start']) : set(text, ['start'], next);
}

/** Add a state; the first one is the start. */
export function addState(text: string, id: string, content: { [key: string]: Value }): string {
    const graph = readGraph(text);
    const next = set(text, ['actions', id], content);
    if (graph.nodes.length > 0 || texts(graph.content.start).length > 0) return next;
    // Before the states, where a reader looks for it.
    const at = place(next, ['actions'])?.[0];
    return at === undefined ? set(next, ['start'], id) : `${next.slice(0, at)}start: ${id}\n${next.slice(at)}`;
}

/**
 * Remove states, and all that leads to them. Conditions that name them stay, for they are mistakes that somebody has to
 * decide.
 */
export function deleteStates(text: string, ids: readonly string[]): string {
    const gone = new Set(ids);
    let next = text;
    const graph = readGraph(text);
    for (const owner of ['', ...graph.nodes.map((node) => node.id).filter((id) => !gone.has(id))]) {
        const reactions = reactionsOf(graph, owner);
        for (let index = reactions.length - 1; index >= 0; index -= 1) {
            const targets = texts(reactions[index]?.start);
            const left = targets.filter((each) => !gone.has(each));
            if (left.length < targets.length) next = setTargets(next, owner, index, left);
        }
        const exits = bodyOf(graph, owner).exits;
        for (const [exit, targets] of Object.entries(isRecord(exits) ? exits : {})) {
            const left = texts(targets).filter((each) => !gone.has(each));
            if (left.length < texts(targets).length) next = setExit(next, owner, exit, left);
        }
    }
    for (const id of ids) next = setStart(remove(arrange(next, [id]), ['actions', id]), id, false);
    const rest = readGraph(next);
    const first = rest.nodes[0];
    if (first && texts(graph.content.start).length > 0 && texts(rest.content.start).length === 0)
        next = addStartBefore(next, first.id);
    return next;
}

function addStartBefore(text: string, id: string): string {
    const at = place(text, ['actions'])?.[0];
    return at === undefined ? set(text, ['start'], id) : `${text.slice(0, at)}start: ${id}\n${text.slice(at)}`;
}

function escaped(name: string): string {
    return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const READS = new Set(['when', 'capture', 'signal', 'inputs']);

/** Give a state another id: reactions, exits, the start set, and conditions that read it follow. */
export function renameState(text: string, from: string, to: string): string {
    const graph = readGraph(text);
    if (from === to || !graph.nodes.some((node) => node.id === from)) return text;
    const read = new RegExp(`(?<![\\w.$])${escaped(from)}(?=(__\\w+)?\\.)`, 'g');
    const next = mapScalars(text, (value, path) => {
        if (typeof value !== 'string') return undefined;
        const keys = path.filter((step): step is string => typeof step === 'string');
        const last = keys[keys.length - 1] ?? '';
        const isTarget =
            keys.join() === 'start' ||
            (keys.includes('reactions') && last === 'start') ||
            (keys[0] === 'actions' && keys[2] === 'exits');
        if (isTarget) return value === from ? to : undefined;
        const isRead =
            READS.has(last) || (keys[0] === 'actions' && keys[2] === 'strategies' && keys.includes('inputs'));
        return isRead ? value.replace(read, to) : undefined;
    });
    return renamePlace(renameKey(next, ['actions', from], to), from, to);
}

/** Give a parameter another name: all values and conditions that use it follow. */
export function renameParameter(text: string, from: string, to: string): string {
    const used = new RegExp(`(?<!\\$)\\$${escaped(from)}(?!\\w)`, 'g');
    const next = mapScalars(text, (value, path) =>
        typeof value === 'string' && path[0] !== 'description' ? value.replace(used, `$$${to}`) : undefined,
    );
    return renameKey(next, ['parameters', from], to);
}

/** Give a role another name: parts and conditions follow. */
export function renameRole(text: string, from: string, to: string): string {
    const read = new RegExp(`(?<![\\w.$])${escaped(from)}(?=\\.)`, 'g');
    const next = mapScalars(text, (value, path) => {
        if (typeof value !== 'string' || path[0] === 'roles') return undefined;
        const keys = path.filter((step): step is string => typeof step === 'string');
        const last = keys[keys.length - 1] ?? '';
        if (keys.includes('parts') || last === 'part') return value === from ? to : undefined;
        return READS.has(last) || keys.includes('inputs') ? value.replace(read, to) : undefined;
    });
    return renameKey(next, ['roles', from], to);
}

// --- reactions --------------------------------------------------------------------------------------

/** Add a reaction, judged after those that are there. */
export function addReaction(text: string, owner: Owner, fields: { [key: string]: Value }): string {
    return insert(text, reactionsPath(owner), reactionsOf(readGraph(text), owner).length, fields);
}

/** Draw from a state to another one. `exit`: of a used program, that it leaves with. */
export function drawReaction(text: string, from: string, to: string, exit = ''): string {
    const body = bodyOf(readGraph(text), from);
    if (body.use === undefined) return addReaction(text, from, { when: 'is_done', start: to });
    const now = isRecord(body.exits) ? texts(body.exits[exit]) : [];
    return setExit(text, from, exit, now.includes(to) ? now : [...now, to]);
}

/** Set a field of a reaction; undefined, false and '' remove it. */
export function setReaction(text: string, owner: Owner, index: number, key: string, value: Value | undefined): string {
    const path = [...reactionsPath(owner), index, key];
    const empty =
        value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0);
    if (!empty) return set(text, path, value);
    return reactionsOf(readGraph(text), owner)[index]?.[key] === undefined ? text : remove(text, path);
}

const DOES = ['start', 'stop', 'signal', 'event'];

/** The states that a reaction starts. One that then does nothing goes away. */
export function setTargets(text: string, owner: Owner, index: number, targets: readonly string[]): string {
    const reaction = reactionsOf(readGraph(text), owner)[index] ?? {};
    if (targets.length === 0 && !DOES.some((key) => key !== 'start' && reaction[key] !== undefined))
        return removeReaction(text, owner, index);
    return setReaction(text, owner, index, 'start', names(targets));
}

export function removeReaction(text: string, owner: Owner, index: number): string {
    return remove(text, [...reactionsPath(owner), index]);
}

/** Reactions are judged in order: put one elsewhere, as it is written. */
export function moveReaction(text: string, owner: Owner, index: number, to: number): string {
    return moveItem(text, reactionsPath(owner), reactionsOf(readGraph(text), owner), index, to);
}

/** Put an item of a list of mappings elsewhere, as it is written. */
export function moveItem(text: string, path: Path, items: readonly Json[], index: number, to: number): string {
    if (to < 0 || to >= items.length || index === to) return text;
    const now = written(text, [...path, index]);
    const item: Value =
        now.startsWith('{') && !now.includes('\n') ? new Raw(now) : (items[index] as { [key: string]: Value });
    return insert(remove(text, [...path, index]), path, to, item);
}

/** Remove a link of the picture: of a reaction or exit, only the way to one state. */
export function removeLink(text: string, owner: Owner, index: number, go = ''): string {
    const graph = readGraph(text);
    const body = bodyOf(graph, owner);
    if (body.use !== undefined) {
        const [exit, targets] = Object.entries(isRecord(body.exits) ? body.exits : {})[index] ?? [];
        return exit === undefined
            ? text
            : setExit(text, owner, exit, go === '' ? [] : texts(targets).filter((each) => each !== go));
    }
    const targets = texts(reactionsOf(graph, owner)[index]?.start);
    return targets.length > 1 && go !== ''
        ? setTargets(
              text,
              owner,
              index,
              targets.filter((each) => each !== go),
          )
        : removeReaction(text, owner, index);
}

/** Let a link lead elsewhere, or come from another state; its condition comes along. */
export function moveLink(text: string, owner: Owner, index: number, oldGo: string, from: string, go: string): string {
    const graph = readGraph(text);
    const reaction = reactionsOf(graph, owner)[index];
    if (
        bodyOf(graph, owner).use !== undefined ||
        bodyOf(graph, from).use !== undefined ||
        !reaction ||
        go.startsWith('@')
    )
        return text;
    if (from === owner) {
        const targets = texts(reaction.start);
        return setTargets(
            text,
            owner,
            index,
            targets.length === 0 ? [go] : [...new Set(targets.map((each) => (each === oldGo ? go : each)))],
        );
    }
    return removeLink(
        addReaction(text, from, { ...(reaction as { [key: string]: Value }), start: go }),
        owner,
        index,
        oldGo,
    );
}

/** What follows an exit of a used program. */
export function setExit(text: string, state: string, exit: string, targets: readonly string[]): string {
    const path = ['actions', state, 'exits', exit];
    const value = names(targets);
    if (value !== undefined) return set(text, path, value);
    const exits = bodyOf(readGraph(text), state).exits;
    return isRecord(exits) && exits[exit] !== undefined ? remove(text, path) : text;
}

/** Put a new state into a link. */
export function insertState(
    text: string,
    from: string,
    index: number,
    id: string,
    content: { [key: string]: Value },
): string {
    const graph = readGraph(text);
    const link = graph.nodes.find((node) => node.id === from)?.candidates.find((each) => each.index === index);
    if (!link || link.go === '') return text;
    const next = set(text, ['actions', id], { ...content, reactions: [{ when: 'is_done', start: link.go }] });
    const renamed = (targets: unknown): string[] => texts(targets).map((each) => (each === link.go ? id : each));
    if (bodyOf(graph, from).use !== undefined) {
        const exits = bodyOf(graph, from).exits;
        return setExit(next, from, link.on[0] ?? '', renamed(isRecord(exits) ? exits[link.on[0] ?? ''] : []));
    }
    return setTargets(next, from, index, renamed(reactionsOf(graph, from)[index]?.start));
}

// --- parts ------------------------------------------------------------------------------------------

export interface Slot {
    name: string;
    kinds: string[];
}

/** The part of each slot, as a state has it written: one, a list in the slots' order, or slot: part. */
export function partsOf(content: Json, slots: readonly Slot[]): Record<string, string> {
    const parts = content.parts;
    if (isRecord(parts)) return Object.fromEntries(Object.entries(parts).map(([slot, part]) => [slot, String(part)]));
    return Object.fromEntries(texts(parts).map((part, n) => [slots[n]?.name ?? String(n), part]));
}

/** Give a slot a part; the others stay. One slot: without its name. */
export function setPart(text: string, state: string, slots: readonly Slot[], slot: string, part: string): string {
    const content = bodyOf(readGraph(text), state);
    const path = ['actions', state, 'parts'];
    if (isRecord(content.parts)) return part === '' ? remove(text, [...path, slot]) : set(text, [...path, slot], part);
    if (slots.length === 1)
        return part === '' ? remove(text, path) : set(text, path, Array.isArray(content.parts) ? [part] : part);
    const now = { ...partsOf(content, slots), [slot]: part };
    const given = Object.fromEntries(
        slots.map(({ name }) => [name, now[name] ?? '']).filter(([, each]) => each !== ''),
    );
    return set(text, path, given);
}

// --- lines ------------------------------------------------------------------------------------------

/**
 * The state, and the index of its reaction, that a line is part of; -1: no reaction. A free-standing one has the state
 * ''.
 */
export function placeOfLine(text: string, line: number): { state: string; reaction: number } {
    const graph = readGraph(text);
    if (line < 1) return { state: '', reaction: -1 };
    const holds = inLine(text, line);
    for (const owner of [...graph.nodes.map((node) => node.id), '']) {
        if (owner !== '' && !holds(['actions', owner])) continue;
        const reaction = itemOfLine(text, line, reactionsPath(owner), reactionsOf(graph, owner).length);
        if (owner !== '' || reaction >= 0) return { state: owner, reaction };
    }
    return { state: '', reaction: -1 };
}

/** The item of a list that a line is part of; -1: none, or several are in that line. */
export function itemOfLine(text: string, line: number, path: Path, count: number): number {
    if (line < 1) return -1;
    const holds = inLine(text, line);
    const found = [...Array(count).keys()].filter((index) => holds([...path, index]));
    return found.length === 1 ? (found[0] as number) : -1;
}

function inLine(text: string, line: number): (path: Path) => boolean {
    const begin = text
        .split('\n')
        .slice(0, line - 1)
        .reduce((sum, each) => sum + each.length + 1, 0);
    const end = (text.indexOf('\n', begin) + 1 || text.length + 1) - 1;
    return (path) => {
        const found = place(text, path);
        return found !== undefined && found[0] <= end && begin <= found[1];
    };
}
