// Nodes that a person folded into one box of the picture. They stand under `view`, beside the places of moved nodes:
//   view: {greeting: {nodes: [look, greet], at: [40, 120]}}      folded; `open: true`: unfolded, and remembered
// so all who open the file see the same, undo and versions have it, and nothing but pictures reads it.

import { arrange, moveNode } from './blueprint_edits.ts';
import { type Graph, isRecord, type Json, readGraph, texts } from './graph.ts';
import { remove, renameKey, set, type Value } from './yaml_edit.ts';

export interface Fold {
    name: string;
    nodes: string[];
    open: boolean;
    place: [number, number] | null;
}

const MARK = '&';

/** The id of a folded box in the picture: no node has it. */
export function boxId(name: string): string {
    return MARK + name;
}

function viewOf(graph: Graph): Json {
    return !graph.isProgram && isRecord(graph.content.view) ? graph.content.view : {};
}

function isFold(value: unknown): value is Json {
    return isRecord(value) && value.nodes !== undefined;
}

/** What is folded, or was. A node is in one of them at most; a node's own name goes before. */
export function foldsOf(graph: Graph): Fold[] {
    const free = new Set(graph.nodes.map((node) => node.id));
    const known = new Set(free);
    return Object.entries(viewOf(graph)).flatMap(([name, value]): Fold[] => {
        if (!isFold(value) || known.has(name)) return [];
        const nodes = texts(value.nodes).filter((id) => free.delete(id));
        const at =
            Array.isArray(value.at) && value.at.length === 2 && value.at.every((n) => typeof n === 'number')
                ? value.at
                : null;
        return nodes.length === 0
            ? []
            : [{ name, nodes, open: value.open === true, place: at as [number, number] | null }];
    });
}

/** The nodes that a box of the picture stands for. */
export function nodesOf(graph: Graph, box: string): string[] {
    if (!box.startsWith(MARK)) return [box];
    return foldsOf(graph).find((fold) => boxId(fold.name) === box)?.nodes ?? [];
}

/** The fold of exactly these nodes; undefined: there is none. */
export function foldOf(graph: Graph, ids: readonly string[]): Fold | undefined {
    return foldsOf(graph).find(
        (fold) => fold.nodes.length === ids.length && fold.nodes.every((id) => ids.includes(id)),
    );
}

function rename(list: readonly string[], change: (id: string) => string | undefined): string[] {
    return list.flatMap((id) => change(id) ?? []);
}

/** Change the nodes of all folds; one without nodes goes. */
function eachFold(text: string, change: (id: string) => string | undefined): string {
    let next = text;
    for (const [name, value] of Object.entries(viewOf(readGraph(text)))) {
        if (!isFold(value)) continue;
        const before = texts(value.nodes);
        const after = rename(before, change);
        if (after.length === 0) next = remove(next, ['view', name]);
        else if (after.join() !== before.join()) next = set(next, ['view', name, 'nodes'], after);
    }
    return next;
}

/** Fold nodes into one box; those that were folded together before get that box again. */
export function fold(text: string, ids: readonly string[]): string {
    const graph = readGraph(text);
    const known = graph.nodes.filter((node) => ids.includes(node.id));
    if (known.length === 0) return text;
    const again = foldOf(
        graph,
        known.map((node) => node.id),
    );
    if (again) return again.open ? remove(text, ['view', again.name, 'open']) : text;
    const next = eachFold(text, (id) => (ids.includes(id) ? undefined : id));
    const taken = new Set([...graph.nodes.map((node) => node.id), ...Object.keys(viewOf(readGraph(next)))]);
    let name = 'group';
    for (let n = 2; taken.has(name); n += 1) name = `group_${n}`;
    const content: { [key: string]: Value } = { nodes: known.map((node) => node.id) };
    // Among nodes that a person placed it stands where the uppermost of them did.
    const [first] = known
        .filter((node) => node.place !== null)
        .sort((a, b) => (a.place?.[1] ?? 0) - (b.place?.[1] ?? 0));
    if (first?.place) content.at = [...first.place];
    return set(next, ['view', name], content);
}

export function unfold(text: string, name: string): string {
    return set(text, ['view', name, 'open'], true);
}

/** Forget a fold: its nodes are in no box any more. */
export function dissolve(text: string, name: string): string {
    return remove(text, ['view', name]);
}

export function renameFold(text: string, from: string, to: string): string {
    return renameKey(text, ['view', from], to);
}

/** After nodes were removed: folds without them. */
export function tidyFolds(text: string): string {
    const known = new Set(readGraph(text).nodes.map((node) => node.id));
    return eachFold(text, (id) => (known.has(id) ? id : undefined));
}

/** After a node got another id. */
export function renameInFolds(text: string, from: string, to: string): string {
    return eachFold(text, (id) => (id === from ? to : id));
}

/** Move a node or a folded box: one line of `view` changes. */
export function moveBox(text: string, id: string, x: number, y: number): string {
    return id.startsWith(MARK)
        ? set(text, ['view', id.slice(1), 'at'], [Math.round(x), Math.round(y)])
        : moveNode(text, id, x, y);
}

/** Whether a person placed anything. */
export function hasPlaces(graph: Graph): boolean {
    const view = isRecord(graph.content.view) ? graph.content.view : {};
    return Object.values(view).some((value) => !isFold(value) || value.at !== undefined);
}

/** Let the layout place everything again; what is folded stays so. */
export function arrangeAll(text: string): string {
    const view = viewOf(readGraph(text));
    if (!Object.values(view).some(isFold)) return arrange(text);
    return Object.entries(view).reduce((found, [name, value]) => {
        if (!isFold(value)) return remove(found, ['view', name]);
        return value.at === undefined ? found : remove(found, ['view', name, 'at']);
    }, text);
}
