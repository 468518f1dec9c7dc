// The live state, and whether the editor still speaks.

import { type Drawer, LiveSocket } from '../server.ts';
import type { TimelineTaker, TimelineWish } from '../timeline/live.ts';
import type { Live } from '../wire.ts';
import type { Changes } from './changes.ts';
import { LiveValues } from './live_values.ts';

/** [s] of silence of the editor after which the page says so, and after which it connects anew. */
const SILENT_S = 1;
const DEAF_S = 5;
const LOOK_MS = 200;
const TELL_MS = 40;
/** Variables that the server reads for one page: editor/watchers.py. */
const MOST_VARIABLES = 50;

export class Link {
    live: Live = {
        blueprints: {},
        robot: {},
        people: { operator: '', operator_name: '', here: [], log: [] },
        programs_changed: 0,
        starts: [],
    };
    connected = false;
    everConnected = false;
    /** [s] without a word of the editor, from SILENT_S on; 0: it speaks. */
    silence = 0;
    /** The variables that a person wants to see. */
    watched: string[] = [];
    /** Those that panels and fields show while they are open, of each of them. */
    private readonly shown = new Set<readonly string[]>();
    private telling: ReturnType<typeof setTimeout> | undefined;
    /** The last value of each variable that has come. */
    readonly values = new LiveValues();
    /** [Hz] at which the page wants the joints of the scene; 0: it shows none. */
    private jointRate = 0;
    private drawer: Drawer | null = null;
    private timelineWish: TimelineWish | null = null;
    private timelineTaker: TimelineTaker | null = null;
    private socket: LiveSocket | null = null;

    /**
     * @param followed the run whose log is wanted, and how many records of it are here.
     * @param take called with each new state, after it is `live`.
     * @param lost called when the socket was closed or refused.
     */
    constructor(
        private readonly changes: Changes,
        private readonly followed: () => { run: string; records: number },
        private readonly take: (live: Live) => void,
        private readonly lost: () => void,
    ) {}

    begin(): void {
        this.socket = new LiveSocket(
            (live) => {
                this.live = live;
                this.values.take(live);
                this.take(live);
                this.changes.tell(true);
            },
            (connected) => {
                if (!connected) this.lost();
                this.connected = connected;
                this.everConnected ||= connected;
                this.changes.tell();
            },
            () => ({
                variables: [...new Set([this.watched, ...this.shown].flat())].slice(0, MOST_VARIABLES),
                ...this.followed(),
                joints: this.jointRate,
                ...(this.timelineWish && { timeline: this.timelineWish }),
            }),
            () => this.drawer,
            () => this.timelineTaker,
        );
        let looked = performance.now();
        setInterval(() => {
            const late = performance.now() - looked > 2 * LOOK_MS; // this page itself was busy: what came waits for it
            looked = performance.now();
            const silence = late ? 0 : (this.socket?.silence ?? 0);
            const shown = silence < SILENT_S ? 0 : Math.floor(silence);
            if (silence > DEAF_S) this.socket?.again();
            if (shown !== this.silence && !late) {
                this.silence = shown;
                this.changes.tell();
            }
        }, LOOK_MS);
    }

    /** What is wanted has changed. */
    tellWishes(): void {
        this.socket?.tell();
    }

    /**
     * Have the scene as it is drawn from now on.
     * @param rate [Hz] of the joints; 0: no more.
     */
    followScene(rate: number, drawer: Drawer | null = null): void {
        this.jointRate = rate;
        this.drawer = drawer;
        this.tellWishes();
    }

    /**
     * Have what a timeline lacks from now on.
     * @param wish null: no more.
     */
    followTimeline(wish: TimelineWish | null, taker: TimelineTaker | null): void {
        this.timelineWish = wish;
        this.timelineTaker = taker;
        this.tellWishes();
    }

    /** Have the values of these from now on, besides all others. Returns what ends that. */
    showVariables(names: readonly string[]): () => void {
        const own = [...names];
        this.shown.add(own);
        this.tellSoon();
        return () => {
            this.shown.delete(own);
            this.tellSoon();
        };
    }

    /** Many fields open and close at once; the server takes 50 messages a second. */
    private tellSoon(): void {
        this.telling ??= setTimeout(() => {
            this.telling = undefined;
            this.tellWishes();
        }, TELL_MS);
    }

    watchVariables(names: string[]): void {
        this.watched = names;
        this.tellWishes();
        this.changes.tell();
    }
}
