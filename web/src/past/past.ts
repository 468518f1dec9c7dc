// What the page of a recording knows: the recordings, their events, and the moment that is shown.

import { useSyncExternalStore } from 'react';

import { t } from '../language/language.ts';
import type { View } from '../scene/view.ts';
import { ask, askBytes } from '../server.ts';
import { Changes } from '../store/changes.ts';
import type { Answer, Scene } from '../wire.ts';
import { Blocks, faultedParts, sceneJoints, type TickState } from './blocks.ts';
import { fragmentOf, tickOf } from './link.ts';
import { Other } from './other.ts';
import { Player } from './player.ts';
import type { AboutAnswer, EventsAnswer, PastAbout, PastEvents, PastScene, PastStop, SceneAnswer } from './wire.ts';

/** [s] before a fault that are shown with it. */
const BEFORE_S = 2;
/** [ms] after which a moment rests. */
const ADDRESS_MS = 400;

export interface Past {
    about: PastAbout;
    player: Player;
    blocks: Blocks;
}

export class PastStore {
    /** Another moment is told as live. */
    readonly changes = new Changes();
    /** Null: it has not come yet. */
    it: Past | null = null;
    events: PastEvents = { events: [], stops: [], left_out: 0 };
    hasEvents = false;
    problem = '';
    /** The last state that was shown: stays while the next one is fetched. */
    state: TickState | null = null;
    /** The tick that is shown is not here yet; or the recording lacks it. */
    isFetching = false;
    isMissing = false;
    /** A recording that is compared with it. */
    other: Other | null = null;
    /** The ticks around a stop, if only these are shown. */
    window: { first: number; last: number; text: string } | null = null;
    /** Changes when another scene has to be asked for. */
    sceneOf = 0;
    /** It is of a robot that runs. */
    readonly isLive: boolean = false;
    protected scene: PastScene | null = null;
    protected view: View | null = null;
    /** Names of the parts that are faulted in what is shown. */
    private faulted = '';
    private last = 0;
    private waiting = 0;
    private addressing: ReturnType<typeof setTimeout> | undefined;

    async begin(): Promise<void> {
        const answer = await ask<AboutAnswer>('past');
        const about = answer.success ? answer.recordings[0] : undefined;
        if (!about) {
            this.problem = answer.message || t('There is no recording.');
            this.changes.tell();
            return;
        }
        const player = new Player(about.first, about.last, about.period);
        const load = (block: number): Promise<ArrayBuffer | null> => askBytes('past_joints', { block });
        this.it = { about, player, blocks: new Blocks(about, load, () => this.show()) };
        player.seek(tickOf(location.hash) ?? about.first);
        const second = answer.recordings[1];
        if (second) {
            this.other = new Other(second, () => this.changes.tell());
            this.other.follow(this.view);
            void this.other.compare();
        }
        this.show();
        window.addEventListener('hashchange', () => {
            const tick = tickOf(location.hash);
            if (tick !== null && tick !== player.tick) this.seek(tick);
        });
        const events = await ask<EventsAnswer>('past_events');
        if (events.success) this.events = events;
        else this.problem = events.message;
        this.hasEvents = events.success;
        this.changes.tell();
    }

    get isPlaying(): boolean {
        return (this.it?.player.direction ?? 0) !== 0;
    }

    /** The tick at which its time is 0. */
    get zero(): number {
        return this.it?.about.first ?? 0;
    }

    /** The tick in which the other one begins. */
    protected get otherBegins(): number {
        return this.it?.about.first ?? 0;
    }

    /** When what is shown was, in words. */
    get moment(): string {
        return `${this.state ? this.state.time.toFixed(3) : '–'} s`;
    }

    // --- for the scene ---------------------------------------------------------------------------

    readonly source = {
        scene: async (): Promise<Answer & Scene> => {
            const answer = await ask<SceneAnswer>('scene', { tick: this.it?.player.tick ?? 0 });
            if (answer.success) {
                this.scene = answer;
                this.place();
            }
            return answer;
        },
        meshes: (meshes: string[]): Promise<ArrayBuffer | null> => askBytes('meshes', { meshes }),
        follow: (view: View): (() => void) => {
            this.view = view;
            this.other?.follow(view);
            this.place();
            return () => {
                this.view = null;
                this.other?.follow(null);
            };
        },
    };

    protected place(): void {
        if (!this.it || !this.scene || !this.state) return;
        this.view?.takeJoints(sceneJoints(this.scene, this.it.about.joints, this.state.q));
    }

    get faults(): { name: string; fault: string }[] {
        return this.it ? faultedParts(this.state, this.it.about) : [];
    }

    // --- in time ---------------------------------------------------------------------------------

