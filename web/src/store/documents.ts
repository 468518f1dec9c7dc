// The texts that are open: their histories, what is selected, their mistakes, and their drafts in this browser.

import { later, t } from '../language/language.ts';
import { type Graph, readGraph } from '../text/graph.ts';
import { begin, edit, type History, keptOf, redo, resume, undo } from '../text/history.ts';
import type { Changes } from './changes.ts';
import { type Draft, DraftStore } from './drafts.ts';
import { type Mistake, mistakesOf } from './mistakes.ts';
import type { Picture } from './picture.ts';
import type { Talk } from './talk.ts';

export interface Doc {
    key: number;
    history: History;
    /** The name and version that it was made from; 0: none. */
    savedName: string;
    basedOn: number;
    savedText: string;
    readOnly: boolean;
    /** It cannot be changed by anybody: not because this page may only watch. */
    isFixed: boolean;
    graph: Graph;
    /** The last picture that could be read: a text with a slip while somebody types still has one. */
    shown: Graph;
    mistakes: Mistake[];
    checked: string;
    selection: string[];
    link: { node: string; index: number } | null;
}

const CHECK_MS = 120;

export class Documents {
    all: Doc[] = [];
    active = 0;
    private keys = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;
    private readonly drafts = new DraftStore();
    /** What other pages of this browser have changed and not saved. */
    private othersDrafts: Draft[] = [];
    private hasRoom = true;

    constructor(
        private readonly changes: Changes,
        private readonly talk: Talk,
        private readonly picture: Picture,
        /** Whether this page's link may change anything. */
        private readonly mayEdit: () => boolean = () => true,
    ) {}

    /** The one that is shown. */
    get doc(): Doc | undefined {
        return this.all[this.active];
    }

    open(
        text: string,
        from: Partial<Pick<Doc, 'savedName' | 'basedOn' | 'savedText' | 'readOnly' | 'history'>> = {},
    ): Doc {
        const graph = readGraph(text);
        this.keys += 1;
        const doc: Doc = {
            key: this.keys,
            history: begin(text),
            savedName: '',
            basedOn: 0,
            savedText: '',
            isFixed: from.readOnly ?? false,
            graph,
            shown: graph,
            mistakes: [],
            checked: '',
            selection: [],
            link: null,
            ...from,
            readOnly: from.readOnly === true || !this.mayEdit(),
        };
        this.all = [...this.all, doc];
        this.active = this.all.length - 1;
        this.picture.fit();
        this.keep();
        this.check();
        this.changes.tell();
        return doc;
    }

    activate(index: number): void {
        this.active = Math.max(0, Math.min(index, this.all.length - 1));
        this.picture.fit();
        this.keep(); // a reload shows the same one
        this.check();
        this.changes.tell();
    }

    close(index: number): void {
        this.all = this.all.filter((_, n) => n !== index);
        if (this.active >= index && this.active > 0) this.active -= 1;
        this.picture.fit();
        this.keep();
        this.changes.tell();
    }

    update(doc: Doc, changes: Partial<Doc>): void {
        this.all = this.all.map((each) => (each.key === doc.key ? { ...each, ...changes } : each));
    }

    /** Replace the text of the document that is shown. */
    setText(text: string, mark = ''): void {
        const doc = this.doc;
        if (!doc || text === doc.history.text) return;
        if (doc.readOnly) {
            this.talk.say(
                t(
                    this.mayEdit()
                        ? 'This version cannot be changed. Make a copy of it under Properties.'
                        : 'This link may watch and stop',
                ),
                true,
            );
            return;
        }
        this.setHistory(doc, edit(doc.history, text, mark));
    }

    setHistory(doc: Doc, changed: History): void {
        const graph = readGraph(changed.text);
        const known = new Set(graph.nodes.map((node) => node.id));
        this.update(doc, {
            history: changed,
            graph,
            shown: graph.problem === '' ? graph : doc.shown,
            selection: graph.problem === '' ? doc.selection.filter((id) => known.has(id)) : doc.selection,
            link: doc.link && known.has(doc.link.node) ? doc.link : null,
        });
        this.keep();
        this.check();
        this.changes.tell();
    }

    edit(change: (text: string) => string, mark = ''): void {
        const doc = this.doc;
        if (!doc) return;
        try {
            this.setText(change(doc.history.text), mark);
        } catch (error) {
            this.talk.say(
                t('This edit was not possible: {why}. Edit the text instead.', { why: (error as Error).message }),
                true,
            );
        }
    }

    undo(): void {
        if (this.doc) this.setHistory(this.doc, undo(this.doc.history));
    }

    redo(): void {
        if (this.doc) this.setHistory(this.doc, redo(this.doc.history));
    }

    select(ids: string[], link: Doc['link'] = null): void {
        const doc = this.doc;
        if (!doc) return;
        const same = ids.length === doc.selection.length && ids.every((id) => doc.selection.includes(id));
        if (same && doc.link?.node === link?.node && doc.link?.index === link?.index) return;
        this.update(doc, { selection: ids, link });
        this.changes.tell();
    }

    check(): void {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.checkNow(), CHECK_MS);
    }

    private async checkNow(): Promise<void> {
        const doc = this.doc;
        if (!doc) return;
        const text = doc.history.text;
        // Who only watches may not ask for a check.
        const mistakes = this.mayEdit() ? await mistakesOf(text, doc.graph) : [];
        const now = this.all.find((each) => each.key === doc.key);
        if (!now || now.history.text !== text) return;
        this.update(now, { mistakes, checked: text });
        this.changes.tell();
    }

    /** What is not saved is kept in this browser, also if it is not valid. */
    keep(): void {
        const docs = this.all.map((doc) => ({
            text: doc.history.text,
            savedName: doc.savedName,
            basedOn: doc.basedOn,
            savedText: doc.savedText,
            readOnly: doc.isFixed,
            ...keptOf(doc.history),
        }));
        const hasRoom = this.drafts.keep({ docs, active: this.active });
        if (!hasRoom && this.hasRoom) this.talk.say(t(NO_ROOM), true);
        this.hasRoom = hasRoom;
    }

    async restore(): Promise<void> {
        const { docs, active } = await this.drafts.begin();
        for (const { text, past, future, ...rest } of docs)
            this.open(text, { ...rest, history: resume(text, past, future) });
        this.active = Math.min(active, Math.max(this.all.length - 1, 0));
        this.keep();
        const look = (): void => {
            this.othersDrafts = this.drafts.others;
            this.changes.tell();
        };
        window.addEventListener('storage', look);
        look();
    }

    /** Another page's draft of what is shown, if it differs. */
    get othersDraft(): Draft | undefined {
        const doc = this.doc;
        const name = doc?.savedName || doc?.graph.name;
        if (!doc || !name || doc.readOnly) return undefined;
        return this.othersDrafts.find(
            (draft) => (draft.savedName || readGraph(draft.text).name) === name && draft.text !== doc.history.text,
        );
    }
}

const NO_ROOM = later(
    'This browser has no room for drafts: what is not saved is lost when the page is closed. Save it.',
);
