import { memo, useEffect, useMemo, useRef, useState } from 'react';

import { t } from '../language/language.ts';
import { type PastStore, useMoment } from './past.ts';
import { countUntil } from './player.ts';
import type { PastEvent } from './wire.ts';

/** Events that are drawn, around the present one: a long list would take the browser longer than a picture may. */
const SHOWN = 200;

/** [ms] between two marks of the present one: a list that scrolls costs a browser more than the robot does. */
const CALM_MS = 200;

/** A value that changes often, so often at most. */
function useCalm<T>(value: T, ms: number): T {
    const [shown, setShown] = useState(value);
    const changed = useRef(0);
    useEffect(() => {
        const show = (): void => {
            changed.current = performance.now();
            setShown(value);
        };
        const timer = setTimeout(show, Math.max(changed.current + ms - performance.now(), 0));
        return () => clearTimeout(timer);
    }, [value, ms]);
    return shown;
}

/** Its words, on one line. */
export function words(event: PastEvent): string {
    const { kind, reason, part, session, previous_action: before, current_action: now } = event;
    const actions = before !== '' || now !== '' ? [before || '–', now || '–'].join(' → ') : '';
    const named = event.event || event.reaction;
    return [kind.replaceAll('_', ' '), named, part, actions, reason.replaceAll('_', ' '), session && `(${session})`]
        .filter((each) => each !== '')
        .join(' ');
}

/** What happened; click one, and its tick is shown. */
export function EventList({ past }: { past: PastStore }) {
    useMoment(past);
    const [filter, setFilter] = useState('');
    const { it, events, window } = past;
    const wanted = filter.trim().toLowerCase();
    const shown = useMemo(
        () =>
            events.events.filter(
                (event) =>
                    (!window || (event.tick >= window.first && event.tick <= window.last)) &&
                    (wanted === '' || words(event).toLowerCase().includes(wanted)),
            ),
        [events, window, wanted],
    );
    const now = useCalm(countUntil(shown, it?.player.tick ?? 0), CALM_MS);
    if (!it) return null;
    return (
        <section className="past-events" aria-label={t('Events')}>
            <label>
                {t('Events')}{' '}
                <input
                    type="search"
                    placeholder={t('all')}
                    value={filter}
                    onChange={(event) => setFilter(event.target.value)}
                />
            </label>
            {!past.hasEvents && past.problem === '' && <p className="quiet">{t('They are being read …')}</p>}
            {past.hasEvents && shown.length === 0 && <p className="quiet">{t('None.')}</p>}
            {events.left_out > 0 && (
                <p className="quiet">
                    {t('{n} later ones are not listed: there are too many.', { n: events.left_out })}
                </p>
            )}
            <Items
                shown={shown}
                now={now}
                key={filter}
                count={shown.length}
                go={(tick) => past.seek(tick)}
                period={it.about.period}
                first={past.zero}
            />
        </section>
    );
}

const Items = memo(
    function Items({
        shown,
        now,
        go,
        period,
        first,
    }: {
        shown: PastEvent[];
        now: number;
        count: number;
        go: (tick: number) => void;
        period: number;
        first: number;
    }) {
        const present = useRef<HTMLLIElement>(null);
        useEffect(() => {
            present.current?.scrollIntoView({ block: 'nearest' }); // it may return a promise
        }, [now]);
        const begin = Math.max(now - SHOWN / 2, 0);
        const end = Math.min(begin + SHOWN, shown.length);
        return (
            <ol>
                {begin > 0 && <li className="quiet">{t('{n} earlier ones', { n: begin })}</li>}
                {shown.slice(begin, end).map((event, i) => (
                    <li
                        key={begin + i}
                        ref={begin + i === now - 1 ? present : null}
                        className={`${begin + i < now ? 'was' : ''} ${event.kind}`}
                        aria-current={begin + i === now - 1 ? 'step' : undefined}>
                        <button
                            className="plain-button"
                            title={t('Tick {tick}', { tick: event.tick })}
                            onClick={() => go(event.tick)}>
                            <span className="past-time">{((event.tick - first) * period).toFixed(3)}</span>{' '}
                            {words(event)}
                        </button>
                    </li>
                ))}
                {end < shown.length && <li className="quiet">{t('{n} later ones', { n: shown.length - end })}</li>}
            </ol>
        );
    },
    (before, after) => before.now === after.now && before.count === after.count && before.shown[0] === after.shown[0],
);
