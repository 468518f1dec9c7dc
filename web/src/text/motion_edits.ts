// What a person does with the motion commands and the strategies of a program's state, as functions from text to text.

import { type Graph, isRecord, type Json, listed, readGraph } from './graph.ts';
import { itemOfLine, moveItem } from './program_edits.ts';
import { insert, lineOf, type Path, remove, set, type Value } from './yaml_edit.ts';

function bodyOf(graph: Graph, state: string): Json {
    return graph.nodes.find((node) => node.id === state)?.content ?? {};
}

function records(value: unknown): Json[] {
    return listed(value).map((each) => (isRecord(each) ? each : {}));
}

// --- motion commands --------------------------------------------------------------------------------

/** What a motion command can go to, each with the keys that only it has. */
export const TARGETS: Record<string, string[]> = {
    position: ['position'],
    pose: ['pose'],
    velocity: ['velocity', 'time'],
    trajectory: ['trajectory'],
};

export function commandsOf(graph: Graph, state: string): Json[] {
    return records(bodyOf(graph, state).commands);
}

export function targetOf(command: Json): string {
    return Object.keys(TARGETS).find((target) => command[target] !== undefined) ?? '';
}

/** What a command to a target begins with, of a part with so many joints. */
function beginning(target: string, joints: number): { [key: string]: Value } {
    const zeros: Value[] = Array<number>(Math.max(joints, 1)).fill(0);
    switch (target) {
        case 'pose':
            return { pose: { position: [0, 0, 0], orientation: [0, 0, 0, 1] } };
        case 'velocity':
            return { velocity: zeros, time: 1 };
        case 'trajectory':
            return { trajectory: { times: [0, 1], positions: [zeros, zeros] } };
        default:
            return { position: zeros };
    }
}

/** A new command: the part to where its joints are zero. */
export function newCommand(part: string, joints: number): { [key: string]: Value } {
    return { part, ...beginning('position', joints) };
}

/** Add a command; its part carries it out after those that are there. */
export function addCommand(text: string, state: string, part: string, joints: number): string {
    return insert(
        text,
        ['actions', state, 'commands'],
        commandsOf(readGraph(text), state).length,
        newCommand(part, joints),
    );
}

export function removeCommand(text: string, state: string, index: number): string {
    return remove(text, ['actions', state, 'commands', index]);
}

/** A part carries its commands out in their order: put one elsewhere, as it is written. */
export function moveCommand(text: string, state: string, index: number, to: number): string {
    return moveItem(text, ['actions', state, 'commands'], commandsOf(readGraph(text), state), index, to);
}

/** Set a key of a command, such as "speed" or "pose.position"; undefined removes it. */
export function setCommand(text: string, state: string, index: number, key: string, value: Value | undefined): string {
    const path: Path = ['actions', state, 'commands', index, ...key.split('.')];
    return value === undefined ? remove(text, path) : set(text, path, value);
}

/** Let a command go to something else; its limits stay. */
export function setTarget(text: string, state: string, index: number, target: string, joints: number): string {
    const path: Path = ['actions', state, 'commands', index];
    const command = commandsOf(readGraph(text), state)[index] ?? {};
    if (targetOf(command) === target) return text;
    const given = beginning(target, joints);
    const next = Object.entries(given).reduce((found, [key, value]) => set(found, [...path, key], value), text);
    const gone = Object.values(TARGETS)
        .flat()
        .filter((key) => command[key] !== undefined && given[key] === undefined);
    return gone.reduce((found, key) => remove(found, [...path, key]), next);
}

/** The command that a mistake is of: as its text says, or by its line; -1: none. */
export function commandOfMistake(text: string, state: string, mistake: { line: number; text: string }): number {
    const path = /commands\[(\d+)\]/.exec(mistake.text);
    if (path) return Number(path[1]);
    const named = /motion command (\d+)/.exec(mistake.text);
    if (named) return Number(named[1]) - 1;
    if (lineOf(text, ['actions', state]) === mistake.line) return -1; // all of it may be in that line
    return itemOfLine(text, mistake.line, ['actions', state, 'commands'], commandsOf(readGraph(text), state).length);
}

// --- strategies -------------------------------------------------------------------------------------

function listPath(state: string, axis: string): Path {
    return ['actions', state, 'strategies', axis];
}

/** Degree of freedom → its strategies, in order of priority. */
export function strategiesOf(graph: Graph, state: string): [string, Json[]][] {
    const strategies = bodyOf(graph, state).strategies;
    return Object.entries(isRecord(strategies) ? strategies : {}).map(([axis, list]) => [axis, records(list)]);
}

function listOf(graph: Graph, state: string, axis: string): Json[] {
    return strategiesOf(graph, state).find(([each]) => each === axis)?.[1] ?? [];
}

/** A name after a law that no strategy of a list has. */
function freeName(list: readonly Json[], law: string): string {
    const taken = new Set(list.map((each) => String(each.name)));
    const wanted = law.replace(/\W/g, '_');
    let name = wanted;
    for (let n = 2; taken.has(name); n += 1) name = `${wanted}_${n}`;
    return name;
}

