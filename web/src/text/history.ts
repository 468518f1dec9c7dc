// Undo without limit: what each edit took away and put in its place, so that the very bytes come back.

interface Change {
    at: number;
    removed: string;
    inserted: string;
    /** Edits with the same mark in a row are undone together: typing in one field. */
    mark: string;
}

export interface History {
    readonly text: string;
    readonly past: readonly Change[];
    readonly future: readonly Change[];
}

export function begin(text: string): History {
    return { text, past: [], future: [] };
}

/** What of a history is worth a place in a browser's store [letters]. */
const KEPT = 200_000;

/** The latest edits of a history, for a page that is opened again. */
export function keptOf({ past, future }: History): Pick<History, 'past' | 'future'> {
    let room = KEPT;
    const newest = (changes: readonly Change[]): Change[] => {
        const found: Change[] = [];
        for (const change of changes) {
            room -= change.removed.length + change.inserted.length + 40;
            if (room < 0) break;
            found.push(change);
        }
        return found;
    };
    return { past: newest([...past].reverse()).reverse(), future: newest(future) };
}

function isChange(value: unknown): value is Change {
    const it = value as Partial<Change> | null;
    return (
        typeof it === 'object' &&
        it !== null &&
        Number.isInteger(it.at) &&
        [it.removed, it.inserted, it.mark].every((each) => typeof each === 'string')
    );
}

/** A history that was kept, as far as it fits the text. */
export function resume(text: string, past: unknown, future: unknown): History {
    const fitting = (changes: unknown, side: 'inserted' | 'removed', step: typeof applied): Change[] => {
        const found: Change[] = [];
        let now = text;
        for (const change of Array.isArray(changes) ? changes : []) {
            if (!isChange(change) || !now.startsWith(change[side], change.at)) break;
            found.push(change);
            now = step(now, change);
        }
        return found;
    };
    const before = fitting(Array.isArray(past) ? [...past].reverse() : [], 'inserted', reverted);
    return { text, past: before.reverse(), future: fitting(future, 'removed', applied) };
}

function difference(before: string, after: string, mark: string): Change {
    const most = Math.min(before.length, after.length);
    let at = 0;
    while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at += 1;
    let tail = 0;
    while (
        tail < most - at &&
        before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
    ) {
        tail += 1;
    }
    return {
        at,
        removed: before.slice(at, before.length - tail),
        inserted: after.slice(at, after.length - tail),
        mark,
    };
}

function applied(text: string, change: Change): string {
    return text.slice(0, change.at) + change.inserted + text.slice(change.at + change.removed.length);
}

function reverted(text: string, change: Change): string {
    return text.slice(0, change.at) + change.removed + text.slice(change.at + change.inserted.length);
}

export function edit(history: History, text: string, mark = ''): History {
    if (text === history.text) return history;
    const last = history.past[history.past.length - 1];
    if (mark !== '' && last?.mark === mark) {
        const before = reverted(history.text, last);
        return { text, past: [...history.past.slice(0, -1), difference(before, text, mark)], future: [] };
    }
    return { text, past: [...history.past, difference(history.text, text, mark)], future: [] };
}

export function undo(history: History): History {
    const last = history.past[history.past.length - 1];
    if (!last) return history;
    return { text: reverted(history.text, last), past: history.past.slice(0, -1), future: [last, ...history.future] };
}

export function redo(history: History): History {
    const next = history.future[0];
    if (!next) return history;
    return { text: applied(history.text, next), past: [...history.past, next], future: history.future.slice(1) };
}
