import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { t } from '../language/language.ts';
import { useStillPage } from '../store/page.ts';
import { Entered } from '../view/Entered.tsx';
import { Notice } from '../view/Notice.tsx';
import { RobotView } from '../view/RobotView.tsx';
import { Compared } from './Compared.tsx';
import { EventList } from './EventList.tsx';
import { PartTable } from './PartTable.tsx';
import { PastTimeline } from './PastTimeline.tsx';
import { PastStore } from './past.ts';
import { TimeBar } from './TimeBar.tsx';

/** Ticks of a step with Shift. */
const FAR = 100;

/** Whether a key means something else where it is pressed. */
function isTaken(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return true;
    const it = event.target as HTMLElement;
    if (it instanceof HTMLInputElement && it.type !== 'range' && it.type !== 'checkbox') return true;
    if (it instanceof HTMLSelectElement || it instanceof HTMLTextAreaElement) return true;
    return (
        event.key === ' ' &&
        (it instanceof HTMLButtonElement ||
            (it instanceof HTMLInputElement && it.type === 'checkbox') ||
            it.tagName === 'SUMMARY')
    );
}

function keys(past: PastStore, event: KeyboardEvent): void {
    if (isTaken(event)) return;
    const far = event.shiftKey ? FAR : 1;
    const acts: Record<string, () => void> = {
        ' ': () => past.play(event.shiftKey ? -1 : 1),
        ArrowLeft: () => past.step(-far),
        ArrowRight: () => past.step(far),
        Home: () => past.toEnd('first'),
        End: () => past.toEnd('last'),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
}

/** A recording: the robot at one of its ticks, what happened, and what moves through it. */
export function PastPage() {
    const it = useStillPage();
    const past = useMemo(() => new PastStore(), []);
    useSyncExternalStore(past.changes.subscribe, () => past.changes.stillVersion);
    const isEntered = it.me.person !== null;
    useEffect(() => {
        if (isEntered) void past.begin();
    }, [isEntered]);
    useEffect(() => {
        const press = (event: KeyboardEvent): void => keys(past, event);
        window.addEventListener('keydown', press);
        return () => window.removeEventListener('keydown', press);
    }, []);
    const about = past.it?.about;
    useEffect(() => {
        if (about) document.title = about.name;
    }, [about]);
    return (
        <>
            <Entered title={t('Recording')} draws>
                <div className="app past">
                    <header className="past-head">
                        <h1>{about?.name ?? t('Recording')}</h1>
                        {about && (
                            <span className="quiet">
                                {t(
                                    about.is_log
                                        ? 'the last ticks of {workcell}, {hardware}, clock {clock}, version {version}'
                                        : '{workcell}, {hardware}, clock {clock}, version {version}',
                                    {
                                        workcell: about.workcell,
                                        hardware: about.hardware,
                                        clock: about.clock || t('not recorded'),
                                        version: about.version || t('not recorded'),
                                    },
                                )}
                            </span>
                        )}
                        <span className="quiet past-no-robot">
                            {t('A recording: no robot is connected, and nothing can be moved or stopped from here.')}
                        </span>
                    </header>
                    {!it.link.connected && it.link.everConnected && (
                        <p className="robot-problem" role="alert">
                            {t('The server of this page has ended: only what is here already can be shown.')}
                        </p>
                    )}
                    {past.problem !== '' && (
                        <p className="robot-problem" role="alert">
                            {past.problem}
                        </p>
                    )}
                    {about?.problems.map((text) => (
                        <p key={text} className="robot-problem" role="status">
                            {text}
                        </p>
                    ))}
                    <div className="past-middle">
                        <RobotView
                            source={past.source}
                            again={past.sceneOf}
                            past={past.faults}
                            timeline={past.it && <PastTimeline past={past} />}
                        />
                        <aside className="past-side">
                            {past.window && (
                                <section className="past-why" aria-label={t('Why it stopped')}>
                                    <p role="alert">{past.window.text}</p>
                                    <button onClick={() => past.whole()}>{t('Show the whole recording')}</button>
                                </section>
                            )}
                            <Compared past={past} />
                            <PartTable past={past} />
                            <EventList past={past} />
                        </aside>
                    </div>
                    <TimeBar past={past} />
                </div>
            </Entered>
            <Notice />
        </>
    );
}
