// What the picture of a graph is made of: boxes with sizes and ports, links, ends.

import type { Fold } from '../text/folds.ts';
import { boundsOf, type Graph, type GraphNode, linkLabel, STANDARD_FAILURES } from '../text/graph.ts';
import { shownName } from '../text/names.ts';
import { kindNamed, resultsIn } from '../text/node_kinds.ts';
import { shownResult } from '../text/shown_names.ts';
import type { SkillInfo } from '../wire.ts';

export interface Port {
    name: string;
    failure: boolean;
}

export interface Box {
    id: string;
    width: number;
    height: number;
    node: GraphNode | null;
    ports: Port[];
    /** Of an end: the result. */
    end: string;
    /** Of folded nodes. */
    fold?: Fold;
}

export interface Link {
    id: string;
    from: string;
    port: string;
    to: string;
    node: string;
    index: number;
    label: string;
    failure: boolean;
    /** Others that are drawn as this one. */
    others?: string[];
}

export interface Picture {
    boxes: Box[];
    links: Link[];
    /** Changes when the layout has to be made again. */
    structure: string;
}

const LETTER = 6.3;

/** The results of a node from which a person draws. */
export function portsOf(node: GraphNode, skill: SkillInfo | undefined, isProgram: boolean): Port[] {
    if (isProgram && node.content.use === undefined) return [{ name: 'success', failure: false }];
    if (isProgram) {
        const exits = new Set([
            ...(skill?.results ?? []),
            ...(skill?.failures ?? []),
            ...node.candidates.map((each) => each.on[0] ?? ''),
        ]);
        return [...exits].map((name) => ({ name, failure: skill?.failures.includes(name) ?? false }));
    }
    const successes = (skill?.results ?? resultsIn(kindNamed(node.kind), node.content) ?? []).filter(
        (name) => name !== 'done',
    );
    const failures = (skill?.failures ?? []).filter((name) => !STANDARD_FAILURES.includes(name));
    const named = successes.length > 1 ? successes : [];
    const ports: Port[] = [{ name: 'success', failure: false }];
    for (const name of named) ports.push({ name, failure: false });
    for (const name of failures) ports.push({ name, failure: true });
    if (node.kind === 'skill' || kindNamed(node.kind)?.fails) ports.push({ name: 'failure', failure: true });
    for (const candidate of node.candidates) {
        const name = candidate.on[0] ?? 'success';
        if (!ports.some((port) => port.name === name)) {
            ports.push({
                name,
                failure: STANDARD_FAILURES.includes(name) || (skill?.failures.includes(name) ?? name === 'failure'),
            });
        }
    }
    return [...ports.filter((port) => !port.failure), ...ports.filter((port) => port.failure)];
}

/** Letters of a text; those of Chinese and Japanese are twice as wide. */
function extent(text: string): number {
    return [...text].reduce((sum, letter) => sum + (letter > '\u2e7f' ? 1.9 : 1), 0);
}

function boxOf(
    node: GraphNode,
    skill: SkillInfo | undefined,
    isProgram: boolean,
    shown: (name: string) => string,
): Box {
    const ports = portsOf(node, skill, isProgram);
    const wide = ports.reduce((sum, port) => sum + extent(shownResult(node, port.name)) * LETTER + 16, 12);
    const does = skill?.name === undefined ? node.skill || node.kind : shown(node.skill);
    const title = Math.max(extent(shownName(node)) * 8.2, extent(does) * 6.6) + 60;
    const width = Math.round(Math.min(Math.max(190, wide, title), 460));
    const bounds = isProgram || boundsOf(node.content) === '' ? 0 : 17;
    const height = 52 + (node.detail === '' ? 0 : 17) + bounds + (ports.length > 1 ? 24 : 10);
    return { id: node.id, width, height, node, ports, end: '' };
}

/**
 * Several reactions from one state to another one are one link: their conditions would lie on each other. The form has
 * them all.
 */
