// The protective stop, whatever the state of the page.

import { t } from '../language/language.ts';
import { ask } from '../server.ts';
import type { Answer } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Link } from './link.ts';
import type { Talk } from './talk.ts';

/** [ms] for the answer to a STOP, before it is sent again. */
const ANSWER_MS = 5_000;

/** [ms] for which a STOP is sent again until it is confirmed, and between two attempts. */
const PATIENCE_MS = 20_000;
const AGAIN_MS = 300;

/**
 * The protective stop on its way. Each press is confirmed by the answer to a request that was sent after it: meanwhile
 * somebody may have released the stop of the press before.
 */
export class StopSender {
    /** Whether STOP was pressed and is not confirmed yet, and why the last attempt was not. */
    sending = false;
    problem = '';
    private until = 0;
    private pressedAgain = false;

    /**
     * @param send one attempt; must answer within some seconds.
     * @param changed called when `sending` or `problem` has changed.
     */
    constructor(
        private readonly send: () => Promise<Answer>,
        private readonly changed: () => void,
        private readonly againMs = AGAIN_MS,
    ) {}

    /** Returns whether it was confirmed; nothing for a press that joins one that is on its way. */
    async press(): Promise<boolean | undefined> {
        this.until = performance.now() + PATIENCE_MS;
        this.pressedAgain = this.sending;
        if (this.sending) return undefined;
        this.sending = true;
        this.problem = '';
        this.changed();
        for (;;) {
            this.pressedAgain = false;
            const answer = await this.send();
            if (answer.success && this.pressedAgain) continue;
            this.problem = answer.success ? '' : answer.message;
            this.sending = !answer.success && performance.now() < this.until;
            this.changed();
            if (!this.sending) return answer.success;
            await new Promise((resolve) => setTimeout(resolve, this.againMs));
        }
    }
}

export class Stop {
    readonly sender: StopSender;

    constructor(
        changes: Changes,
        private readonly talk: Talk,
        private readonly link: Link,
    ) {
        const send = (): Promise<Answer> => ask('protective_stop', { stop: true }, ANSWER_MS);
        this.sender = new StopSender(send, () => changes.tell());
    }

    /** It is sent again until it is confirmed. */
    async press(): Promise<void> {
        if (await this.sender.press()) this.talk.say(t('Protective stop.'));
    }

    /** Whether the stop of editors' pages is latched, or one of a robot that does not tell them apart. */
    get isLatched(): boolean {
        const { stops, protective_stop: stopped } = this.link.live.robot;
        if (stops !== undefined && stops.length > 0) return stops.some((stop) => stop.source === 'editor');
        return stopped === true || this.link.live.blueprints.protective_stop === true;
    }
}