/** Add a strategy with a law. The first one of a degree of freedom always governs; another one comes before it. */
export function addStrategy(text: string, state: string, axis: string, law: string): string {
    const list = listOf(readGraph(text), state, axis);
    const name = freeName(list, law);
    if (list.length === 0) return set(text, listPath(state, axis), [{ name, law }]);
    const last = list[list.length - 1]?.when === undefined ? list.length - 1 : list.length;
    return insert(text, listPath(state, axis), last, { name, when: 'false', law });
}

/** Remove a strategy; of its last one, the degree of freedom does again what the action does. */
export function removeStrategy(text: string, state: string, axis: string, index: number): string {
    return remove(text, [...listPath(state, axis), index]);
}

/** The first one whose condition holds governs: put one elsewhere, as it is written. */
export function moveStrategy(text: string, state: string, axis: string, index: number, to: number): string {
    return moveItem(text, listPath(state, axis), listOf(readGraph(text), state, axis), index, to);
}

/** Set a key of a strategy; undefined, '' and empty lists remove it. */
export function setStrategy(
    text: string,
    state: string,
    axis: string,
    index: number,
    key: Path,
    value: Value | undefined,
): string {
    const path: Path = [...listPath(state, axis), index, ...key];
    const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
    return isEmpty ? remove(text, path) : set(text, path, value);
}

/**
 * Give a strategy another law: parameters and inputs that it does not have go away. A name that was the law's follows.
 */
export function setLaw(
    text: string,
    state: string,
    axis: string,
    index: number,
    law: { name: string; parameters: string[]; inputs: string[] },
): string {
    const list = listOf(readGraph(text), state, axis);
    const now = list[index] ?? {};
    let next = set(text, [...listPath(state, axis), index, 'law'], law.name);
    const isOfLaw = String(now.name).replace(/_\d+$/, '') === String(now.law).replace(/\W/g, '_');
    if (isOfLaw)
        next = set(
            next,
            [...listPath(state, axis), index, 'name'],
            freeName(
                list.filter((_, n) => n !== index),
                law.name,
            ),
        );
    for (const [key, known] of [
        ['parameters', law.parameters],
        ['inputs', law.inputs],
    ] as const) {
        const given = now[key];
        for (const name of Object.keys(isRecord(given) ? given : {})) {
            if (!known.includes(name)) next = remove(next, [...listPath(state, axis), index, key, name]);
        }
    }
    return now.parts === undefined ? next : remove(next, [...listPath(state, axis), index, 'parts']);
}

/** The strategy that a mistake is of: as its text says, or by its line. Index -1: the degree of freedom as a whole. */
export function strategyOfMistake(
    text: string,
    state: string,
    mistake: { line: number; text: string },
): { axis: string; index: number } | undefined {
    const found = strategiesOf(readGraph(text), state);
    const path = /strategies\.(.+?)\[(\d+)\](?=[.:\s]|$)/.exec(mistake.text);
    if (path && found.some(([axis]) => axis === path[1])) return { axis: path[1] as string, index: Number(path[2]) };
    const named = /strategy '([^']*)' of '([^']*)'/.exec(mistake.text);
    for (const [axis, list] of found) {
        const index = named && named[2] === axis ? list.findIndex((each) => String(each.name) === named[1]) : -1;
        if (index >= 0) return { axis, index };
    }
    const whole = /strategies of '([^']*)'(?:: strategy '([^']*)')?/.exec(mistake.text);
    const list = found.find(([axis]) => axis === whole?.[1]);
    if (list) return { axis: list[0], index: list[1].findIndex((each) => String(each.name) === whole?.[2]) };
    if (lineOf(text, ['actions', state]) === mistake.line) return undefined;
    for (const [axis, list] of found) {
        const index = itemOfLine(text, mistake.line, listPath(state, axis), list.length);
        if (index >= 0) return { axis, index };
    }
    return undefined;
}

/** The field of a strategy that a mistake is of: when, capture, inputs.NAME, parameters.NAME; '': none of these. */
export function fieldOfStrategy(mistake: { text: string }): string {
    const what = mistake.text.split('. expected')[0] ?? '';
    const named = /: (input|parameter) '([^']*)'/.exec(what);
    if (named) return `${named[1]}s.${named[2]}`;
    if (/^condition of |has no condition|(:|\.) ?when\b/.test(what)) return 'when';
    if (/captures|\.capture\b/.test(what)) return 'capture';
    const path = /\]\.((?:inputs|parameters)\.\w+)/.exec(what);
    return path?.[1] ?? '';
}

/** The key that a mistake is of; '': none of these. */
export function keyOfMistake(mistake: { text: string }, keys: readonly string[]): string {
    const what = mistake.text.split('. expected')[0] ?? '';
    const at = (key: string): number => what.search(new RegExp(`(^|[.:\\s])${key.replace('.', '\\.')}(?=$|[\\s.:;[])`));
    const found = keys.map((key): [string, number] => [key, Math.max(at(key), at(key.split('.').pop() ?? key))]);
    return found.filter(([, where]) => where >= 0).sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}
