// What a person does with the branches of all_of and first_of, as functions from text to text. The path leads to the
// call that has them.

import { changeCandidate, valueAt } from './blueprint_edits.ts';
import { isRecord, type Json, readGraph, texts } from './graph.ts';
import { kindNamed, resultsIn } from './node_kinds.ts';
import { mapScalars, type Path, remove, renameKey, set, type Value } from './yaml_edit.ts';

function branchesAt(text: string, path: Path, kind: string): Json {
    const found = valueAt(text, [...path, kind]);
    return isRecord(found) ? found : {};
}

/** Add a branch that waits a second, under a free name. */
export function addBranch(text: string, path: Path, kind: string): string {
    const known = branchesAt(text, path, kind);
    let n = Object.keys(known).length + 1;
    while (`branch_${n}` in known) n += 1;
    return set(text, [...path, kind, `branch_${n}`], { wait: 1 });
}

/** Let a branch do something else. */
export function changeBranch(
    text: string,
    path: Path,
    kind: string,
    name: string,
    content: { [key: string]: Value },
): string {
    return set(text, [...path, kind, name], content);
}

/**
 * Remove a branch, but not the last one. What follows its result stays: it is a mistake that somebody has to decide.
 */
export function removeBranch(text: string, path: Path, kind: string, name: string): string {
    return Object.keys(branchesAt(text, path, kind)).length < 2 ? text : remove(text, [...path, kind, name]);
}

/** Give a branch another name: of first_of it is a result, and candidates follow; so do references to its outputs. */
export function renameBranch(text: string, path: Path, kind: string, from: string, to: string): string {
    const known = branchesAt(text, path, kind);
    if (from === to || !(from in known) || to in known) return text;
    const names = path.filter((_, n) => n % 2 === 1).map(String);
    const before = [...names, from].join('.');
    const after = [...names, to].join('.');
    const used = new RegExp(`\\$${before.replaceAll('.', '\\.')}(?=\\.)`, 'g');
    let next = mapScalars(text, (value, at) =>
        typeof value === 'string' && at[0] !== 'description' ? value.replace(used, `$$${after}`) : undefined,
    );
    next = renameKey(next, [...path, kind, from], to);
    const node = String(path[1]);
    if (resultsIn(kindNamed(kind), {}) === null || path.length !== 2) return next;
    for (const candidate of readGraph(next).nodes.find((each) => each.id === node)?.candidates ?? []) {
        if (candidate.on.includes(from))
            next = changeCandidate(next, node, candidate.index, {
                on: texts(candidate.on).map((on) => (on === from ? to : on)),
            });
    }
    return next;
}
