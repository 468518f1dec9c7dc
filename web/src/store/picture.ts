// How the documents are shown: as pictures or texts, and where the boxes are.

/** What the layout said. */
export interface Laid {
    structure: string;
    places: Record<string, [number, number]>;
    /** Points of a link between its ends, by "from>to". */
    bends: Record<string, [number, number][]>;
}

export class Picture {
    view: 'picture' | 'text' | 'robot' = 'picture';
    /** By a document's key. */
    places = new Map<number, Laid>();
    /** Each change of it is a wish to see the whole picture. */
    fitWanted = 0;

    fit(): void {
        this.fitWanted += 1;
    }
}
