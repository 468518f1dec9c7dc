// The last minutes of the robot that runs. The editor's process keeps them while somebody looks back: editor/recent.py.

import { t } from '../language/language.ts';
import { present } from '../scene/present.ts';
import type { View } from '../scene/view.ts';
import { ask, askBytes } from '../server.ts';
import { type PastMoment, thePage } from '../store/page.ts';
import type { Answer, Scene } from '../wire.ts';
import { Blocks } from './blocks.ts';
import { PastStore } from './past.ts';
import { Player } from './player.ts';
import { MOST_EVENTS, pastEvent, type RecentAnswer } from './recent_wire.ts';
import { type Change, WhatIf } from './what_if.ts';
import type { PastAbout, PastStop } from './wire.ts';

/** [ms] between two questions for what is new. */
const LOOK_MS = 500;
/** [s] After it, ticks that do not come count as missing. */
const SILENT_S = 1;

export class LivePast extends PastStore {
    override readonly isLive = true;
    isPast = false;
    /** What would have come of a change from a moment on. */
    whatIf: WhatIf | null = null;
    private loop = 0;
    private lastEvent = 0;
    private runs: string[] = [];
    private timer: ReturnType<typeof setTimeout> | undefined;
    private isClosed = false;
    /** [ms] on the browser's clock, when the last ticks came. */
    private grownAt = 0;

    override begin(): Promise<void> {
        return this.look();
    }

    close(): void {
        this.isClosed = true;
        clearTimeout(this.timer);
        this.now();
        this.endWhatIf();
    }

    /** What is drawn: the robot's scene as it is now. */
    draw(view: View, scene: Scene): void {
        this.view = view;
        this.scene = { ...scene, from: null, until: null };
        if (this.isPast) this.place();
        this.followWhatIf();
    }

    // --- what if ---------------------------------------------------------------------------------

    /** Simulate what would come of a change from the tick that is shown on. */
    askWhatIf(change: Omit<Change, 'tick'>): void {
        if (!this.it || this.whatIf) return;
        const asked = new WhatIf({ ...change, tick: this.it.player.tick }, () => {
            if (this.whatIf !== asked) return;
            this.other = asked.ghost;
            this.show();
            this.changes.tell();
        });
        this.whatIf = asked;
        void asked.simulate(this.loop);
        this.changes.tell();
    }

    endWhatIf(): void {
        if (!this.whatIf) return;
        this.whatIf.end();
        this.whatIf = this.other = null;
        this.show();
        this.changes.tell();
    }

    /** Its robot is drawn from the tick on from which it holds. */
    private followWhatIf(): void {
        const holds = this.isPast && (this.it?.player.tick ?? 0) >= this.otherBegins;
        this.other?.follow(holds ? this.view : null);
    }

    protected override get otherBegins(): number {
        return this.whatIf?.change.tick ?? 0;
    }

    /** [s] between what is shown and now. */
    get behind(): number {
        const { about, player } = this.it ?? {};
        return about && player ? (about.last - player.tick) * about.period + this.silence : 0;
    }

    /** [s] for which no tick has come; 0: they come. */
    private get silence(): number {
        const silent = (performance.now() - this.grownAt) / 1000;
        return silent > SILENT_S ? silent : 0;
    }

    override get zero(): number {
        return 0;
    }

    override get moment(): string {
        return this.isPast ? t('{seconds} s before now', { seconds: this.behind.toFixed(3) }) : t('now');
    }

    // --- what comes -----------------------------------------------------------------------------

    private async look(): Promise<void> {
        const request = { loop: this.loop, actions: this.it?.about.actions.length ?? 0, since: this.lastEvent };
        const answer = await ask<RecentAnswer>('recent', request);
        if (this.isClosed) return;
        this.timer = setTimeout(() => void this.look(), LOOK_MS);
        const problem = answer.success ? '' : answer.message;
        const isNews = problem !== this.problem || (answer.success && answer.loop !== this.loop);
        this.problem = problem;
        if (answer.success && answer.loop !== 0) this.take(answer);
        if (isNews || this.silence > 0) this.changes.tell();
    }

