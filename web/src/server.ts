// Requests to the editor's server, and the socket that shows what is true now.

import { t } from './language/language.ts';
import type { TimelineTaker, TimelineWish } from './timeline/live.ts';
import type { WireNews } from './timeline/wire.ts';
import type { Answer, DrawnShape, Live, SceneLink } from './wire.ts';

export class NotEntered extends Error {}

/** @param patience [ms] for the answer; 0: as long as it takes. */
export async function ask<T extends Answer>(name: string, request: object = {}, patience = 0): Promise<T> {
    let response: Response;
    try {
        response = await fetch(`/api/${name}`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(request),
            ...(patience > 0 && { signal: AbortSignal.timeout(patience) }),
        });
    } catch {
        return { success: false, message: t('The editor does not answer.') } as T;
    }
    let answer: T;
    try {
        answer = (await response.json()) as T;
    } catch {
        answer = { success: false, message: t('The editor answered {status}.', { status: response.status }) } as T;
    }
    if (response.status === 403 && name === 'me') throw new NotEntered(answer.message);
    return answer;
}

/** The bytes that answer a request; null: it was refused. Too many at once are asked for again. */
export async function askBytes(name: string, request: object): Promise<ArrayBuffer | null> {
    for (let wait = 100; ; wait *= 2) {
        const response = await fetch(`/api/${name}`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(request),
        }).catch(() => null);
        if (response?.ok) return response.arrayBuffer();
        if (response?.status !== 429 || wait > 5000) return null;
        await new Promise((resolve) => setTimeout(resolve, wait));
    }
}

/** What a page wants to see, besides what all see. */
export interface Wishes {
    variables: string[];
    run: string;
    records: number;
    /** [Hz] */
    joints: number;
    timeline?: TimelineWish;
}

/** The first word of a frame of ticks; that of joints is the version of a scene. */
const TICKS = 0xffffffff;

/** What draws the scene as it is now. */
export interface Drawer {
    /** Bytes of the joints' positions. */
    takeJoints(frame: ArrayBuffer): void;
    /** What the control server draws. */
    takeShapes(shapes: DrawnShape[]): void;
    /** What simulators have beside robots. */
    takeObjects(objects: SceneLink[]): void;
}

/** The socket that shows what is true now. It connects again by itself. */
export class LiveSocket {
    private socket: WebSocket | null = null;
    private delay = 200;
    private last = '';
    private heard = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;

    /**
     * @param drawer who takes the scene as it is now, if the joints are among the wishes; null: nobody.
     * @param timeline who takes what a timeline lacks, if it is among the wishes; null: nobody.
     */
    constructor(
        private readonly take: (live: Live) => void,
        private readonly changed: (connected: boolean) => void,
        private readonly wishes: () => Wishes,
        private readonly drawer: () => Drawer | null,
        private readonly timeline: () => TimelineTaker | null,
    ) {
        this.connect();
    }

    /** The wishes have changed. */
    tell(): void {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(this.wishes()));
    }

    /** [s] since the last word of an editor that is connected: it speaks every 0.4 s. */
    get silence(): number {
        return this.socket?.readyState === WebSocket.OPEN ? (performance.now() - this.heard) / 1000 : 0;
    }

    /** Connect anew: a connection that was cut somewhere between does not close by itself. */
    again(): void {
        const old = this.socket;
        if (old) {
            old.onclose = old.onmessage = old.onopen = null;
            old.close();
        }
        clearTimeout(this.timer);
        this.changed(false);
        this.connect();
    }

    private connect(): void {
        const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
        const socket = new WebSocket(`${scheme}://${location.host}/api/live`);
        this.socket = socket;
        socket.binaryType = 'arraybuffer';
        socket.onopen = () => {
            this.delay = 200;
            this.last = '';
            this.heard = performance.now();
            this.changed(true);
            this.tell();
        };
        socket.onmessage = (message) => {
            this.heard = performance.now();
            if (message.data instanceof ArrayBuffer) {
                const isTicks = message.data.byteLength >= 4 && new DataView(message.data).getUint32(0, true) === TICKS;
                return isTicks ? this.timeline()?.takeTicks(message.data) : this.drawer()?.takeJoints(message.data);
            }
            const text = String(message.data);
            if (text.startsWith('{"shapes":'))
                return this.drawer()?.takeShapes((JSON.parse(text) as { shapes: DrawnShape[] }).shapes);
            if (text.startsWith('{"objects":'))
                return this.drawer()?.takeObjects((JSON.parse(text) as { objects: SceneLink[] }).objects);
            if (text.startsWith('{"timeline":'))
                return this.timeline()?.takeNews((JSON.parse(text) as { timeline: WireNews }).timeline);
            if (text === this.last) return; // said again, so that its silence would be heard
            this.last = text;
            this.take(JSON.parse(text) as Live);
        };
        socket.onclose = () => {
            this.changed(false);
            this.timer = setTimeout(() => this.connect(), this.delay);
            this.delay = Math.min(this.delay * 2, 3000);
        };
    }
}
