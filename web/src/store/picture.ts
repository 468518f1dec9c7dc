// How the documents are shown: as pictures or texts, where the boxes are, and what of them is to be in sight.

/** What the layout said. */
export interface Laid {
    structure: string;
    places: Record<string, [number, number]>;
    /** Points of a link between its ends, by "from>to". */
    bends: Record<string, [number, number][]>;
}

/** What selects a node: the documents. */
interface Selects {
    select(ids: string[]): void;
}

export class Picture {
    view: 'picture' | 'text' | 'robot' = 'picture';
    /** By a document's key. */
    places = new Map<number, Laid>();
    /** Each change of it is a wish to see the picture. */
    fitWanted = 0;
    /** readable: if the whole picture would be too small to be read, the beginning of it; all: the whole of it. */
    fits: 'readable' | 'all' = 'readable';
    /** The node that is to be in sight; each wish has another number. */
    sought: { node: string; wish: number } = { node: '', wish: 0 };
    /** Whether the picture goes to the node that runs. */
    follows = true;

    fit(what: 'readable' | 'all' = 'readable'): void {
        this.fitWanted += 1;
        this.fits = what;
    }

    /** Select a node and bring it into sight. */
    goTo(node: string, docs: Selects): void {
        if (this.view === 'robot') this.view = 'picture';
        this.sought = { node, wish: this.sought.wish + 1 };
        docs.select([node]);
    }
}
