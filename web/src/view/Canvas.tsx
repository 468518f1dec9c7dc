import {
    applyNodeChanges,
    Background,
    BackgroundVariant,
    BaseEdge,
    type Connection,
    Controls,
    type Edge,
    EdgeLabelRenderer,
    type EdgeProps,
    getBezierPath,
    Handle,
    MarkerType,
    MiniMap,
    type Node,
    type NodeChange,
    type NodeProps,
    Panel,
    Position,
    ReactFlow,
    ReactFlowProvider,
    SelectionMode,
    useReactFlow,
    useUpdateNodeInternals,
} from '@xyflow/react';
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { later, t } from '../language/language.ts';
import { ask } from '../server.ts';
import type { Laid } from '../store/picture.ts';
import { activeStates } from '../store/program_live.ts';
import { pathIn } from '../store/ran.ts';
import { store, useStore } from '../store/store.ts';
import { addCandidate, connect, disconnect } from '../text/blueprint_edits.ts';
import { moveBox as moveNode, nodesOf } from '../text/folds.ts';
import { boundsOf } from '../text/graph.ts';
import { shownName } from '../text/names.ts';
import { addReaction, moveLink, setStart } from '../text/program_edits.ts';
import { shownNode, shownResult } from '../text/shown_names.ts';
import { type Way, wayOf } from '../way.ts';
import type { Answer } from '../wire.ts';
import { detour } from './detour.ts';
import { FoldedNode, FoldMenu } from './Folded.tsx';
import { foldPicture } from './folding.ts';
import { useInSight } from './in_sight.ts';
import { type Box, kept, type Link, layoutRequest, pictureOf } from './picture.ts';
import { FirstSteps, Welcome } from './Welcome.tsx';

export interface NodeData extends Record<string, unknown> {
    box: Box;
    level: string;
    state: string;
    result: string;
    failure: boolean;
    count: number;
    attempt: number;
    /** How often and how long it is tried. */
    bounds: string;
    mistake: string;
    warning: boolean;
    breakpoint: boolean;
    jump: boolean;
    isStart: boolean;
    reaction: string;
    change: string;
    /** Of an active state of a program: the strategies that govern. */
    governs: string;
    isFinal: boolean;
}

const LEVELS: Record<string, string> = {
    capability: later('capability'),
    meta_skill: later('meta skill'),
    motion_skill: later('motion skill'),
    behavior_skill: later('behavior skill'),
    blueprint: later('blueprint'),
};

export function levelName(level: string): string {
    return t(LEVELS[level] ?? level);
}

export const STATES: Record<string, string> = {
    runs: later('runs'),
    ends: later('is being cancelled'),
    asks: later('asks'),
    before: later('stands before'),
    after: later('stands after'),
    cut: later('was stopped'),
};

const SkillNode = memo(function SkillNode({ data, selected }: NodeProps<Node<NodeData>>) {
    const { box } = data;
    const node = box.node;
    if (box.fold) return <FoldedNode data={data} fold={box.fold} selected={selected} />;
    if (!node) {
        return (
            <div className="end-node" style={{ width: box.width, height: box.height }}>
                <Handle type="target" position={Position.Top} id="in" />
                {t('ends: {end}', { end: box.end })}
            </div>
        );
    }
    const classes = [
        'node',
        `level-${data.level || 'built_in'}`,
        selected && 'selected',
        data.state && `is-${data.state}`,
        data.result && (data.failure ? 'was-failure' : 'was-success'),
        data.mistake && (data.warning ? 'has-warning' : 'has-mistake'),
        data.change && `changed-${data.change}`,
        data.isFinal && 'is-final',
    ];
    return (
        <div
            className={classes.filter(Boolean).join(' ')}
            style={{ width: box.width, minHeight: box.height }}
            title={data.mistake || undefined}>
            <Handle type="target" position={Position.Top} id="in" />
            <div className="node-head">
                {data.breakpoint && <span className="breakpoint" title={t('breakpoint')} />}
                <span className="node-id" title={node.title === '' ? undefined : node.id}>
                    {shownName(node)}
                </span>
                {data.isStart && <span className="chip start-chip">{t('start')}</span>}
                {data.count > 1 && <span className="chip">{data.count}×</span>}
                {data.attempt > 1 && <span className="chip attempt-chip">{t('attempt {n}', { n: data.attempt })}</span>}
                {data.state !== '' && <span className="chip state-chip">{t(STATES[data.state] ?? data.state)}</span>}
                {data.state === '' && data.result !== '' && (
                    <span className="chip result-chip">{shownResult(node, data.result)}</span>
                )}
                {data.jump && <span className="chip jump-chip">{t('jump waits')}</span>}
                {data.mistake !== '' && (
                    <span className="mistake-sign" role="img" aria-label={t('mistake')}>
                        !
                    </span>
                )}
            </div>
            <div className="node-skill">
                {store.library.shown(node.skill) || t(node.kind.replace('_', ' ')) || t('does nothing yet')}
            </div>
            {(data.governs || node.detail) !== '' && (
                <div className={data.governs ? 'node-detail governs' : 'node-detail'}>
                    {data.governs || node.detail}
                </div>
            )}
            {data.bounds !== '' && <div className="node-detail node-bounds">{data.bounds}</div>}
            {data.reaction !== '' && (
                <div className="reaction-mark" title={t('A reaction leads here from any node')}>
                    ⚡ {data.reaction}
                </div>
            )}
            <div className={box.ports.length > 1 ? 'ports' : 'ports single'}>
                {box.ports.map((port) => (
                    <div className={port.failure ? 'port failure' : 'port'} key={port.name}>
                        {box.ports.length > 1 && shownResult(node, port.name)}
                        <Handle
                            type="source"
                            position={Position.Bottom}
                            id={port.name}
                            title={t('Draw from here: what follows {port}', { port: port.name })}
                        />
                    </div>
                ))}
            </div>
        </div>
    );
});

