// Names that people use, in a text: of the skill, of nodes, of the answers of a question.

import { changeCandidate, freeId, renameNode, valueAt } from './blueprint_edits.ts';
import { renameInFolds } from './folds.ts';
import { type Graph, type GraphNode, isRecord, type Json, readGraph, STANDARD_FAILURES, texts } from './graph.ts';
import { identifierOf, NAME, titleOf } from './names.ts';
import { type Path, remove, set, setFirst } from './yaml_edit.ts';

/** What no answer can be called: an identifier that is made from a name is none of them. */
const RESERVED = ['done', ...STANDARD_FAILURES, 'success', 'failure', 'any'];

/** Answer → how people see it, as far as it is otherwise. */
export function answerTitles(content: Record<string, unknown>): Record<string, string> {
    const titles = isRecord(content.ask) ? content.ask.titles : undefined;
    if (!isRecord(titles)) return {};
    return Object.fromEntries(
        Object.entries(titles).filter((each): each is [string, string] => typeof each[1] === 'string'),
    );
}

/** How people see a result of a node. */
export function shownResult(node: Pick<GraphNode, 'content'>, result: string): string {
    return answerTitles(node.content)[result] ?? result;
}

/** How people see a node of a graph, by its identifier. */
export function shownNode(graph: Graph | undefined, id: string): string {
    return graph?.nodes.find((node) => node.id === id)?.title || id;
}

function titled(text: string, path: Path, title: string): string {
    const at = [...path, 'title'];
    const content =
        path.length === 0 ? readGraph(text).content : readGraph(text).nodes.find((n) => n.id === path[1])?.content;
    if (title === '') return content?.title === undefined ? text : remove(text, at);
    return content?.title === undefined ? setFirst(text, path, 'title', title) : set(text, at, title);
}

/** What a typed name would make of a node: its identifier, and what people see; that is empty if both are the same. */
export function namesFor(graph: Graph, id: string, typed: string): { id: string; title: string } {
    const title = titleOf(typed);
    if (NAME.test(title)) return { id: title, title: '' };
    const others: Graph = { ...graph, nodes: graph.nodes.filter((node) => node.id !== id) };
    const taken = new Set<string>();
    const free = (wanted: string): boolean => freeId(others, wanted) === wanted;
    let found = identifierOf(title, taken, 'node', id);
    while (found !== id && !free(found)) {
        taken.add(found);
        found = identifierOf(title, taken, 'node', id);
    }
    return { id: found, title };
}

/** Give a node the name that a person typed. */
export function nameNode(text: string, id: string, typed: string): string {
    const made = namesFor(readGraph(text), id, typed);
    const renamed = made.id === id ? text : renameInFolds(renameNode(text, id, made.id), id, made.id);
    return titled(renamed, ['nodes', made.id], made.title);
}

/** Give the skill itself the name that a person typed. */
export function nameSkill(text: string, typed: string, taken: ReadonlySet<string> = new Set()): string {
    const title = titleOf(typed);
    const name = identifierOf(title, taken, 'blueprint', readGraph(text).name);
    return titled(set(text, ['name'], name), [], NAME.test(title) ? '' : title);
}

/** What a person sees as the answers of a question. */
export function shownAnswers(node: Record<string, unknown>, answers: unknown): string {
    const titles = answerTitles(node);
    return texts(answers)
        .map((each) => titles[each] ?? each)
        .join(', ');
}

/** The answers that a person typed, with commas between them, and how people see them. */
function readAnswers(node: Json, typed: string, before: readonly string[]): [string[], Record<string, string>] {
    const old = answerTitles(node);
    const answers: string[] = [];
    const titles: Record<string, string> = {};
    for (const [n, word] of typed.split(',').map(titleOf).filter(Boolean).entries()) {
        // One that has its identifier keeps it.
        const known = before.find((id) => (old[id] ?? id) === word && !answers.includes(id));
        const id = known ?? identifierOf(word, new Set([...answers, ...RESERVED]), 'answer', before[n]);
        answers.push(id);
        if (id !== word) titles[id] = word;
    }
    return [answers, titles];
}

/**
 * Give a question the answers that a person typed. Links on one that got another name follow.
 * @param path of the node, or of the branch, that asks.
 */
export function nameAnswers(text: string, path: Path, typed: string): string {
    const node = valueAt(text, path) as Json;
    const ask = isRecord(node.ask) ? node.ask : {};
    const before = texts(ask.answers ?? ['yes', 'no']);
    const [answers, titles] = readAnswers(node, typed, before);
    let next = set(text, [...path, 'ask', 'answers'], answers);
    if (Object.keys(titles).length > 0) next = set(next, [...path, 'ask', 'titles'], titles);
    else if (ask.titles !== undefined) next = remove(next, [...path, 'ask', 'titles']);
    if (path.length !== 2 || answers.length !== before.length) return next;
    if (new Set(answers).size !== answers.length) return next;
    // An answer that is still there was moved, not renamed.
    const renamed = new Map(
        before.flatMap((id, n): [string, string][] => {
            const to = answers[n];
            return to === undefined || answers.includes(id) || before.includes(to) ? [] : [[id, to]];
        }),
    );
    const id = String(path[1]);
    for (const { index, on } of readGraph(next).nodes.find((each) => each.id === id)?.candidates ?? [])
        if (on.some((result) => (renamed.get(result) ?? result) !== result))
            next = changeCandidate(next, id, index, { on: on.map((result) => renamed.get(result) ?? result) });
    return next;
}
