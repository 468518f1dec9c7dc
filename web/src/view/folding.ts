// The picture with folded nodes as one box: links into them lead to it, links out of them begin at it.

import { boxId, type Fold, foldsOf } from '../text/folds.ts';
import type { Graph } from '../text/graph.ts';
import { type Box, type Link, type Picture, structureOf } from './picture.ts';

function boxesOf(graph: Graph): { folded: Fold[]; boxOf: (id: string) => string } {
    const folded = foldsOf(graph).filter((fold) => !fold.open);
    const at = new Map(folded.flatMap((fold) => fold.nodes.map((id): [string, string] => [id, boxId(fold.name)])));
    return { folded, boxOf: (id) => at.get(id) ?? id };
}

/** What a link out of a folded box has to say, for its results are not seen: node, result, condition. */
function labelOf(link: Link): string {
    const says = [link.port === 'success' ? '' : link.port, link.label].filter((part) => part !== '');
    return says.length === 0 ? '' : [`${link.from}:`, ...says].join(' ');
}

export function foldPicture(picture: Picture, graph: Graph): Picture {
    const { folded, boxOf } = boxesOf(graph);
    if (folded.length === 0) return picture;
    const boxes: Box[] = [];
    for (const box of picture.boxes) {
        const fold = folded.find((each) => each.nodes.includes(box.id));
        if (!fold) boxes.push(box);
        else if (fold.nodes.find((id) => picture.boxes.some((each) => each.id === id)) === box.id) {
            const width = Math.round(
                Math.min(Math.max(190, fold.name.length * 8.2 + 90, fold.nodes.join(', ').length * 6.2 + 24), 320),
            );
            boxes.push({
                id: boxId(fold.name),
                width,
                height: 66,
                node: null,
                ports: [{ name: 'out', failure: false }],
                end: '',
                fold,
            });
        }
    }
    const links = new Map<string, Link & { more: number }>();
    for (const link of picture.links) {
        const from = boxOf(link.from);
        const to = boxOf(link.to);
        if (from === to && from !== link.from) continue; // inside
        const isOut = from !== link.from;
        // Of several that begin and end at the same places, one is drawn: they would lie on each other.
        const key = isOut ? `${from}>${to}` : to !== link.to ? `${from}>${link.port}>${to}` : link.id;
        const known = links.get(key);
        if (known) {
            known.more += 1;
            known.others = [...(known.others ?? []), link.id];
        } else
            links.set(key, {
                ...link,
                from,
                to,
                port: isOut ? 'out' : link.port,
                label: isOut ? labelOf(link) : link.label,
                more: 0,
            });
    }
    const shown = [...links.values()].map(
        ({ more, ...link }): Link => (more === 0 ? link : { ...link, label: `${link.label} +${more}`.trim() }),
    );
    return { boxes, links: shown, structure: structureOf(boxes, shown) };
}
