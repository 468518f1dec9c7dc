import { useEffect, useMemo, useState } from 'react';
import { later, t } from '../../language/language.ts';
import { ask } from '../../server.ts';
import type { Laid } from '../../store/picture.ts';
import { store } from '../../store/store.ts';
import type { Kind } from '../../text/compare.ts';
import type { Graph } from '../../text/graph.ts';
import type { Answer } from '../../wire.ts';
import { bentPath } from '../Canvas.tsx';
import { layoutRequest, pictureOf } from '../picture.ts';

export const KINDS: Record<Kind, string> = {
    added: later('added'),
    removed: later('removed'),
    changed: later('changed'),
    same: later('unchanged'),
};
export const SIGNS: Record<Kind, string> = { added: '+', removed: '−', changed: '~', same: '' };

/**
 * A small picture of a graph: what each box is, and how it differs from the other version, in words and by its line.
 */
export function Miniature({
    graph,
    kinds,
    links,
    linkKind,
    label,
}: {
    graph: Graph;
    kinds: Map<string, Kind>;
    links: Set<string>;
    linkKind: Kind;
    label: string;
}) {
    const picture = useMemo(() => pictureOf(graph, (name) => store.library.skill(name)), [graph]);
    const [{ places, bends }, setLaid] = useState<Pick<Laid, 'places' | 'bends'>>({ places: {}, bends: {} });
    useEffect(() => {
        let over = false;
        const start = graph.nodes.find((node) => node.isStart)?.id ?? '';
        void ask<Answer & Partial<Laid>>('layout', layoutRequest(picture, start)).then((answer) => {
            if (!over) setLaid({ places: answer.places ?? {}, bends: answer.bends ?? {} });
        });
        return () => {
            over = true;
        };
    }, [picture, graph]);
    const boxes = picture.boxes
        .filter((box) => places[box.id])
        .map((box) => ({ ...box, x: places[box.id]?.[0] ?? 0, y: places[box.id]?.[1] ?? 0 }));
    const at = new Map(boxes.map((box) => [box.id, box]));
    const right = Math.max(100, ...boxes.map((box) => box.x + box.width));
    const width = right + 80;
    const height = Math.max(60, ...boxes.map((box) => box.y + box.height)) + 80;
    const kindOf = (id: string): Kind => kinds.get(id) ?? 'same';
    const words = boxes
        .filter((box) => box.node)
        .map((box) => `${box.id}: ${t(KINDS[kindOf(box.id)])}`)
        .join(', ');
    return (
        <div className="miniature" tabIndex={0} role="group" aria-label={label}>
            <svg
                viewBox={`-10 -40 ${width} ${height}`}
                style={{ width: `min(100%, ${Math.round(width * 0.9)}px)`, minWidth: Math.round(width * 0.55) }}
                role="img"
                aria-label={`${label}. ${words}`}>
                {picture.links.map((link) => {
                    const a = at.get(link.from);
                    const b = at.get(link.to);
                    if (!a || !b) return null;
                    const [x, y, tx, ty] = [a.x + a.width / 2, a.y + a.height, b.x + b.width / 2, b.y];
                    const isBack = ty < y;
                    const side = right + 24;
                    const path = isBack
                        ? `M${x},${y} C${x},${y + 34} ${side},${y + 34} ${side},${(y + ty) / 2} ` +
                          `C${side},${ty - 34} ${tx},${ty - 34} ${tx},${ty}`
                        : bentPath([[x, y], ...(bends[`${link.from}>${link.to}`] ?? []), [tx, ty]])[0];
                    const differs = links.has(`${link.from}>${link.to}`);
                    return (
                        <g key={link.id} className={differs ? `link-${linkKind}` : 'same'}>
                            <path d={path} />
                            <path className="tip" d={`M${tx - 6},${ty - 10} L${tx},${ty} L${tx + 6},${ty - 10}`} />
                            {differs && (
                                <text
                                    className="kind"
                                    x={isBack ? side : (x + tx) / 2}
                                    y={(y + ty) / 2 + 4}
                                    textAnchor="middle">
                                    {SIGNS[linkKind]} {t('link')}
                                </text>
                            )}
                        </g>
                    );
                })}
                {boxes.map((box) => {
                    const kind = box.node ? kindOf(box.id) : 'same';
                    const middle = box.x + box.width / 2;
                    return (
                        <g key={box.id} className={kind}>
                            <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={9} />
                            {kind === 'changed' && (
                                <rect
                                    className="inner"
                                    x={box.x + 4}
                                    y={box.y + 4}
                                    width={box.width - 8}
                                    height={box.height - 8}
                                    rx={6}
                                />
                            )}
                            <text x={middle} y={box.y + (box.node ? 24 : 20)} textAnchor="middle">
                                {box.node ? box.id : t('ends: {end}', { end: box.end })}
                            </text>
                            {box.node && (
                                <text className="what" x={middle} y={box.y + 41} textAnchor="middle">
                                    {box.node.skill || t(box.node.kind.replace('_', ' '))}
                                </text>
                            )}
                            {kind !== 'same' && (
                                <text className="kind" x={middle} y={box.y + 58} textAnchor="middle">
                                    {SIGNS[kind]} {t(KINDS[kind])}
                                </text>
                            )}
                        </g>
                    );
                })}
            </svg>
        </div>
    );
}
