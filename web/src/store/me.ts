// Who this page is for the editor, and what it asks of it in a person's name.

import { ask, NotEntered } from '../server.ts';
import { takeKinds } from '../text/node_kinds.ts';
import type { Answer, NodeKind, Person } from '../wire.ts';
import type { Changes } from './changes.ts';
import type { Link } from './link.ts';
import type { Talk } from './talk.ts';

const NAME = 'robot_rt_control.name';

/** Of a page that has entered. */
type Known = Answer & Person & { node_kinds: NodeKind[]; simulates?: boolean };

export class Me {
    person: Person | null = null;
    refused = '';
    /** The editor's server can simulate what would have come of a change. */
    simulates = false;

    constructor(
        private readonly changes: Changes,
        private readonly talk: Talk,
        private readonly link: Link,
    ) {}

    /** Enter by the link's token, if there is one. Returns whether the editor knows this page. */
    async enter(): Promise<boolean> {
        const fragment = new URLSearchParams(location.hash.slice(1));
        const token = fragment.get('token');
        try {
            let me: Known | null = null;
            if (token !== null) {
                fragment.delete('token');
                history.replaceState(null, '', location.pathname + (fragment.size > 0 ? `#${fragment}` : ''));
                const name = localStorage.getItem(NAME) ?? '';
                me = await ask<Known>('enter', { token, name });
                if (!me.success) {
                    this.refused = me.message;
                    me = null;
                }
            }
            me ??= await ask<Known>('me');
            if (!me.success) throw new NotEntered(me.message);
            takeKinds(me.node_kinds);
            this.simulates = me.simulates === true;
            this.person = { id: me.id, name: me.name, may_operate: me.may_operate };
            this.refused = '';
        } catch (error) {
            this.refused = this.refused || (error as Error).message;
            this.changes.tell();
            return false;
        }
        this.changes.tell();
        return true;
    }

    /** The socket was closed, or refused: another server does not know this page. */
    async again(): Promise<void> {
        try {
            await ask<Answer>('me');
        } catch (error) {
            this.refused = (error as Error).message;
            this.changes.tell();
        }
    }

    get operates(): boolean {
        return this.person !== null && this.link.live.people.operator === this.person.id;
    }

    get mayOperate(): boolean {
        return this.person?.may_operate === true;
    }

    /** Whether it is known that this page's link may watch and stop, and nothing else. */
    get onlyWatches(): boolean {
        return this.person !== null && !this.person.may_operate;
    }

    /** Ask for something, and show why not. */
    async do<T extends Answer>(name: string, request: object, done = ''): Promise<T> {
        const answer = await ask<T>(name, request);
        if (!answer.success) {
            if (answer.message.includes('take over first') && this.mayOperate) this.talk.dialog = { kind: 'take' };
            this.talk.say(answer.message, true);
        } else if (done !== '' || answer.message !== '') this.talk.say(done || answer.message);
        return answer;
    }

    async rename(name: string): Promise<void> {
        const answer = await this.do<Answer & Person>('me', { name });
        if (answer.success && this.person) {
            this.person = { ...this.person, name: answer.name };
            localStorage.setItem(NAME, answer.name);
            this.changes.tell();
        }
    }

    async operate(): Promise<void> {
        const operator = this.link.live.people.operator;
        if (operator !== '' && operator !== this.person?.id) this.talk.show({ kind: 'take' });
        else await this.do('operate', { take: true });
    }
}
