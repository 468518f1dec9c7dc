// A dead man's button: while it is held, the page gives signs of life; each echoes the editor's last answer.

import type { Answer } from '../wire.ts';

/** What a held button moves. */
export type Motion =
    | { part: string; by_hand: true }
    | ({ part: string; direction: number; speed: number } & ({ joint: number } | { axis: string; frame: string }));

type Beat = Answer & { beat?: number };

/** [ms] Between two signs of life. */
const BEAT_MS = 40;

export class Hold {
    /** The press that is held; empty: nothing is. */
    id = '';
    private count = 0;
    /** Two pages of one person, and two visits of a page, have other ids. */
    private readonly page = Math.random().toString(36).slice(2, 12);

    /**
     * @param ask a request to the editor.
     * @param changed called when `id` has changed; with why it was ended, if that was not a release.
     * @param beatMs between two signs of life.
     */
    constructor(
        private readonly ask: (request: object) => Promise<Beat>,
        private readonly changed: (why: string) => void,
        private readonly beatMs = BEAT_MS,
    ) {}

    /** Hold a button; another one that is held is let go. Returns the id of this press. */
    press(motion: Motion): string {
        this.release();
        this.count += 1;
        this.id = `${this.page}-${this.count}`;
        this.changed('');
        void this.beat(this.id, motion);
        return this.id;
    }

    /** @param id of a press: not if another one has followed; default: whatever is held. */
    release(id = this.id): void {
        if (this.id === '' || id !== this.id) return;
        this.drop('');
        void this.ask({ hold: id, release: true });
    }

    private drop(why: string): void {
        this.id = '';
        this.changed(why);
    }

    /** One request at a time: how long ago the last answer came is what the editor knows of a sign's age. */
    private async beat(id: string, motion: Motion): Promise<void> {
        let request: object = { hold: id, ...motion };
        while (this.id === id) {
            const answer = await this.ask(request);
            if (this.id !== id) return;
            if (!answer.success) return this.drop(answer.message);
            request = { hold: id, beat: answer.beat ?? 0 };
            await new Promise((resolve) => setTimeout(resolve, this.beatMs));
        }
    }
}
