// Which field a mistake of the check concerns: a path in the text. The check names node, branch and key in words.

import { type Graph, isRecord, type Json, listed, texts } from './graph.ts';
import { allKinds, kindNamed, kindsWith } from './node_kinds.ts';
import type { Path, Step } from './yaml_edit.ts';

/** The path of a call: of a node, and of the branches inside it. Branches have the key that they are written under. */
function callAt(graph: Graph, names: readonly string[]): { path: Path; content: Json } | null {
    const node = graph.nodes.find((each) => each.id === names[0]);
    if (!node) return null;
    let content = node.content;
    const path: Step[] = ['nodes', node.id];
    for (const name of names.slice(1)) {
        const kind = kindsWith('branches').find((each) => isRecord(content[each]) && name in (content[each] as Json));
        const inner = kind ? (content[kind] as Json)[name] : undefined;
        if (!kind || !isRecord(inner)) return { path, content };
        path.push(kind, name);
        content = inner;
    }
    return { path, content };
}

/** A path as the reader of files writes it: nodes.a.then[0].when. */
function written(text: string): Path {
    return text.split('.').flatMap((step): Step[] => {
        const [key = '', ...indices] = step.split('[');
        return [key, ...indices.map((index) => Number(index.replace(']', '')))];
    });
}

/** The one of its candidates for which something holds. */
function candidate(content: Json, key: string, holds: (value: Json) => boolean): Path {
    const at = listed(content.then).findIndex((each) => holds(isRecord(each) ? each : { go: each }));
    return at < 0 ? [] : ['then', at, key];
}

function inCall(content: Json, what: string, got: string, known: ReadonlySet<string>): Path {
    const found = (pattern: RegExp): string | undefined => pattern.exec(what)?.[1];
    const listItem = /^then\[(\d+)\]\.(\w+)/.exec(what);
    if (listItem) return ['then', Number(listItem[1]), listItem[2] ?? ''];
    if (/^when\b/.test(what)) return ['then', 0, 'when'];
    const role = found(/role '(\w+)'/);
    if (role !== undefined) return ['parts', role];
    const setting = kindsWith('values').find((each) => content[each] !== undefined);
    const value = found(/^\w+: parameter '(\w+)'/) ?? found(/^unknown value '(\w+)'/);
    if (setting !== undefined && value !== undefined) return [setting, value];
    const inside = kindsWith('values', 'branches');
    const own = allKinds()
        .map((each) => each.name)
        .filter((each) => !inside.includes(each));
    const key = [...own, 'until', 'timeout'].find((each) => new RegExp(`^${each}\\b`).test(what));
    if (key !== undefined) {
        const field = found(/^\w+: (\w+)/);
        return kindNamed(key)?.fields.some((each) => each.key !== '' && each.key === field)
            ? [key, field ?? '']
            : [key];
    }
    if (what.includes('never ends by itself')) return ['until'];
    const parameter = found(/parameter '(\w+)'/);
    if (parameter !== undefined) return ['with', parameter];
    const result = found(/^it has no result '(\w+)'/);
    if (result !== undefined) return candidate(content, 'on', (each) => texts(each.on).includes(result));
    const end = found(/^the skill has no result '(\w+)'/);
    if (end !== undefined) return candidate(content, 'end', (each) => each.end === end);
    if (what.startsWith('unknown node'))
        return candidate(
            content,
            'go',
            (each) => typeof each.go === 'string' && !known.has(each.go) && got.includes(each.go),
        );
    const branch = found(/^branch '(\w+)'/);
    const kind = kindsWith('branches').find((each) => content[each] !== undefined);
    return branch !== undefined && kind ? [kind, branch] : [];
}

/** The call of a skill, at any depth of branches. */
function calling(content: Json, skill: string): Path | null {
    if (content.skill === skill) return ['skill'];
    for (const kind of kindsWith('branches')) {
        for (const [name, branch] of Object.entries(isRecord(content[kind]) ? (content[kind] as Json) : {})) {
            const inner = isRecord(branch) ? calling(branch, skill) : null;
            if (inner) return [kind, name, ...inner];
        }
    }
    return null;
}

