// What is not saved, kept in this browser: by each page under a key of its own, so that no page overwrites another
// one's.

export interface Draft {
    text: string;
    savedName: string;
    basedOn: number;
    savedText: string;
    readOnly: boolean;
    /** Its edits, to be undone and redone; of a draft of an earlier version of this page: none. */
    past?: unknown;
    future?: unknown;
}

export interface Drafts {
    docs: Draft[];
    active: number;
}

export const DRAFTS = 'robot_rt_control.drafts';
const TAB = 'robot_rt_control.tab';

/** Keep a name for as long as this page lives. False: another page has it. */
function hold(name: string): Promise<boolean> {
    if (!navigator.locks) return Promise.resolve(true);
    return new Promise((resolve) => {
        void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
            resolve(lock !== null);
            return lock === null ? undefined : new Promise(() => {});
        });
    });
}

function read(key: string): Drafts | null {
    try {
        const found = JSON.parse(localStorage.getItem(key) ?? 'null') as Drafts | null;
        return found && Array.isArray(found.docs) ? found : null;
    } catch {
        return null;
    }
}

/**
 * What is to be opened of what pages left that are gone: all that was changed, and if nothing else is there also the
 * rest.
 */
export function adopted(own: readonly Draft[], left: readonly Draft[]): Draft[] {
    const found: Draft[] = [];
    for (const draft of left) {
        const isThere = [...own, ...found].some(
            (each) => each.savedName === draft.savedName && each.text === draft.text,
        );
        const isChanged = draft.text !== draft.savedText;
        const isOpen = [...own, ...found].some((each) => each.savedName === draft.savedName && !isChanged);
        if (!isThere && !isOpen && (isChanged || own.length === 0)) found.push(draft);
    }
    return found;
}

export class DraftStore {
    private tab = '';

    private get keys(): string[] {
        const all = Array.from({ length: localStorage.length }, (_, n) => localStorage.key(n) ?? '');
        return all.filter((key) => key === DRAFTS || (key.startsWith(`${DRAFTS}.`) && key !== `${DRAFTS}.breakpoints`));
    }

    private get own(): string {
        return `${DRAFTS}.${this.tab}`;
    }

    /** This page's drafts, and those of pages that are gone. */
    async begin(): Promise<Drafts> {
        const before = sessionStorage.getItem(TAB) ?? '';
        this.tab = before;
        // A tab that was copied has the name of the other one.
        if (before === '' || !(await hold(`${TAB}.${before}`))) {
            this.tab = `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
            await hold(`${TAB}.${this.tab}`);
            sessionStorage.setItem(TAB, this.tab);
        }
        const mine = read(this.own) ?? (before === '' ? null : read(`${DRAFTS}.${before}`)) ?? { docs: [], active: 0 };
        const adopt = async (): Promise<Draft[]> => {
            const locks = navigator.locks ? ((await navigator.locks.query()).held ?? []) : [];
            const living = new Set(locks.map((lock) => (lock.name ?? '').replace(`${TAB}.`, `${DRAFTS}.`)));
            const gone = this.keys.filter((key) => key !== this.own && !living.has(key));
            const left = gone.flatMap((key) => read(key)?.docs ?? []);
            const docs = [...mine.docs, ...adopted(mine.docs, left)];
            if (this.keep({ docs, active: mine.active })) for (const key of gone) localStorage.removeItem(key);
            return docs;
        };
        const docs = navigator.locks ? await navigator.locks.request(`${DRAFTS}.adopt`, adopt) : await adopt();
        return { docs, active: mine.active };
    }

    /** False: the browser has no room for them. If it has too little, their edits are left out. */
    keep(drafts: Drafts): boolean {
        const bare = { ...drafts, docs: drafts.docs.map(({ past: _, future: __, ...draft }) => draft) };
        return this.write(drafts) || this.write(bare);
    }

    private write(drafts: Drafts): boolean {
        try {
            localStorage.setItem(this.own, JSON.stringify(drafts));
            return true;
        } catch {
            return false;
        }
    }

    /** What other pages of this browser have changed and not saved. */
    get others(): Draft[] {
        return this.keys
            .filter((key) => key !== this.own)
            .flatMap((key) => read(key)?.docs ?? [])
            .filter((draft) => draft.text !== draft.savedText && !draft.readOnly);
    }
}
