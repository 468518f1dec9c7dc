// What the picture of a program shows: states, reactions that lead from state to state, exits.

import {
    type Candidate,
    type Graph,
    type GraphNode,
    isRecord,
    type Json,
    listed,
    type Reaction,
    texts,
} from './graph.ts';
import { placeOf } from './places.ts';

function short(value: unknown): string {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

/** A reaction as links: one for each state that it starts. One that stops with an event is an exit. */
function links(reaction: unknown, index: number): Candidate[] {
    if (!isRecord(reaction)) return [];
    const stop = reaction.stop === true;
    const event = String(reaction.event ?? '');
    const base = { index, on: ['success'], when: String(reaction.when ?? ''), end: '', go: '', event, stop };
    const targets = texts(reaction.start);
    if (targets.length > 0) return targets.map((go) => ({ ...base, go }));
    return [{ ...base, end: stop && event !== '' ? event : '' }];
}

/** Exits of a used program, each with the states that follow. */
function exitLinks(exits: unknown): Candidate[] {
    return Object.entries(isRecord(exits) ? exits : {}).flatMap(([exit, targets], index) =>
        texts(targets).map((go): Candidate => ({ index, on: [exit], when: '', go, end: '', event: '', stop: false })),
    );
}

function stateNode(id: string, action: unknown, start: string[], view: unknown): GraphNode {
    const body = isRecord(action) ? action : {};
    const given = isRecord(body.parameters) ? Object.entries(body.parameters) : [];
    const strategies = isRecord(body.strategies) ? Object.entries(body.strategies) : [];
    const commands = listed(body.commands)
        .filter(isRecord)
        .map((command) => texts(command.part).join())
        .filter(Boolean);
    const detail = [
        ...commands,
        ...given.map(([key, value]) => `${key} ${short(isRecord(value) ? value.value : value)}`),
        ...strategies.map(
            ([axis, list]) =>
                `${axis}: ${listed(list)
                    .filter(isRecord)
                    .map((each) => String(each.name))
                    .join(' / ')}`,
        ),
    ];
    return {
        id,
        title: '',
        kind: 'skill',
        skill: String(body.use ?? body.type ?? ''),
        detail: detail.join(', '),
        content: body,
        candidates: body.use === undefined ? listed(body.reactions).flatMap(links) : exitLinks(body.exits),
        place: placeOf(view, id),
        isStart: start.includes(id),
    };
}

export function programGraph(content: Json): Graph {
    const actions = isRecord(content.actions) ? content.actions : {};
    const start = texts(content.start);
    return {
        isProgram: true,
        name: String(content.name ?? ''),
        title: '',
        level: 'program',
        nodes: Object.entries(actions).map(([id, action]) => stateNode(id, action, start, content.view)),
        reactions: listed(content.reactions).flatMap((reaction, index): Reaction[] => {
            const body = isRecord(reaction) ? reaction : {};
            const targets = texts(body.start);
            return (targets.length > 0 ? targets : ['']).map((go) => ({
                index,
                when: String(body.when ?? ''),
                go,
                at: 'once',
            }));
        }),
        is: null,
        content,
        problem: '',
    };
}

/** The events with which a final state stops. */
function leaving(node: GraphNode): string[] {
    const found = node.content.final === true ? node.candidates.filter((each) => each.stop) : [];
    return found.map((each) => each.event).filter(Boolean);
}

/** The exits of a program that is a state of another one (U1). program/exits.py has both rules, too: exits.json. */
export function exitsOf(graph: Graph): string[] {
    const final = graph.nodes.filter((node) => node.content.final === true);
    return [...new Set(final.flatMap((node) => (leaving(node).length > 0 ? leaving(node) : [node.id])))];
}

/** How a run of a program can end, which is what it declares under `exits` (N4). */
export function endsOf(graph: Graph): string[] {
    const ends = graph.nodes.flatMap(leaving);
    const general = listed(graph.content.reactions).flatMap(links);
    const all = [...graph.nodes.flatMap((node) => node.candidates), ...general].map((each) => each.event);
    return [...new Set(ends.length > 0 ? ends : all.filter(Boolean))];
}