/**
 * The path of what a mistake is about; empty: of nothing single.
 *
 * @param what the mistake, without file and line.
 * @param got what came instead, if the check says so.
 * @param node the node that its line is in; empty: none.
 */
export function placeOfMistake(graph: Graph, what: string, got = '', node = ''): Path {
    const schema = /^((?:nodes|reactions|commands|roles|parameters|values|results|outputs)(?:\.\w+|\[\d+\])+)/.exec(
        what,
    );
    if (schema) return written(schema[1] ?? '');
    const topic = /^command (\d+): (topic(?:\.\w+)*)/.exec(what);
    if (topic) return ['commands', Number(topic[1]), ...entryOf(what, (topic[2] ?? '').split('.'))];
    const spoken = /^(gesture|phrase) '([^']*)'/.exec(what);
    if (spoken) return startOf(graph, spoken[1] === 'phrase' ? 'say' : 'gesture', spoken[2] ?? '');
    const declared = /^(role|output|value|parameter) '(\w+)'/.exec(what);
    if (declared) return declaredAt(graph, declared[1] ?? '', declared[2] ?? '');
    const listItem = /^(reaction|command) (\d+): (\w+)/.exec(what);
    if (listItem)
        return [`${listItem[1]}s`, Number(listItem[2]), listItem[3] === 'unknown' ? 'go' : (listItem[3] ?? '')];
    const call = /^node '([^']+)': (.*)$/s.exec(what);
    if (call) {
        const at = callAt(graph, (call[1] ?? '').split('/'));
        const known = new Set(graph.nodes.map((each) => each.id));
        return at ? [...at.path, ...inCall(at.content, call[2] ?? '', got, known)] : [];
    }
    const skill = /^unknown skill '([^']+)'/.exec(what)?.[1];
    const inside = graph.nodes.find((each) => each.id === node);
    const at = skill !== undefined && inside ? calling(inside.content, skill) : null;
    if (at) return ['nodes', node, ...at];
    return node === '' ? [] : ['nodes', node];
}

/** The field of a message has a name of its own, with dots and indices. */
function entryOf(what: string, keys: string[]): Path {
    const field = /^command \d+: topic\.texts\.[^:]*: .*field '([^']*)'/.exec(what)?.[1];
    return field === undefined ? keys : ['topic', 'texts', field];
}

/** The command that a phrase or gesture starts. */
function startOf(graph: Graph, key: string, said: string): Path {
    const at = listed(graph.content.commands).findIndex((each) => isRecord(each) && texts(each[key]).includes(said));
    return at < 0 ? [] : ['commands', at, key];
}

/** What a skill declares: roles, parameters, values, outputs. */
function declaredAt(graph: Graph, word: string, name: string): Path {
    const keys = word === 'parameter' ? ['parameters', 'values'] : [`${word}s`];
    const key = keys.find((each) => isRecord(graph.content[each]) && name in (graph.content[each] as Json));
    return key === undefined ? [] : [key, name];
}

/** Whether a path leads into another one. */
export function isUnder(path: Path, outer: Path): boolean {
    return outer.every((step, n) => path[n] === step);
}

/** What a field shows of the mistakes: its own ones and those further inside. */
export function mistakesAt<M extends { place: Path }>(mistakes: readonly M[], path: Path): M[] {
    return mistakes.filter((each) => isUnder(each.place, path));
}

/** As a field shows it: it need not say where, and a long list of names is cut to its first ones. */
export function brief(text: string): string {
    const what = text.replace(/^(?:node '[^']+'|reaction \d+|command \d+): (?:then\[\d+\]\.|topic\.[^:]*: )?/, '');
    return what.replace(/(one of: (?:[^,;]+, ){2}[^,;]+), [^;]{40,}?(?=;|$|\. )/, '$1, …');
}
