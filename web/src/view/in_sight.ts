// What of the picture is in sight: the beginning at first, the node that somebody looks for, the one that runs.

import type { Edge, Node, ReactFlowInstance } from '@xyflow/react';
import { type RefObject, useEffect, useRef, useState } from 'react';

import { store } from '../store/store.ts';

/** Below it [pixels of the screen for one of the picture], names of nodes can hardly be read. */
const READABLE = 0.5;
const COMFORTABLE = 0.85;

interface Wishes<N extends Node, E extends Edge> {
    flow: Pick<ReactFlowInstance<N, E>, 'fitView' | 'getViewport' | 'getZoom' | 'setCenter'>;
    canvas: RefObject<HTMLDivElement | null>;
    nodes: readonly N[];
    isLaid: boolean;
    /** The box that the picture begins with, and those that run. */
    start: string;
    running: readonly string[];
    /** The box that shows a node. */
    boxOf: (node: string) => string;
}

/** Moves the picture as is wished. Returns the latest `fitWanted` for which it was fitted. */
export function useInSight<N extends Node, E extends Edge>(wishes: Wishes<N, E>): number {
    const { flow, canvas, nodes, isLaid, start, running, boxOf } = wishes;
    const { fitWanted, fits, sought, follows } = store.picture;
    const [fulfilled, setFulfilled] = useState(-1);
    const begun = useRef(-1);
    const now = useRef(wishes);
    now.current = wishes;

    const show = (id: string, isTop = false): void => {
        const node = now.current.nodes.find((each) => each.id === id);
        const size = canvas.current?.getBoundingClientRect();
        if (!node || !size) return;
        const before = flow.getZoom();
        const zoom = before < READABLE ? COMFORTABLE : before;
        const x = node.position.x + (node.width ?? 0) / 2;
        const y = isTop ? node.position.y + size.height / 2 / zoom - 40 : node.position.y + (node.height ?? 0) / 2;
        void flow.setCenter(x, y, { zoom, duration: 0 });
    };

    useEffect(() => {
        if (!isLaid || begun.current === fitWanted) return;
        begun.current = fitWanted;
        setTimeout(
            () =>
                void flow.fitView({ padding: 0.12, maxZoom: 1.1, duration: 0 }).then(() => {
                    if (fits === 'readable' && flow.getZoom() < READABLE) {
                        const chosen = store.docs.doc?.selection[0];
                        const first = chosen === undefined ? (now.current.running[0] ?? start) : boxOf(chosen);
                        show(first, first === start);
                    }
                    setFulfilled(fitWanted);
                }),
            60,
        );
    }, [isLaid, fitWanted, flow]);

    // Somebody looks for a node; of a picture that is not laid out yet it waits.
    const found = useRef(sought.wish);
    useEffect(() => {
        if (!isLaid || found.current === sought.wish) return;
        found.current = sought.wish;
        show(boxOf(sought.node));
    }, [isLaid, sought.wish]);

    // The node that runs comes into sight; as long as it is, nothing moves.
    const runs = running[running.length - 1] ?? '';
    useEffect(() => {
        if (!follows || runs === '' || !isLaid || fulfilled !== fitWanted) return;
        const node = nodes.find((each) => each.id === runs);
        const size = canvas.current?.getBoundingClientRect();
        if (!node || !size) return;
        const { x, y, zoom } = flow.getViewport();
        const left = node.position.x * zoom + x;
        const top = node.position.y * zoom + y;
        const isSeen =
            left >= 0 &&
            top >= 0 &&
            left + (node.width ?? 0) * zoom <= size.width &&
            top + (node.height ?? 0) * zoom <= size.height;
        if (!isSeen || zoom < READABLE / 2) show(runs);
    }, [follows, runs, isLaid, fulfilled === fitWanted]);
    return fulfilled;
}