interface LinkData extends Record<string, unknown> {
    label: string;
    failure: boolean;
    taken: boolean;
    chosen: boolean;
    node: string;
    index: number;
    bends: [number, number][];
    aside: number;
    of: LinkWay;
}

/** Where a link goes. The same object as long as it is the same way. */
interface LinkWay {
    link: Link;
    bends: [number, number][];
    aside: number;
}

/** Out at the lower edge, up beside all boxes between, and in from above. */
function backPath(x: number, y: number, tx: number, ty: number, aside: number): [string, number, number] {
    const r = 12;
    const low = y + 18;
    const high = ty - 22;
    const s = tx < aside ? -1 : 1;
    const path = [
        `M${x},${y} L${x},${low - r} Q${x},${low} ${x + r},${low}`,
        `L${aside - r},${low} Q${aside},${low} ${aside},${low - r}`,
        `L${aside},${high + r} Q${aside},${high} ${aside + s * r},${high}`,
        `L${tx - s * r},${high} Q${tx},${high} ${tx},${high + r} L${tx},${ty}`,
    ].join(' ');
    return [path, aside, (low + high) / 2];
}

/** Curves with vertical tangents through points. */
export function bentPath(points: readonly (readonly [number, number])[]): [string, number, number] {
    let path = `M${points[0]?.join() ?? ''}`;
    for (let n = 1; n < points.length; n += 1) {
        const [ax, ay] = points[n - 1] as readonly [number, number];
        const [bx, by] = points[n] as readonly [number, number];
        const half = (by - ay) / 2;
        path += ax === bx ? ` L${bx},${by}` : ` C${ax},${ay + half} ${bx},${by - half} ${bx},${by}`;
    }
    const [ax, ay] = points[1] as readonly [number, number];
    const [bx, by] = points[2] ?? [ax, ay];
    return [path, (ax + bx) / 2, (ay + by) / 2];
}

const LinkEdge = memo(function LinkEdge(props: EdgeProps<Edge<LinkData>>) {
    const { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, data, markerEnd, id } = props;
    const ends = { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition };
    const isBack = targetY < sourceY + 10;
    const [path, labelX, labelY] = isBack
        ? backPath(sourceX, sourceY, targetX, targetY, data?.aside ?? Math.max(sourceX, targetX) + 120)
        : data?.bends && data.bends.length > 0
          ? bentPath([[sourceX, sourceY], ...data.bends, [targetX, targetY]])
          : getBezierPath({ ...ends, curvature: 0.35 });
    const classes = ['link', data?.failure && 'failure', data?.taken && 'taken', data?.chosen && 'chosen']
        .filter(Boolean)
        .join(' ');
    return (
        <>
            <BaseEdge id={id} path={path} markerEnd={markerEnd} className={classes} interactionWidth={22} />
            {data?.label && (
                <EdgeLabelRenderer>
                    <div
                        className={`link-label nopan ${classes}`}
                        style={{ transform: `translate(-50%, -50%) translate(${labelX}px, ${labelY}px)` }}
                        title={data.label}
                        onClick={() => store.docs.select([], { node: data.node, index: data.index })}>
                        {data.label.length > 44 ? `${data.label.slice(0, 43)}…` : data.label}
                    </div>
                </EdgeLabelRenderer>
            )}
        </>
    );
});

