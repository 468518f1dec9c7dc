// What a node can do without a skill: the table that the editor's server sends (blueprint/text/node_kinds.py).

import type { NodeField, NodeKind } from '../wire.ts';

let kinds: ReadonlyMap<string, NodeKind> = new Map();

/** Take the table, before the first text is read. */
export function takeKinds(found: readonly NodeKind[]): void {
    kinds = new Map(found.map((kind) => [kind.name, kind]));
}

export function allKinds(): NodeKind[] {
    return [...kinds.values()];
}

export function kindNamed(name: string): NodeKind | undefined {
    return kinds.get(name);
}

/** Names of the kinds that have a field of one of these forms. */
export function kindsWith(...forms: NodeField['form'][]): string[] {
    return allKinds()
        .filter((kind) => kind.fields.some((field) => forms.includes(field.form)))
        .map((kind) => kind.name);
}

/** What is written in a field. */
export function writtenIn(kind: NodeKind, field: NodeField, content: Record<string, unknown>): unknown {
    const whole = content[kind.name];
    if (field.key === '') return whole;
    return (whole as Record<string, unknown> | null | undefined)?.[field.key];
}

/** The results that a node of a kind has by what is written in it; null: `done` alone. */
export function resultsIn(kind: NodeKind | undefined, content: Record<string, unknown>): string[] | null {
    const field = kind?.fields.find((each) => each.gives_results);
    if (!kind || !field) return null;
    const written = writtenIn(kind, field, content) ?? field.default;
    return Array.isArray(written) ? written.map(String) : Object.keys(written);
}
