// What the checks say of a text, and where: the line, the node and the field.

import { ask } from '../server.ts';
import type { Graph } from '../text/graph.ts';
import { placeOfMistake } from '../text/mistake_place.ts';
import { placeOfLine } from '../text/program_edits.ts';
import type { Path } from '../text/yaml_edit.ts';
import type { ParameterInfo, Refusal, SaveAnswer } from '../wire.ts';

export interface Mistake {
    line: number;
    node: string;
    text: string;
    warning: boolean;
    /** The field that it concerns; empty: none, or a program's. */
    place: Path;
}

/** A text that nothing was put into yet. */
export function isEmpty(graph: Graph): boolean {
    return graph.problem === '' && graph.name !== '' && graph.nodes.length === 0 && graph.is === null;
}

export async function mistakesOf(text: string, graph: Graph): Promise<Mistake[]> {
    if (isEmpty(graph)) return []; // it is only begun: that is no mistake
    const answer = await ask<SaveAnswer>(graph.isProgram ? 'save_program' : 'save_skill', { text, check_only: true });
    const stateOf = (line: number): string => (graph.isProgram ? placeOfLine(text, line).state : '');
    const placeOf = (what: string, got: string, node: string): Path =>
        graph.isProgram ? [] : placeOfMistake(graph, what, got, node);
    const mistakes = (answer.refusals ?? []).map((refusal, n): Mistake => {
        const inLine = answer.nodes?.[n] ?? stateOf(refusal.line);
        const place = placeOf(plain(refusal.what), refusal.got, inLine);
        const node = place[0] === 'nodes' ? String(place[1] ?? '') : inLine;
        return { line: refusal.line, node, text: shown(refusal), warning: false, place };
    });
    if (!answer.success && mistakes.length === 0)
        mistakes.push({ line: 0, node: '', text: answer.message, warning: false, place: [] });
    for (const warning of answer.warnings ?? []) {
        const match = /^[^:]*:(\d+): (.*)$/s.exec(warning);
        const line = match ? Number(match[1]) : 0;
        const what = match?.[2] ?? warning;
        const node = /node '([^'/]*)/.exec(what)?.[1] ?? stateOf(line);
        mistakes.push({ line, node, text: what, warning: true, place: placeOf(what, '', node) });
    }
    return mistakes;
}

/** Without file and line. */
function plain(what: string): string {
    return what.replace(/^[^:\s]*:\d+: /, '');
}

function shown(refusal: Refusal): string {
    const what = plain(refusal.what);
    const rest = [refusal.expected && `expected ${refusal.expected}`, refusal.got && `got ${refusal.got}`]
        .filter(Boolean)
        .join('; ');
    return [what, rest, refusal.hint].filter(Boolean).join('. ');
}

export function fieldOf(mistake: Mistake, info: ParameterInfo): boolean {
    return mistake.text.includes(`parameter '${info.name}'`);
}