interface Detour {
    ends: string;
    points: [number, number][];
}

/**
 * Beside the boxes between two nodes, of which a person moved one. While somebody drags, only links of what is dragged
 * get new ways.
 */
function aroundBoxes(
    id: string,
    from: Node,
    to: Node,
    nodes: readonly Node[],
    known: Map<string, Detour>,
    isDragging: boolean,
): [number, number][] {
    const begin: [number, number] = [from.position.x + (from.width ?? 0) / 2, from.position.y + (from.height ?? 0)];
    const end: [number, number] = [to.position.x + (to.width ?? 0) / 2, to.position.y];
    const ends = [...begin, ...end].join();
    const before = known.get(id);
    if (isDragging && before?.ends === ends) return before.points;
    const others = nodes.filter((node) => node.id !== from.id && node.id !== to.id);
    const boxes = others.map(({ position, width, height }) => ({
        ...position,
        width: width ?? 0,
        height: height ?? 0,
    }));
    const points = end[1] < begin[1] + 10 ? [] : detour(begin, end, boxes);
    known.set(id, { ends, points });
    return points;
}

// What never changes: with new functions and objects, React Flow draws all nodes and links at each move of the mouse.
function chooseLink(_: unknown, { data }: Edge<LinkData>): void {
    if (data) store.docs.select([], { node: data.node, index: data.index });
}

function reconnect({ data, target }: Edge<LinkData>, to: Connection): void {
    if (!data) return;
    const { node, index } = data;
    store.docs.edit((text) =>
        store.docs.doc?.shown.isProgram
            ? moveLink(text, node, index, target, to.source, to.target)
            : connect(disconnect(text, node, index), to.source, to.sourceHandle ?? 'success', to.target),
    );
}

function openNode(_: unknown, node: Node<NodeData>): void {
    const inner = store.docs.doc?.shown.nodes.find((each) => each.id === node.id);
    if (inner?.skill) void store.versions.openSkill(inner.skill);
}

function mapColor(node: Node): string {
    return (node.data as NodeData).state ? '#2563eb' : '#94a3b8';
}

const PRO_OPTIONS = { hideAttribution: true };
const ariaLabels = () => ({
    'controls.ariaLabel': t('Control Panel'),
    'controls.zoomIn.ariaLabel': t('Zoom In'),
    'controls.zoomOut.ariaLabel': t('Zoom Out'),
    'controls.fitView.ariaLabel': t('Fit View'),
    'node.a11yDescription.default': t('Press Enter to select, arrow keys to move, F2 to rename, Delete to remove.'),
});
const NODE_TYPES = { skill: SkillNode };
const EDGE_TYPES = { link: LinkEdge };
const NOWHERE: Laid = { structure: '', places: {}, bends: {} };
const NO_BENDS: [number, number][] = [];
const NO_WAY: Way = { nodes: new Map(), links: new Set(), stands: '' };

function usePlaces(key: number, structure: string, request: object): Laid {
    const known = store.picture.places.get(key);
    const [, again] = useState(0);
    useEffect(() => {
        if (known?.structure === structure) return;
        let over = false;
        // Of several edits in a row, the last picture is laid out.
        const timer = setTimeout(
            () =>
                void ask<Answer & Partial<Laid>>('layout', request).then((answer) => {
                    if (over || !answer.places) return;
                    store.picture.places.set(key, { structure, places: answer.places, bends: answer.bends ?? {} });
                    again((n) => n + 1);
                }),
            0,
        );
        return () => {
            over = true;
            clearTimeout(timer);
        };
        // The request follows from the structure.
    }, [key, structure]);
    return known ?? NOWHERE;
}

/** The same nodes as before as long as only what they show has changed: links do not care. */
function useOutline(nodes: Node<NodeData>[]): Node<NodeData>[] {
    const known = useRef(nodes);
    const isSame =
        nodes.length === known.current.length &&
        nodes.every((node, n) => {
            const before = known.current[n];
            return (
                node === before ||
                (node.id === before?.id &&
                    node.position.x === before.position.x &&
                    node.position.y === before.position.y &&
                    node.width === before.width &&
                    node.height === before.height)
            );
        });
    if (!isSame) known.current = nodes;
    return known.current;
}