    /** Show what is recorded of the present tick, as soon as it is here. */
    protected show(): void {
        if (!this.it) return;
        const { player, blocks, about } = this.it;
        const ahead = Math.ceil((2 * player.speed) / (about.block * about.period));
        const [direction, blocksAhead] = [player.direction || 1, player.direction === 0 ? 1 : Math.min(ahead, 20)];
        blocks.want(player.tick, direction, blocksAhead);
        this.other?.show(player.tick - this.otherBegins, direction, blocksAhead);
        const state = blocks.at(player.tick);
        this.isFetching = state === undefined;
        this.isMissing = state === null;
        if (state) this.state = state;
        const faults = this.faults.map((part) => part.name).join(' ');
        const isNews = faults !== this.faulted;
        this.faulted = faults;
        const { scene } = this;
        if (scene && (player.tick < (scene.from ?? -Infinity) || player.tick >= (scene.until ?? Infinity))) {
            this.scene = null;
            this.sceneOf++;
            this.changes.tell();
        }
        this.place();
        this.changes.tell(!isNews);
        this.address();
    }

    seek(tick: number): void {
        if (!this.it) return;
        const { player, about } = this.it;
        if (this.window && (tick < this.window.first || tick > this.window.last)) this.whole();
        [player.first, player.last] = this.window ? [this.window.first, this.window.last] : [about.first, about.last];
        player.seek(tick);
        this.show();
    }

    step(ticks: number): void {
        this.it?.player.step(ticks);
        this.show();
    }

    toEnd(end: 'first' | 'last'): void {
        if (!this.it) return;
        this.it.player.direction = 0;
        this.seek(this.it.player[end]);
    }

    setSpeed(speed: number): void {
        if (this.it) this.it.player.speed = speed;
        this.changes.tell();
    }

    play(direction: -1 | 1): void {
        this.it?.player.play(direction);
        this.last = performance.now();
        this.show();
        this.waiting ||= requestAnimationFrame(this.picture);
    }

    private readonly picture = (now: number): void => {
        this.waiting = 0;
        const player = this.it?.player;
        if (!player || player.direction === 0) return;
        const passed = Math.max(now - this.last, 0) / 1000;
        this.last = Math.max(now, this.last);
        // What has not come yet is waited for: nothing is skipped because the server is slow.
        if (this.isFetching) this.show();
        else if (player.advance(passed)) this.show();
        if (this.isPlaying) this.waiting = requestAnimationFrame(this.picture);
        else this.ended();
    };

    /** It played as far as it reaches. */
    protected ended(): void {
        this.changes.tell();
    }

    /** Go to the next tick in which something stopped a part, and show only what came before it. */
    why(): void {
        const { it, events } = this;
        if (!it || events.stops.length === 0) return;
        const shown = this.window?.last ?? -1;
        const stop = this.nextStop(shown);
        if (!stop) return;
        const last = Math.min(Math.max(stop.tick, it.about.first), it.about.last);
        const first = Math.max(last - Math.round(BEFORE_S / it.about.period), it.about.first);
        this.window = { first, last, text: stop.text };
        it.player.direction = 0;
        this.seek(last);
    }

    /** Which stop is shown after that of a tick; -1: none was shown. */
    protected nextStop(shown: number): PastStop | undefined {
        return this.events.stops.find((each) => each.tick > shown) ?? this.events.stops[0];
    }

    /** Show the whole recording again. */
    whole(): void {
        this.window = null;
        if (this.it) [this.it.player.first, this.it.player.last] = [this.it.about.first, this.it.about.last];
        this.changes.tell();
    }

    /** A test of what follows this moment, as far as the slider reaches, as a file; or why there is none. */
    async makeTest(): Promise<{ name: string; text: string } | string> {
        if (!this.it) return t('Nothing is shown.');
        const { player, about } = this.it;
        const asked = { first: player.tick, last: player.last };
        const answer = await ask<Answer & { text: string }>('past_test', asked);
        const name = `test_${about.name.replace(/\.mcap$/, '').replace(/\W+/g, '_')}_${asked.first}.py`;
        return answer.success ? { name, text: answer.text } : answer.message;
    }

    /** The link to this moment. */
    get link(): string {
        return `${location.origin}${location.pathname}${fragmentOf(this.it?.player.tick ?? 0)}`;
    }

    /** Let the page's address name the moment, once it rests: to change it costs a browser as much as a picture. */
    protected address(): void {
        clearTimeout(this.addressing);
        this.addressing = setTimeout(
            () => history.replaceState(null, '', fragmentOf(this.it?.player.tick ?? 0)),
            ADDRESS_MS,
        );
    }
}

/** For what shows the moment: it is drawn anew with each. */
export function useMoment({ changes }: PastStore): void {
    useSyncExternalStore(changes.subscribe, () => changes.version);
}
