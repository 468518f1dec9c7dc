// What each page of the editor's server knows and can do: who is here, what is true now, and STOP.

import { useSyncExternalStore } from 'react';

import type { Live, LogRecord } from '../wire.ts';
import { Changes } from './changes.ts';
import { Link } from './link.ts';
import { Me } from './me.ts';
import { Stop } from './stop.ts';
import { Talk } from './talk.ts';

/** A moment of the robot that runs. */
export interface PastMoment {
    tick: number;
    /** Runs of blueprints, in the order in which they began: ticks of their records are ticks as this one. */
    runs: readonly string[];
    /** What is simulated from a tick on, in place of what happened. */
    whatIf?: { tick: number; records: readonly LogRecord[] } | null;
    /** Show another tick. */
    seek: (tick: number) => void;
}

export class Page {
    readonly changes = new Changes();
    readonly talk = new Talk(this.changes);
    readonly link: Link = new Link(
        this.changes,
        () => this.followed,
        (live) => this.take(live),
        () => void this.me.again(),
    );
    readonly me: Me = new Me(this.changes, this.talk, this.link);
    readonly stop = new Stop(this.changes, this.talk, this.link);

    /** What is drawn of the robot is the past: jogging is refused. */
    isPast = false;

    /** From now on this moment is shown; null: now. */
    showPast(moment: PastMoment | null): void {
        if (this.isPast === (moment !== null)) return;
        this.isPast = moment !== null;
        this.changes.tell();
    }

    /** Returns whether the editor knows this page. */
    async enter(): Promise<boolean> {
        if (!(await this.me.enter())) return false;
        await this.prepare();
        this.link.begin();
        this.changes.tell();
        return true;
    }

    /** The run whose log the page shows, and how many records of it are here. */
    protected get followed(): { run: string; records: number } {
        return { run: '', records: 0 };
    }

    /** A new state has come. */
    protected take(_: Live): void {}

    /** What has to be there before states come. */
    protected async prepare(): Promise<void> {}
}

let opened: Page | null = null;

/** From now on it is this one. */
export function open<T extends Page>(page: T): T {
    opened = page;
    return page;
}

/** The page that is open. */
export function thePage(): Page {
    if (!opened) throw new Error('no page is open');
    return opened;
}

export function usePage(): Page {
    const page = thePage();
    useSyncExternalStore(page.changes.subscribe, () => page.changes.version);
    return page;
}

/** For what shows neither the robot's state nor its runs: it is not drawn anew with each state. */
export function useStillPage(): Page {
    const page = thePage();
    useSyncExternalStore(page.changes.subscribe, () => page.changes.stillVersion);
    return page;
}