function Flow() {
    const labels = useMemo(ariaLabels, []);
    const it = useStore();
    const doc = it.docs.doc;
    const flow = useReactFlow<Node<NodeData>, Edge<LinkData>>();
    const [menu, setMenu] = useState<{ x: number; y: number; node: string } | null>(null);
    const graph = doc?.shown;
    const picture = useMemo(
        () =>
            graph
                ? foldPicture(
                      pictureOf(
                          graph,
                          (name) => it.library.skill(name),
                          (name) => it.library.shown(name),
                      ),
                      graph,
                  )
                : null,
        [graph, it.library.skills],
    );
    const first = graph?.nodes.find((node) => node.isStart)?.id ?? '';
    const start = picture?.boxes.find((box) => box.fold?.nodes.includes(first))?.id ?? first;
    const laid = usePlaces(doc?.key ?? -1, picture?.structure ?? '', picture ? layoutRequest(picture, start) : {});
    const isLaid = picture !== null && it.picture.places.get(doc?.key ?? -1)?.structure === picture.structure;
    const prefix = it.drawn.prefix;
    const replay = it.runs.replay;
    const isOther = replay !== null && !['same', 'unknown'].includes(it.drawn.comparedWith(replay.records));
    const way = useMemo((): Way => {
        if (replay) {
            const path = pathIn(replay.records, graph?.name ?? '');
            return isOther || path === null ? NO_WAY : wayOf(replay.records, path, replay.at);
        }
        return prefix === null ? NO_WAY : wayOf(it.runs.log.records, prefix);
    }, [replay, isOther, prefix, it.runs.log]);
    const live = it.runs.nodes;
    const run = it.runs.run;

    const programs = it.link.live.robot.programs;
    const activeKey = graph?.isProgram ? JSON.stringify(programs) : '';
    const running = graph?.isProgram ? it.runs.running.join() : '';
    const active = useMemo(
        () =>
            activeStates(
                graph?.isProgram && !it.isPast ? graph.name : '',
                graph?.nodes.map((node) => node.id) ?? [],
                programs ?? [],
                it.runs.running,
                it.library.uses,
                it.drawn.isShown,
            ),
        [graph, it.isPast, doc?.basedOn, activeKey, running, it.library.uses, it.drawn.textsLoaded],
    );
    const computed = useMemo((): Node<NodeData>[] => {
        if (!picture || !graph || !doc) return [];
        const full = (id: string): string => (prefix === null ? '@' : prefix === '' ? id : `${prefix}/${id}`);
        const points = new Set(
            run && run.state !== 'ended' && prefix !== null
                ? run.breakpoints
                : (it.orders.breakpoints[graph.name] ?? []).map(full),
        );
        const own = new Set(it.orders.breakpoints[graph.name] ?? []);
        return picture.boxes.map((box, n): Node<NodeData> => {
            const ids = box.fold?.nodes ?? [box.id];
            const paths = ids.map(full);
            const now = replay || prefix === null ? undefined : live.find((each) => paths.includes(each.path));
            const isActive = graph.isProgram && active.has(box.id);
            const stands =
                !replay &&
                prefix !== null &&
                run &&
                ['before', 'after', 'cut'].includes(run.state) &&
                paths.includes(way.stands)
                    ? run.state
                    : '';
            const visited = box.fold
                ? ids.map((id) => way.nodes.get(id)).find((each) => each?.running)
                : way.nodes.get(box.id);
            const skill = box.node ? it.library.skill(box.node.skill) : undefined;
            const wrong = doc.mistakes.filter((mistake) => ids.includes(mistake.node) && !box.end);
            const reaction = graph.reactions.find((each) => ids.includes(each.go) && !box.end);
            const isFailure =
                visited !== undefined &&
                (visited.result === 'failed' ||
                    visited.result === 'timeout' ||
                    visited.result === 'cancelled' ||
                    (skill?.failures.includes(visited.result) ?? false));
            const place = box.node?.place ?? box.fold?.place ?? laid.places[box.id] ?? [0, n * 110];
            return {
                id: box.id,
                type: 'skill',
                position: { x: place[0] as number, y: place[1] as number },
                width: box.width,
                height: box.height,
                selected: ids.some((id) => doc.selection.includes(id)),
                draggable: box.node !== null && !doc.readOnly,
                selectable: box.node !== null,
                focusable: box.node !== null,
                ariaLabel: box.node
                    ? t('Node {node}: {what}', { node: shownName(box.node), what: box.node.skill || box.node.kind })
                    : t('End {name}', { name: box.end }),
                ariaRole: 'button',
                data: {
                    box,
                    level: skill?.level ?? '',
                    state: now?.state ?? (stands || isActive || (replay && visited?.running) ? stands || 'runs' : ''),
                    result: visited?.result ?? '',
                    failure: isFailure,
                    count: now?.visit ?? visited?.count ?? 0,
                    attempt: now?.attempt ?? (visited?.running ? visited.attempt : 0),
                    bounds: box.node && !graph.isProgram ? boundsOf(box.node.content) : '',
                    mistake: wrong.map((mistake) => mistake.text).join('\n'),
                    warning: wrong.every((mistake) => mistake.warning),
                    breakpoint: ids.some((id) => (prefix !== null && points.has(full(id))) || own.has(id)),
                    jump: !replay && paths.includes(run?.jump ?? ''),
                    isStart: box.fold ? ids.includes(first) : (box.node?.isStart ?? false),
                    reaction: reaction ? reaction.when : '',
                    change: '',
                    governs: active.get(box.id)?.strategies.join(', ') ?? '',
                    isFinal: graph.isProgram && box.node?.content.final === true,
                },
                ...(box.fold && {
                    draggable: !doc.readOnly,
                    selectable: true,
                    focusable: true,
                    ariaLabel: t('Folded {name}: {nodes}', { name: box.fold.name, nodes: ids.join(', ') }),
                }),
            };
        });
    }, [
        picture,
        graph,
        doc?.mistakes,
        doc?.selection,
        doc?.readOnly,
        laid,
        live,
        run,
        way,
        prefix,
        replay,
        it.orders.breakpoints,
        it.library.skills,
        active,
    ]);

    const [nodes, setNodes] = useState<Node<NodeData>[]>(computed);
    const [drawn, setDrawn] = useState(computed);
    const dragging = useRef(false);
    // Before the browser draws: else each state of a run is drawn twice.
    useLayoutEffect(() => {
        if (dragging.current) return;
        setNodes((before) => {
            const old = new Map(before.map((node) => [node.id, node]));
            return computed.map((node) => kept(old.get(node.id), { ...node, measured: old.get(node.id)?.measured }));
        });
        setDrawn(computed);
    }, [computed]);

    const detours = useRef(new Map<string, Detour>());
    const outline = useOutline(nodes);
    const oldWays = useRef(new Map<string, LinkWay>());
    const ways = useMemo((): LinkWay[] => {
        const at = new Map(outline.map((node) => [node.id, node]));
        let backs = 0;
        const isLaidOut = (id: string): boolean => {
            const [x, y] = laid.places[id] ?? [NaN, NaN];
            const place = at.get(id)?.position;
            return place?.x === x && place.y === y;
        };
        const made = (picture?.links ?? []).map((link): LinkWay => {
            const from = at.get(link.from);
            const to = at.get(link.to);
            let aside = 0;
            if (from && to && to.position.y < from.position.y + (from.height ?? 0) + 10) {
                const between = outline.filter(
                    (node) =>
                        node.position.y < from.position.y + (from.height ?? 0) + 20 &&
                        node.position.y + (node.height ?? 0) > to.position.y - 24,
                );
                aside = Math.max(...between.map((node) => node.position.x + (node.width ?? 0))) + 26 + 14 * (backs % 8);
                backs += 1;
            }
            const bends =
                isLaidOut(link.from) && isLaidOut(link.to)
                    ? (laid.bends[`${link.from}>${link.to}`] ?? NO_BENDS)
                    : from && to
                      ? aroundBoxes(link.id, from, to, outline, detours.current, dragging.current)
                      : NO_BENDS;
            return kept(oldWays.current.get(link.id), { link, bends, aside });
        });
        oldWays.current = new Map(made.map((each) => [each.link.id, each]));
        return made;
    }, [picture, outline, laid]);
    const oldEdges = useRef<Edge<LinkData>[]>([]);
    const edges = useMemo((): Edge<LinkData>[] => {
        const old = new Map(oldEdges.current.map((edge) => [edge.id, edge]));
        const made = ways.map((of): Edge<LinkData> => {
            const { link, bends, aside } = of;
            const before = old.get(link.id);
            const taken = [link.id, ...(link.others ?? [])].some((id) => way.links.has(id));
            const chosen = doc?.link?.node === link.node && doc.link.index === link.index;
            if (before?.data && before.data.of === of && before.data.taken === taken && before.data.chosen === chosen)
                return before;
            return {
                id: link.id,
                type: 'link',
                source: link.from,
                sourceHandle: link.port,
                target: link.to,
                targetHandle: 'in',
                selected: chosen,
                ariaLabel: t('From {from} on {port} to {to}', { ...link }),
                markerEnd: {
                    type: MarkerType.ArrowClosed,
                    width: 16,
                    height: 16,
                    color: chosen ? '#1d4ed8' : taken ? '#15803d' : link.failure ? '#b45309' : '#64748b',
                },
                data: {
                    label: link.label,
                    failure: link.failure,
                    taken,
                    chosen,
                    node: link.node,
                    index: link.index,
                    bends,
                    aside,
                    of,
                },
            };
        });
        const isSame = made.length === oldEdges.current.length && made.every((edge, n) => edge === oldEdges.current[n]);
        if (!isSame) oldEdges.current = made;
        return oldEdges.current;
    }, [ways, way, doc?.link]);

    // Where links begin has to be measured again when a node got other ports; in one go, for each call draws
    // everything.
    const update = useUpdateNodeInternals();
    const portsSeen = useRef(new Map<string, string>());
    useEffect(() => {
        const changed: string[] = [];
        for (const box of picture?.boxes ?? []) {
            const ports = `${box.ports.map((port) => port.name).join()} ${box.width} ${box.height}`;
            const before = portsSeen.current.get(box.id);
            if (before !== undefined && before !== ports) changed.push(box.id);
            portsSeen.current.set(box.id, ports);
        }
        if (changed.length > 0) requestAnimationFrame(() => update(changed));
    }, [picture, update]);

    const canvas = useRef<HTMLDivElement>(null);
    const fits = useInSight({
        flow,
        canvas,
        nodes: computed,
        isLaid,
        start,
        running: computed.filter((node) => node.data.state !== '').map((node) => node.id),
        boxOf: (id) => picture?.boxes.find((box) => box.id === id || box.fold?.nodes.includes(id))?.id ?? id,
    });
    const stopFollowing = useCallback((event: MouseEvent | TouchEvent | null) => {
        if (event === null || !store.picture.follows || !store.runs.isUnderWay) return;
        store.picture.follows = false;
        store.changes.tell();
    }, []);
    const isBusy = computed.length > 0 && (!isLaid || drawn !== computed || fits !== it.picture.fitWanted);

    const onNodesChange = useCallback((changes: NodeChange<Node<NodeData>>[]) => {
        setNodes((before) => applyNodeChanges(changes, before));
        const picked = changes.filter((change) => change.type === 'select');
        if (picked.length > 0 && store.docs.doc) {
            const chosen = new Set(store.docs.doc.selection);
            for (const change of picked) {
                // A folded box stands for all of its nodes.
                for (const id of nodesOf(store.docs.doc.shown, change.id)) {
                    if (change.selected) chosen.add(id);
                    else chosen.delete(id);
                }
            }
            store.docs.select([...chosen].filter((id) => !id.startsWith('@')));
        }
        const moved = changes.filter(
            (change) => change.type === 'position' && change.dragging === false && change.position,
        );
        for (const change of moved) {
            if (change.type === 'position' && change.position && !dragging.current) {
                const { x, y } = change.position; // by arrow keys
                store.docs.edit((text) => moveNode(text, change.id, x, y), `move ${change.id}`);
            }
        }
    }, []);

    const onConnect = useCallback((connection: Connection) => {
        const { source, sourceHandle, target } = connection;
        const result = sourceHandle ?? 'success';
        if (target.startsWith('@') && store.docs.doc?.graph.isProgram)
            store.docs.edit((text) =>
                addReaction(text, source, { when: 'is_done', stop: true, event: target.slice(1) }),
            );
        else if (target.startsWith('@'))
            store.docs.edit((text) => addCandidate(text, source, { on: [result], end: target.slice(1) }));
        else store.docs.edit((text) => connect(text, source, result, target));
        const node = store.docs.doc?.graph.nodes.find((each) => each.id === source);
        const at = node?.candidates.findIndex((c) => c.go === target && c.on[0] === result) ?? -1;
        if (at >= 0) store.docs.select([], { node: source, index: node?.candidates[at]?.index ?? at });
    }, []);

    const drop = useCallback(
        (event: React.DragEvent) => {
            event.preventDefault();
            const what = event.dataTransfer.getData('application/x-skill');
            if (what === '') return;
            const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
            const under = document
                .elementsFromPoint(event.clientX, event.clientY)
                .map((element) => element.closest('.react-flow__edge'))
                .find(Boolean);
            const label = document
                .elementsFromPoint(event.clientX, event.clientY)
                .find((element) => element.classList.contains('link-label'));
            const id = under?.getAttribute('data-id') ?? '';
            const link =
                picture?.links.find((each) => each.id === id) ??
                (label ? picture?.links.find((each) => each.label === label.getAttribute('title')) : undefined);
            // Below what is there already: nodes do not lie on each other.
            const left = Math.round(x - 95);
            let top = Math.round(y - 30);
            for (let again = true; again; ) {
                const under = flow
                    .getNodes()
                    .find(
                        (node) =>
                            node.position.x < left + 250 &&
                            node.position.x + (node.width ?? 0) > left &&
                            node.position.y < top + 110 &&
                            node.position.y + (node.height ?? 0) > top,
                    );
                again = under !== undefined;
                if (under) top = Math.round(under.position.y + (under.height ?? 0) + 24);
            }
            store.building.add(what, [left, top], link ? { node: link.node, index: link.index } : undefined);
        },
        [flow, picture],
    );

    const begin = useCallback(() => {
        dragging.current = true;
    }, []);
    const endSelection = useCallback((_: unknown, moved: Node<NodeData>[]) => {
        dragging.current = false;
        store.docs.edit((text) =>
            moved.reduce((found, node) => moveNode(found, node.id, node.position.x, node.position.y), text),
        );
    }, []);
    const end = useCallback(
        (event: unknown, _: unknown, moved: Node<NodeData>[]) => endSelection(event, moved),
        [endSelection],
    );
    const clear = useCallback(() => {
        setMenu(null);
        store.docs.select([]);
    }, []);
    const openMenu = useCallback((event: React.MouseEvent, node: Node<NodeData>) => {
        event.preventDefault();
        if (!node.id.startsWith('@')) setMenu({ x: event.clientX, y: event.clientY, node: node.id });
    }, []);

    if (!doc || !graph) return <Welcome />;
    const find = menu ? graph.nodes.find((node) => node.id === menu.node) : undefined;
    return (
        <div
            ref={canvas}
            className="canvas"
            aria-busy={isBusy}
            onDrop={drop}
            onDragOver={(event) => event.preventDefault()}>
            <ReactFlow
                nodes={nodes}
                edges={edges}
                nodeTypes={NODE_TYPES}
                edgeTypes={EDGE_TYPES}
                onNodesChange={onNodesChange}
                onConnect={onConnect}
                onNodeDragStart={begin}
                onNodeDragStop={end}
                onSelectionDragStart={begin}
                onSelectionDragStop={endSelection}
                onEdgeClick={chooseLink}
                onReconnect={reconnect}
                onPaneClick={clear}
                onNodeContextMenu={openMenu}
                onNodeDoubleClick={openNode}
                deleteKeyCode={null}
                selectionKeyCode="Shift"
                multiSelectionKeyCode={['Control', 'Meta']}
                selectionMode={SelectionMode.Partial}
                onMoveEnd={stopFollowing}
                minZoom={graph.nodes.length > 80 ? 0.01 : 0.1}
                maxZoom={2}
                onlyRenderVisibleElements={graph.nodes.length > 80}
                proOptions={PRO_OPTIONS}
                nodesConnectable={!doc.readOnly}
                ariaLabelConfig={labels}>
                <Background variant={BackgroundVariant.Dots} gap={20} size={1.2} color="#cbd5e1" />
                <Controls showInteractive={false} />
                {graph.nodes.length > 6 && (
                    <MiniMap pannable zoomable nodeColor={mapColor} ariaLabel={t('Map of all nodes')} />
                )}
                {doc.graph.problem !== '' && (
                    <Panel position="top-center">
                        <div className="banner bad">
                            {t('The text cannot be read now; this is the last picture.')} {doc.graph.problem}
                        </div>
                    </Panel>
                )}
                {graph.nodes.length === 0 && graph.is === null && (
                    <Panel position="top-center">
                        <FirstSteps isProgram={graph.isProgram} />
                    </Panel>
                )}
                {graph.is !== null && (
                    <Panel position="top-center">
                        <div className="banner">
                            {t('This skill is one call: {skill}. Its text shows it.', { skill: graph.is.skill ?? '' })}
                        </div>
                    </Panel>
                )}
            </ReactFlow>
            {menu && find && (
                <NodeMenu x={menu.x} y={menu.y} node={menu.node} skill={find.skill} close={() => setMenu(null)} />
            )}
            {menu && !find && (
                <FoldMenu
                    x={menu.x}
                    y={menu.y}
                    fold={picture?.boxes.find((box) => box.id === menu.node)?.fold}
                    close={() => setMenu(null)}
                />
            )}
        </div>
    );
}

