// What a person builds in the picture: nodes that come, go and are copied, and boxes that are folded.

import { t } from '../language/language.ts';
import {
    addNode,
    copyNodes,
    deleteNodes,
    freeId,
    insertOnLink,
    moveNode,
    pasteNodes,
} from '../text/blueprint_edits.ts';
import { fold, foldOf, foldsOf, tidyFolds, unfold } from '../text/folds.ts';
import { kindNamed } from '../text/node_kinds.ts';
import type { Value } from '../text/yaml_edit.ts';
import type { Doc, Documents } from './documents.ts';
import type { Library } from './library.ts';
import type { Picture } from './picture.ts';
import { stateContent } from './program_shelf.ts';
import type { Talk } from './talk.ts';

export class Building {
    /** What was copied in this page. */
    clipboard = '';

    constructor(
        private readonly talk: Talk,
        private readonly docs: Documents,
        private readonly picture: Picture,
        private readonly library: Library,
    ) {}

    /** What a node of a skill or built-in begins with. */
    contentFor(what: string): { [key: string]: Value } {
        if (this.docs.doc?.graph.isProgram) return stateContent(what, this.library.around);
        const skill = this.library.skill(what);
        const builtIn = kindNamed(what);
        if (builtIn && !skill) return { [what]: builtIn.first as Value };
        const made: { [key: string]: Value } = { skill: what };
        const parts: { [key: string]: Value } = {};
        for (const role of skill?.parts ?? []) {
            if (role.endsWith(')')) continue; // it has a default
            const [first] = this.library.partsFor(role);
            if (first !== undefined) parts[role.split(':')[0] ?? ''] = first;
        }
        if (Object.keys(parts).length > 0) made.parts = parts;
        return made;
    }

    /** Add a node; after the selected one, if there is one. */
    add(what: string, place?: [number, number], link?: { node: string; index: number }): void {
        if (!this.docs.doc) this.docs.open('name: my_blueprint\nlevel: blueprint\nnodes: {}\n');
        const doc = this.docs.doc as Doc;
        const content = this.contentFor(what);
        const id = freeId(doc.graph, what);
        const after = doc.selection.length === 1 ? doc.selection[0] : undefined;
        const before = after === undefined ? undefined : doc.graph.nodes.find((node) => node.id === after);
        const leads =
            before !== undefined &&
            place === undefined &&
            before.candidates.every((c) => c.on[0] !== 'success' || c.when !== '');
        this.docs.edit((text) => {
            if (link) return insertOnLink(text, link.node, link.index, id, content);
            const from = leads && after !== undefined ? { node: after, result: 'success' } : undefined;
            const added = addNode(text, id, content, from);
            // It stays where it was dropped. The first one begins the picture.
            return place && doc.graph.nodes.length > 0 ? moveNode(added, id, place[0], place[1]) : added;
        });
        if (!place || link || doc.graph.nodes.length === 0) this.picture.fit();
        this.docs.select([id]);
    }

    async copy(): Promise<void> {
        const doc = this.docs.doc;
        if (!doc || doc.selection.length === 0) return;
        const text = copyNodes(doc.history.text, doc.selection);
        this.clipboard = text;
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            // Not allowed: this page still has it.
        }
        this.talk.say(t('Copied {n} node as text.|Copied {n} nodes as text.', { n: doc.selection.length }));
    }

    /** Paste a text; '': what was copied in this page. */
    paste(text: string): void {
        const doc = this.docs.doc;
        if (!doc) return;
        const { text: next, ids } = pasteNodes(doc.history.text, text || this.clipboard);
        if (ids.length === 0) {
            this.talk.say(t('There are no nodes to paste.'), true);
            return;
        }
        this.docs.setText(next);
        this.docs.select(ids);
    }

    remove(): void {
        const doc = this.docs.doc;
        if (doc && doc.selection.length > 0) this.docs.edit((text) => tidyFolds(deleteNodes(text, doc.selection)));
    }

    /** Whether a node or a folded box has this name. */
    isNamed(name: string): boolean {
        const graph = this.docs.doc?.graph;
        if (!graph) return false;
        return [...graph.nodes.map((node) => node.id), ...foldsOf(graph).map((each) => each.name)].includes(name);
    }

    /** Fold the selected nodes into one box; if they are in one, unfold it. */
    foldOrUnfold(): void {
        const doc = this.docs.doc;
        if (!doc || doc.graph.isProgram) return;
        const now = foldOf(doc.graph, doc.selection);
        if (now && !now.open) this.unfold(now.name);
        else if (doc.selection.length < 2 && !now)
            this.talk.say(t('Select two nodes or more: they become one box.'), true);
        else {
            this.picture.fit();
            this.docs.edit((text) => fold(text, doc.selection));
        }
    }

    unfold(name: string): void {
        const doc = this.docs.doc;
        const nodes = doc ? foldsOf(doc.graph).find((each) => each.name === name)?.nodes : undefined;
        if (!nodes) return;
        this.picture.fit();
        this.docs.edit((text) => unfold(text, name));
        this.docs.select(nodes);
    }
}
