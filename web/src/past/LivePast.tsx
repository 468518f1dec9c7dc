import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';

import { t } from '../language/language.ts';
import type { View } from '../scene/view.ts';
import type { Scene } from '../wire.ts';
import { EventList } from './EventList.tsx';
import { LivePast as Store } from './live_past.ts';
import { PartTable } from './PartTable.tsx';
import { useMoment } from './past.ts';
import { TimeBar } from './TimeBar.tsx';

/**
 * Moves through the last minutes of the robot that runs.
 * @param top, side where it says that the past is shown, and what happened in it.
 * @param beside what is above them.
 * @param onStore called with what it moves, and with null once it is closed.
 */
export function LivePast({
    view,
    scene,
    top,
    side,
    onStore,
    beside,
}: {
    view: View;
    scene: Scene;
    top: Element;
    side: Element;
    onStore: (store: Store | null) => void;
    beside?: ((past: Store) => ReactNode) | undefined;
}) {
    const past = useMemo(() => new Store(), []);
    useSyncExternalStore(past.changes.subscribe, () => past.changes.stillVersion);
    useEffect(() => {
        void past.begin();
        onStore(past);
        return () => {
            past.close();
            onStore(null);
        };
    }, []);
    useEffect(() => past.draw(view, scene), [view, scene]);
    return (
        <>
            {past.isPast && createPortal(<Banner past={past} />, top)}
            {createPortal(
                <aside className="past-side past-live">
                    {past.window && (
                        <section className="past-why" aria-label={t('Why it stopped')}>
                            <p role="alert">{past.window.text}</p>
                            <button onClick={() => past.whole()}>{t('Show all that is kept')}</button>
                        </section>
                    )}
                    {beside?.(past)}
                    {past.isPast && <PartTable past={past} />}
                    <EventList past={past} />
                </aside>,
                side,
            )}
            {past.problem !== '' && (
                <p className="robot-problem" role="alert">
                    {past.problem}
                </p>
            )}
            <TimeBar past={past} />
        </>
    );
}

/** That what is shown is the past. */
function Banner({ past }: { past: Store }) {
    useMoment(past);
    return (
        <p className="past-banner" role="status">
            <b>{t('THE PAST')}</b>
            <span className="past-behind">{t('{seconds} s before now', { seconds: past.behind.toFixed(1) })}</span>
            <span>
                {t('The robot goes on unseen. STOP and the panel beside are those of now; nothing can be jogged.')}
            </span>
            <button className="primary" onClick={() => past.now()}>
                {t('Now')}
            </button>
        </p>
    );
}