function joinLinks(links: Link[]): void {
    const first = new Map<string, Link>();
    const more = new Map<Link, number>();
    for (const link of [...links]) {
        const key = `${link.from}>${link.port}>${link.to}`;
        const known = first.get(key);
        if (known) {
            more.set(known, (more.get(known) ?? 0) + 1);
            links.splice(links.indexOf(link), 1);
        } else first.set(key, link);
    }
    for (const [link, count] of more)
        link.label = `${link.label.length > 30 ? `${link.label.slice(0, 29)}…` : link.label} +${count}`;
}

/** @param shown how people see a skill's name. */
export function pictureOf(
    graph: Graph,
    find: (name: string) => SkillInfo | undefined,
    shown: (name: string) => string = (name) => name,
): Picture {
    const boxes = graph.nodes.map((node) => boxOf(node, find(node.skill), graph.isProgram, shown));
    const known = new Set(graph.nodes.map((node) => node.id));
    const links: Link[] = [];
    const ends = new Set<string>();
    for (const node of graph.nodes) {
        const skill = find(node.skill);
        for (const candidate of node.candidates) {
            const to = candidate.go !== '' ? candidate.go : candidate.end !== '' ? `@${candidate.end}` : '';
            if (to === '' || (candidate.go !== '' && !known.has(candidate.go))) continue;
            if (candidate.end !== '' && candidate.go === '') ends.add(candidate.end);
            const port = candidate.on[0] ?? 'success';
            const failure =
                !(graph.isProgram && node.content.use === undefined) &&
                (port === 'failure' || STANDARD_FAILURES.includes(port) || (skill?.failures.includes(port) ?? false));
            const label = graph.isProgram
                ? linkLabel(candidate, true)
                : [
                      candidate.on.length > 1 ? candidate.on.map((on) => shownResult(node, on)).join(', ') : '',
                      candidate.when && `if ${candidate.when}`,
                  ]
                      .filter(Boolean)
                      .join(' ');
            links.push({
                id: `${node.id}:${candidate.index}:${to}`,
                from: node.id,
                port,
                to,
                node: node.id,
                index: candidate.index,
                label,
                failure,
            });
        }
    }
    if (graph.isProgram) joinLinks(links);
    for (const end of ends)
        boxes.push({ id: `@${end}`, width: Math.round(end.length * 7.5 + 58), height: 30, node: null, ports: [], end });
    return { boxes, links, structure: structureOf(boxes, links) };
}

export function structureOf(boxes: readonly Box[], links: readonly Link[]): string {
    return JSON.stringify([
        boxes.map((box) => [box.id, box.width, box.height]),
        links.map((link) => `${link.from}>${link.to}${link.label === '' ? '' : '?'}`),
    ]);
}

/** Links for the layout: reactions lead to their nodes from anywhere, so they have none. */
export function layoutRequest(picture: Picture, start: string): object {
    const first = picture.boxes.filter((box) => box.id === start);
    const rest = picture.boxes.filter((box) => box.id !== start);
    return {
        boxes: [...first, ...rest].map((box) => [box.id, box.width, box.height]),
        links: picture.links.map((link) => [
            link.from,
            link.to,
            link.label === '' ? 0 : Math.min(link.label.length, 44) * LETTER + 14,
        ]),
    };
}

/** The old object if nothing in it has changed: then what shows it is not drawn again. */
export function kept<T>(old: T | undefined, made: T): T {
    return old !== undefined && same(old, made) ? old : made;
}

function same(a: unknown, b: unknown): boolean {
    if (Object.is(a, b)) return true;
    if (
        typeof a !== 'object' ||
        typeof b !== 'object' ||
        a === null ||
        b === null ||
        Array.isArray(a) !== Array.isArray(b)
    )
        return false;
    const keys = Object.keys(a);
    return (
        keys.length === Object.keys(b).length &&
        keys.every((key) => key in b && same((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
    );
}