export function fullPath(node: string): string {
    const prefix = store.drawn.prefix ?? '';
    return prefix === '' ? node : `${prefix}/${node}`;
}

/** Open the menu of the node that is selected. */
export function openMenu(): void {
    const box = document.querySelector('.react-flow__node.selected');
    const place = box?.getBoundingClientRect();
    box?.dispatchEvent(
        new MouseEvent('contextmenu', {
            bubbles: true,
            cancelable: true,
            clientX: place?.right ?? 0,
            clientY: place?.top ?? 0,
        }),
    );
}

export function menuKeys(event: React.KeyboardEvent, close: () => void): void {
    if (event.key === 'Escape') close();
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        const all = [...event.currentTarget.querySelectorAll('button')];
        const at = all.indexOf(document.activeElement as HTMLButtonElement);
        all[(at + (event.key === 'ArrowDown' ? 1 : all.length - 1)) % all.length]?.focus();
    }
}

function NodeMenu({
    x,
    y,
    node,
    skill,
    close,
}: {
    x: number;
    y: number;
    node: string;
    skill: string;
    close: () => void;
}) {
    const it = useStore();
    const first = useRef<HTMLButtonElement>(null);
    useEffect(() => first.current?.focus(), []);
    const run = it.runs.run;
    const mayOrder = !it.me.onlyWatches && !it.isPast;
    const mayEdit = !it.docs.doc?.readOnly;
    const isProgram = it.docs.doc?.graph.isProgram ?? false;
    const runs = run !== undefined && run.state !== 'ended' && it.drawn.prefix !== null && mayOrder;
    const item = (text: string, act: () => void, isFirst = false) => (
        <button
            ref={isFirst ? first : undefined}
            role="menuitem"
            onClick={() => {
                close();
                act();
            }}>
            {text}
        </button>
    );
    const top = Math.min(y, window.innerHeight - 360);
    return (
        <div
            className="menu"
            role="menu"
            aria-label={t('Node {node}', { node: shownNode(it.docs.doc?.graph, node) })}
            style={{ left: Math.min(x, window.innerWidth - 250), top }}
            onKeyDown={(event) => menuKeys(event, close)}>
            {runs &&
                !isProgram &&
                item(
                    t('Jump here after the present node'),
                    () => it.orders.control('jump', { node: fullPath(node) }),
                    true,
                )}
            {runs &&
                !isProgram &&
                item(t('Jump here now'), () => it.orders.control('jump', { node: fullPath(node), now: true }))}
            {runs &&
                !isProgram &&
                item(t('Jump here, then come back'), () =>
                    it.orders.control('jump', { node: fullPath(node), come_back: true }),
                )}
            {runs &&
                !isProgram &&
                item(t('Skip it, as done'), () => it.orders.control('skip', { node: fullPath(node), value: 'done' }))}
            {isProgram &&
                mayEdit &&
                item(
                    t('The program starts with it, or not'),
                    () =>
                        it.docs.edit((text) =>
                            setStart(text, node, !it.docs.doc?.graph.nodes.find((each) => each.id === node)?.isStart),
                        ),
                    true,
                )}
            {!runs &&
                mayOrder &&
                !isProgram &&
                item(t('Start here'), () => void it.orders.start({ start_at: node }), true)}
            {!isProgram &&
                mayOrder &&
                item(t('Breakpoint before it, on or off'), () => it.orders.toggleBreakpoint(node))}
            {skill !== '' &&
                item(
                    t('Open {name}', { name: it.library.shown(skill) }),
                    () => void it.versions.openSkill(skill),
                    !mayOrder,
                )}
            {item(
                t('Copy as text'),
                () => {
                    it.docs.select([node]);
                    void it.building.copy();
                },
                !mayOrder && skill === '',
            )}
            {!isProgram &&
                mayEdit &&
                item(t('Fold the selection into one box'), () => {
                    if (!it.docs.doc?.selection.includes(node)) it.docs.select([node]);
                    it.building.foldOrUnfold();
                })}
            {!isProgram &&
                mayEdit &&
                item(t('Make a skill of the selection'), () => {
                    if (!it.docs.doc?.selection.includes(node)) it.docs.select([node]);
                    it.talk.show({ kind: 'extract' });
                })}
            {mayEdit &&
                item(t('Delete'), () => {
                    it.docs.select([node]);
                    it.building.remove();
                })}
        </div>
    );
}

export function Canvas() {
    return (
        <ReactFlowProvider>
            <Flow />
        </ReactFlowProvider>
    );
}