    private take(answer: Answer & RecentAnswer): void {
        if (answer.loop !== this.loop) this.renew(answer);
        const { it } = this;
        if (!it) return;
        const { about, player, blocks } = it;
        if (answer.actions) about.actions = answer.actions;
        if (answer.last !== about.last || this.grownAt === 0) {
            this.grownAt = performance.now();
            blocks.grew();
        }
        [about.first, about.last] = [answer.first, answer.last];
        this.takeEvents(answer);
        this.runs = answer.runs;
        if (!this.window) [player.first, player.last] = [about.first, about.last];
        if (!this.isPast) player.seek(about.last);
        else if (player.tick < about.first) player.seek(about.first);
        this.show();
    }

    /** It is another executor: its ticks are others. */
    private renew(answer: RecentAnswer): void {
        const { period = 0.001, block = 1000, joints = [], parts = [], actions = [], faults = {} } = answer;
        const { first, last } = answer;
        const rest = { name: '', workcell: '', hardware: '', clock: '', version: '', reason: '', is_log: false };
        const about: PastAbout = { ...rest, period, first, last, block, joints, parts, actions, faults, problems: [] };
        if (this.loop !== 0) this.events = { events: [], stops: [], left_out: 0 };
        this.now();
        this.endWhatIf();
        this.loop = answer.loop;
        this.grownAt = 0;
        const load = (number: number): Promise<ArrayBuffer | null> => askBytes('recent_joints', { block: number });
        this.it = {
            about,
            player: new Player(first, last, period),
            blocks: new Blocks(about, load, () => this.show()),
        };
        this.state = null;
    }

    private takeEvents({ events }: RecentAnswer): void {
        this.hasEvents = true;
        const first = this.it?.about.first ?? 0;
        const isGone = this.events.events.some((event) => event.tick < first);
        if (events.length === 0 && !isGone) return;
        this.lastEvent = events.at(-1)?.number ?? this.lastEvent;
        const stops: PastStop[] = events.flatMap((each) => (each.stop ? [{ tick: each.tick, text: each.stop }] : []));
        const recent = <T extends { tick: number }>(all: T[]): T[] =>
            all.filter((each) => each.tick >= first).slice(-MOST_EVENTS);
        this.events = {
            events: recent([...this.events.events, ...events.map(pastEvent)]),
            stops: recent([...this.events.stops, ...stops]),
            left_out: 0,
        };
    }

    // --- in time --------------------------------------------------------------------------------

    protected override show(): void {
        if (this.isPast) {
            thePage().showPast(this.shownMoment);
            super.show();
            this.followWhatIf();
        } else this.changes.tell(true);
    }

    private get shownMoment(): PastMoment {
        const { whatIf, runs } = this;
        const seek = (tick: number): void => this.seek(tick);
        const shown = whatIf?.answer ? { tick: whatIf.change.tick, records: whatIf.records } : null;
        return { tick: this.it?.player.tick ?? 0, runs, seek, whatIf: shown };
    }

    private enter(): void {
        if (this.isPast || !this.it) return;
        this.isPast = true;
        thePage().showPast(this.shownMoment);
        present.hold(true);
        this.changes.tell();
    }

    /** Show the robot as it is now. */
    now(): void {
        this.window = null;
        const { it } = this;
        if (it) {
            it.player.direction = 0;
            [it.player.first, it.player.last] = [it.about.first, it.about.last];
            it.player.seek(it.about.last);
        }
        if (!this.isPast) return;
        this.isPast = false;
        this.followWhatIf();
        this.state = null;
        this.isFetching = this.isMissing = false;
        thePage().showPast(null);
        present.hold(false);
        this.changes.tell();
    }

    override seek(tick: number): void {
        this.enter();
        super.seek(tick);
    }

    override step(ticks: number): void {
        if (!this.isPast && ticks > 0) return;
        this.enter();
        super.step(ticks);
    }

    override play(direction: -1 | 1): void {
        if (!this.isPast && direction > 0) return;
        this.enter();
        super.play(direction);
    }

    override toEnd(end: 'first' | 'last'): void {
        if (end === 'last') this.now();
        else super.toEnd(end);
    }

    /** Played on to what is now: it goes on with that. */
    protected override ended(): void {
        if (this.it && !this.window && this.it.player.tick >= this.it.player.last) this.now();
        else super.ended();
    }

    /** The latest one, and then those before it. */
    protected override nextStop(shown: number): PastStop | undefined {
        return this.events.stops.findLast((each) => shown < 0 || each.tick < shown) ?? this.events.stops.at(-1);
    }

    /** The page's address names no moment of what is soon forgotten. */
    protected override address(): void {}
}
