// A page without a browser: the storage of its drafts, and an editor that answers from a table.

import { Store } from '../src/store/store.ts';
import type { Answer, Live, LiveNode } from '../src/wire.ts';

const kept = new Map<string, string>();

Object.assign(globalThis, {
    localStorage: {
        get length() {
            return kept.size;
        },
        key: (n: number) => [...kept.keys()][n] ?? null,
        getItem: (key: string) => kept.get(key) ?? null,
        setItem: (key: string, value: string) => kept.set(key, value),
        removeItem: (key: string) => kept.delete(key),
    },
});

export interface Asked {
    name: string;
    request: Record<string, unknown>;
}

/** A store whose requests are kept, and answered by name; what has no answer is refused. */
export function page(answers: Record<string, object>): { it: Store; asked: Asked[] } {
    const asked: Asked[] = [];
    globalThis.fetch = async (url, init) => {
        const name = String(url).replace('/api/', '');
        asked.push({ name, request: JSON.parse(String(init?.body)) as Record<string, unknown> });
        const refused: Answer = { success: false, message: `no ${name}` };
        return Response.json(answers[name] ? { success: true, message: '', ...answers[name] } : refused);
    };
    return { it: new Store(), asked };
}

export function node(of: Partial<LiveNode>): LiveNode {
    return {
        run: 'r1',
        path: '',
        does: '',
        visit: 1,
        attempt: 1,
        state: 'runs',
        since: 0,
        question: '',
        answers: [],
        result: '',
        reason: '',
        parts: [],
        source: '',
        rehearsed: false,
        will_pause: false,
        has_to_be_said: false,
        jump: '',
        breakpoints: [],
        ...of,
    };
}

/** What the editor would say next. */
export function say(it: Store, more: Partial<Live>): void {
    it.link.live = { ...it.link.live, ...more };
    if (more.log) it.runs.takeLog(more.log);
    it.changes.tell(true);
}
