// What the page says to a person, and asks.

import type { Changes } from './changes.ts';

export interface Dialog {
    kind:
        | 'overtaken'
        | 'extract'
        | 'rename'
        | 'help'
        | 'compare'
        | 'take'
        | 'new'
        | 'new_program'
        | 'expand'
        | 'confirm'
        | 'name';
    text?: string;
    version?: number;
    name?: string;
    /** Of a question: the button that means yes, and what it does. */
    label?: string;
    act?: () => void;
}

export interface Notice {
    text: string;
    bad: boolean;
    id: number;
    undo?: () => void;
}

export class Talk {
    dialog: Dialog | null = null;
    notice: Notice | null = null;

    constructor(private readonly changes: Changes) {}

    say(text: string, bad = false, undo?: () => void): void {
        this.notice = { text, bad, id: (this.notice?.id ?? 0) + 1, ...(undo && { undo }) };
        this.changes.tell();
    }

    /** Take a notice away, if it is still that one. */
    unsay(id = this.notice?.id): void {
        if (this.notice?.id !== id) return;
        this.notice = null;
        this.changes.tell();
    }

    /** Show a dialog; null: none. */
    show(dialog: Dialog | null): void {
        this.dialog = dialog;
        this.changes.tell();
    }

    readonly close = (): void => this.show(null);

    /** Ask before something is done that cannot easily be undone. */
    confirm(text: string, label: string, act: () => void): void {
        this.show({ kind: 'confirm', text, label, act });
    }
}
