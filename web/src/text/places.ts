// Places that a person gave to nodes and states: `view:` of a text, each in a line of its own.

import { data, remove, renameKey, set } from './yaml_edit.ts';

function viewOf(text: string): Record<string, unknown> {
    const content = data(text);
    const view =
        typeof content === 'object' && content !== null ? (content as Record<string, unknown>).view : undefined;
    return typeof view === 'object' && view !== null ? (view as Record<string, unknown>) : {};
}

/** The place of a node; null: the layout decides. */
export function placeOf(view: unknown, id: string): [number, number] | null {
    const found = typeof view === 'object' && view !== null ? (view as Record<string, unknown>)[id] : undefined;
    return Array.isArray(found) && found.length === 2 && found.every((n) => typeof n === 'number')
        ? [found[0] as number, found[1] as number]
        : null;
}

/** Move a node: one line of `view` changes. */
export function moveNode(text: string, id: string, x: number, y: number): string {
    return set(text, ['view', id], [Math.round(x), Math.round(y)]);
}

/** Let the layout place nodes again; none named: all. */
export function arrange(text: string, ids?: readonly string[]): string {
    if (ids === undefined) return remove(text, ['view']);
    const view = viewOf(text);
    return ids.filter((id) => view[id] !== undefined).reduce((found, id) => remove(found, ['view', id]), text);
}

/** The place of a node that gets another name follows. */
export function renamePlace(text: string, from: string, to: string): string {
    return viewOf(text)[from] === undefined ? text : renameKey(text, ['view', from], to);
}
