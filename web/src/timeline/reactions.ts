// Why reactions are true now, or not: those of the active actions, and the one whose mark was chosen.

import { later, t } from '../language/language.ts';
import { element } from './element.ts';
import { numberText, timeText } from './look.ts';
import type { Bar, Mark, TimelineSource } from './source.ts';
import type { ReactionNow, Term } from './wire.ts';

/** [ms] between two looks while the list is open. */
const LOOK_MS = 1000;
const MOST_SESSIONS = 4;
const SIGNS: Record<string, string> = { true: '✓', false: '✗', unknown: '?' };
const TRUTHS: Record<string, string> = {
    true: later('true'),
    false: later('false'),
    unknown: later('unknown'),
    'not listed': later('not listed'),
};

/** Which reactions are listed. */
interface Wanted {
    /** Session → ids of its actions that are active. */
    sessions: Map<string, Set<string>>;
    mark: Mark | null;
}

/** The sessions with active actions, and that of the chosen mark. */
export function wanted(bars: readonly Bar[], mark: Mark | null): Wanted {
    const sessions = new Map<string, Set<string>>();
    if (mark?.reaction) sessions.set(mark.session, new Set());
    for (const bar of bars) {
        if (bar.last !== null || bar.session === '') continue;
        if (!sessions.has(bar.session) && sessions.size >= MOST_SESSIONS) continue;
        sessions.set(bar.session, (sessions.get(bar.session) ?? new Set()).add(bar.action));
    }
    return { sessions, mark };
}

/** Those to list: free-standing ones, those of active actions, and first the chosen one. */
export function listed(all: readonly ReactionNow[], active: ReadonlySet<string>, mark: Mark | null): ReactionNow[] {
    const isChosen = (each: ReactionNow): boolean =>
        mark?.reaction === each.name && (each.owner === '' || each.owner === mark.previousAction);
    const found = all.filter((each) => each.owner === '' || active.has(each.owner) || isChosen(each));
    return found.sort((a, b) => Number(isChosen(b)) - Number(isChosen(a)));
}

/** Where a reaction leads, in words. */
export function leadsTo(each: ReactionNow): string {
    const parts = [
        each.start && t(each.keep_owner ? 'starts {start} beside {owner}' : 'starts {start}', { ...each }),
        each.stop && (each.owner ? t('stops {owner}', { ...each }) : t('stops all actions of the session')),
        each.signal && t('raises {signal}', { ...each }),
        each.event && t('event {name}', { name: each.event }),
    ].filter(Boolean);
    return `${parts.join(', ') || t('does nothing')}${each.fire_once ? t('; once') : ''}`;
}

/** File and line without the folders. */
export function placeShown(place: string): string {
    return place.slice(place.lastIndexOf('/') + 1);
}

export class ReactionList {
    readonly element: HTMLDetailsElement;
    private readonly body = element('div', 'timeline-reactions');
    private readonly timer: ReturnType<typeof setInterval>;
    private mark: Mark | null = null;
    private drawn = '';
    private isAsking = false;

    constructor(private readonly source: TimelineSource) {
        this.element = element('details', 'timeline-list', element('summary', '', t('Reactions')), this.body);
        this.element.addEventListener('toggle', () => void this.look());
        this.timer = setInterval(() => void this.look(), LOOK_MS);
    }

    close(): void {
        clearInterval(this.timer);
    }

    /** A person has chosen a mark. */
    show(mark: Mark | null): void {
        this.mark = mark?.reaction ? mark : null;
        if (this.mark) this.element.open = true;
        void this.look();
    }

    private async look(): Promise<void> {
        const { source } = this;
        if (!this.element.open || this.isAsking || document.hidden) return;
        this.isAsking = true;
        const last = source.range?.last ?? 0;
        const { sessions, mark } = wanted(source.bars({ first: last, last }), this.mark);
        const found: [string, ReactionNow[] | string][] = [];
        for (const [session, active] of sessions) {
            const own = mark?.session === session ? mark : null;
            const all = (await source.reactions?.(session, own?.number)) ?? [];
            found.push([session, typeof all === 'string' ? all : listed(all, active, own)]);
        }
        this.isAsking = false;
        const key = JSON.stringify([found, mark]);
        if (key === this.drawn) return;
        this.drawn = key;
        this.draw(found, mark);
    }

    private draw(found: [string, ReactionNow[] | string][], mark: Mark | null): void {
        const parts: Node[] = [];
        if (mark) {
            const time = timeText(mark.tick * this.source.period, this.source.period);
            const isKept = found.some(([, all]) => typeof all !== 'string' && all.some((each) => each.fired));
            const text = isKept
                ? t('{name} fired at {time}.', { name: mark.reaction, time })
                : t('{name} fired at {time}; what follows is true now.', { name: mark.reaction, time });
            parts.push(element('p', '', text));
        }
        if (found.length === 0) parts.push(element('p', 'quiet', t('No action of a session is active.')));
        for (const [session, reactions] of found) {
            if (typeof reactions === 'string') {
                parts.push(element('p', 'quiet', `${session}: ${reactions}`));
                continue;
            }
            if (reactions.length === 0) parts.push(element('p', 'quiet', t('{session}: no reactions.', { session })));
            for (const each of reactions) parts.push(reactionElement(session, each));
        }
        this.body.replaceChildren(...parts);
    }
}

function reactionElement(session: string, each: ReactionNow): HTMLElement {
    const owner = each.owner ? `${session}/${each.owner}` : t('{session}, free-standing', { session });
    const title = element('p', '', element('b', '', each.name), ` (${owner}): ${leadsTo(each)}`);
    const parts: HTMLElement[] = [title];
    if (each.fired) {
        parts.push(element('p', 'quiet', t('When it fired:')));
        parts.push(termsElement(each.fired, t('Condition of {name} when it fired', { name: each.name })));
        parts.push(element('p', 'quiet', t('Now:')));
    }
    parts.push(termsElement(each.terms, t('Condition of {name}', { name: each.name })));
    if (each.place !== '') {
        const place = element('p', 'quiet', t('Defined in {place}', { place: placeShown(each.place) }));
        place.title = each.place;
        parts.push(place);
    }
    return element('section', 'timeline-reaction', ...parts);
}

function termsElement(terms: readonly Term[], label: string): HTMLElement {
    const list = element('ul', 'timeline-terms', ...terms.map(termElement));
    list.setAttribute('aria-label', label);
    return list;
}

function termElement(term: Term): HTMLLIElement {
    const truth = element('span', `timeline-truth is-${term.truth.replace(' ', '-')}`);
    truth.append(`${SIGNS[term.truth] ?? '–'} ${t(TRUTHS[term.truth] ?? term.truth)}`);
    const values = Object.entries(term.values).map(([name, value]) =>
        element(
            'span',
            'quiet',
            ` ${name} = ${Array.isArray(value) ? value.map(numberText).join(', ') : numberText(value)}`,
        ),
    );
    const item = element('li', '', truth, ' ', element('code', '', term.text), ...values);
    item.style.marginLeft = `${14 * term.depth}px`;
    return item;
}
