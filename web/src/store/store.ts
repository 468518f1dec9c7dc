// All that the page knows, by concern. Components read it through `useStore`, and change it by calling its methods.

import { useSyncExternalStore } from 'react';

import { Building } from './building.ts';
import { Changes } from './changes.ts';
import { Documents } from './documents.ts';
import { Drawn } from './drawn.ts';
import { Library } from './library.ts';
import { Link } from './link.ts';
import { Me } from './me.ts';
import { Orders } from './orders.ts';
import { Picture } from './picture.ts';
import { Runs } from './runs.ts';
import { Shelf } from './shelf.ts';
import { Talk } from './talk.ts';
import { Versions } from './versions.ts';

export class Store {
    readonly changes = new Changes();
    readonly talk = new Talk(this.changes);
    readonly picture = new Picture();
    readonly docs = new Documents(this.changes, this.talk, this.picture);
    readonly library = new Library(this.changes, this.docs);
    readonly link: Link = new Link(
        this.changes,
        () => ({ run: this.runs.log.run, records: this.runs.log.records.length }),
        (live) => {
            this.library.follow(live);
            if (live.log) this.runs.takeLog(live.log);
        },
        () => void this.me.again(),
    );
    readonly me: Me = new Me(this.changes, this.talk, this.link);
    readonly runs: Runs = new Runs(this.changes, this.docs, this.link);
    readonly drawn = new Drawn(this.changes, this.docs, this.link, this.runs);
    readonly orders = new Orders(this.changes, this.talk, this.me, this.docs, this.link, this.runs, this.drawn);
    readonly versions = new Versions(this.changes, this.talk, this.me, this.docs, this.library, this.runs);
    readonly shelf = new Shelf(this.changes, this.talk, this.me, this.docs, this.library);
    readonly building = new Building(this.talk, this.docs, this.picture, this.library);

    /** @param isView the page shows the workcell alone, and needs no skills. */
    async enter(isView = false): Promise<void> {
        if (!(await this.me.enter())) return;
        this.orders.restore();
        await this.docs.restore();
        this.link.begin();
        this.changes.tell();
        if (!isView) void this.library.loadWorkcell();
    }
}

export const store = new Store();

export function useStore(): Store {
    useSyncExternalStore(store.changes.subscribe, () => store.changes.version);
    return store;
}

/** For what shows neither the robot's state nor its runs: it is not drawn anew with each state. */
export function useStill(): Store {
    useSyncExternalStore(store.changes.subscribe, () => store.changes.stillVersion);
    return store;
}
