// All that the editor's page knows, by concern. Components read it through `useStore`, and change it by its methods.

import type { Live } from '../wire.ts';
import { Building } from './building.ts';
import { Documents } from './documents.ts';
import { Drawn } from './drawn.ts';
import { Library } from './library.ts';
import { Orders } from './orders.ts';
import { open, Page, type PastMoment, usePage, useStillPage } from './page.ts';
import { PastRuns } from './past_runs.ts';
import { Picture } from './picture.ts';
import { Runs } from './runs.ts';
import { Shelf } from './shelf.ts';
import { Versions } from './versions.ts';

export class Store extends Page {
    readonly picture = new Picture();
    readonly docs = new Documents(this.changes, this.talk, this.picture, () => !this.me.onlyWatches);
    readonly library = new Library(this.changes, this.docs);
    readonly runs: Runs = new Runs(this.changes, this.docs, this.link);
    private readonly pastRuns = new PastRuns(this.changes, this.docs, this.runs);
    readonly drawn = new Drawn(this.changes, this.docs, this.link, this.runs);
    readonly orders = new Orders(this.changes, this.talk, this.me, this.docs, this.runs, this.drawn);
    readonly versions = new Versions(this.changes, this.talk, this.me, this.docs, this.library, this.runs);
    readonly shelf = new Shelf(this.changes, this.talk, this.me, this.docs, this.library);
    readonly building = new Building(this.talk, this.docs, this.picture, this.library);

    override async enter(): Promise<boolean> {
        const isKnown = await super.enter();
        if (isKnown) void this.library.loadWorkcell();
        return isKnown;
    }

    override showPast(moment: PastMoment | null): void {
        this.pastRuns.show(moment);
        super.showPast(moment);
    }

    protected override get followed(): { run: string; records: number } {
        return { run: this.runs.log.run, records: this.runs.log.records.length };
    }

    protected override take(live: Live): void {
        this.library.follow(live);
        if (live.log) this.runs.takeLog(live.log);
    }

    protected override async prepare(): Promise<void> {
        this.orders.restore();
        await this.docs.restore();
    }
}

export const store = open(new Store());

/** As `usePage`. */
export function useStore(): Store {
    usePage();
    return store;
}

/** As `useStillPage`. */
export function useStill(): Store {
    useStillPage();
    return store;
}
