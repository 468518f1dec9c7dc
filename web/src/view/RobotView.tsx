import { lazy, type ReactNode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';

import { LanguageChoice } from '../language/LanguageChoice.tsx';
import { later, pieces, t } from '../language/language.ts';
import type { LivePast as PastStore } from '../past/live_past.ts';
import { Film } from '../scene/film.ts';
import { present } from '../scene/present.ts';
import type { StoredView, View } from '../scene/view.ts';
import { ask, askBytes } from '../server.ts';
import { thePage, usePage } from '../store/page.ts';
import type { Answer, Scene } from '../wire.ts';
import { Boundary } from './Boundary.tsx';
import { LiveTimeline } from './Timeline.tsx';

/** [Hz] of the joints while the page is seen. */
const RATE = 30;
/** [ms] after which a scene that is not there is asked for again. */
const AGAIN_MS = 2000;

const Operate = lazy(async () => ({ default: (await import('../operate/Operate.tsx')).Operate }));
const LivePast = lazy(async () => ({ default: (await import('../past/LivePast.tsx')).LivePast }));
const TIMELINE = 'robot_rt_control.timeline';
/** Whether the bar of the past is open. */
const BACK = 'robot_rt_control.back';
/** Whether the panel is open. */
const OPERATES = 'robot_rt_control.operates';
const STORED = 'robot_rt_control.views';
/** Of what is drawn beside the robots. */
const NAMESPACES: Record<string, string> = {
    goal: later('goals'),
    path: later('ways of tools'),
    planned_path: later('planned paths'),
    contact_force: later('contact forces'),
    rays: later('rays of sensors'),
    limits: later('limits that are near'),
    objects: later('objects of simulators'),
};
const NEVER = (): (() => void) => () => undefined;
const NUMBERS = ['1', '2', '3', '4'];

function storedViews(): Record<string, StoredView> {
    try {
        return JSON.parse(localStorage.getItem(STORED) ?? '{}') as Record<string, StoredView>;
    } catch {
        return {};
    }
}

/** Where the picture comes from. */
export interface SceneSource {
    scene(): Promise<Answer & Scene>;
    meshes(meshes: string[]): Promise<ArrayBuffer | null>;
    /** Give joints to the view from now on; returns what ends that. */
    follow(view: View): () => void;
}

/** The workcell as it is now. */
const LIVE: SceneSource = {
    scene: () => ask<Answer & Scene>('scene'),
    meshes: (meshes) => askBytes('meshes', { meshes }),
    follow: (view) => {
        const { link } = thePage();
        const follow = (): void => link.followScene(document.hidden ? 0 : RATE, present);
        present.follow(view);
        follow();
        document.addEventListener('visibilitychange', follow);
        return () => {
            document.removeEventListener('visibilitychange', follow);
            link.followScene(0, present); // it keeps what is still on its way
            present.follow(null);
        };
    },
};

/**
 * The workcell as it moves; what else has to be said is above the picture.
 * @param source whence it comes; else from the robot.
 * @param again another one: the scene is asked for again.
 * @param hasTop whether the page has who operates and the speed above all.
 * @param past parts that are faulted in what the source shows; else of the robot.
 * @param timeline what its button opens; else that of the robot.
 * @param goal what is beside the picture of a goal in it.
 * @param besidePast what is beside the events of the past.
 * @param blueprint what is beside the picture of the past: it moves with it.
 */
export function RobotView({
    children,
    hasTop = false,
    source = LIVE,
    again = 0,
    past,
    timeline,
    goal,
    blueprint,
    besidePast,
}: {
    children?: ReactNode;
    hasTop?: boolean;
    source?: SceneSource;
    again?: number;
    past?: { name: string; fault: string }[];
    timeline?: ReactNode;
    goal?: (view: View) => ReactNode;
    blueprint?: ReactNode;
    besidePast?: (past: PastStore) => ReactNode;
}) {
    const it = usePage();
    const place = useRef<HTMLElement>(null);
    const [view, setView] = useState<View | null>(null);
    const [scene, setScene] = useState<Scene | null>(null);
    const [problem, setProblem] = useState('');
    const [link, setLink] = useState('');
    const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
    const [isFlat, setFlat] = useState(false);
    const [hasTimeline, setTimeline] = useState(() => localStorage.getItem(TIMELINE) === 'shown');
    const showTimeline = (isShown: boolean): void => {
        setTimeline(isShown);
        localStorage.setItem(TIMELINE, isShown ? 'shown' : '');
    };
    const [operates, setOperates] = useState(() => localStorage.getItem(OPERATES) === 'true');
    const [looksBack, setLooksBack] = useState(() => localStorage.getItem(BACK) === 'true');
    const [back, setBack] = useState<PastStore | null>(null);
    useSyncExternalStore(back?.changes.subscribe ?? NEVER, () => back?.changes.stillVersion ?? 0);
    const [top, setTop] = useState<Element | null>(null);
    const [side, setSide] = useState<Element | null>(null);
    const [film, setFilm] = useState<Film | null>(null);
    /** Version of the scene that the joints are of. */
    const [wanted, setWanted] = useState(0);
    const isEntered = it.me.person !== null;
    // All three at once: what draws, the scene, and the joints.
    useEffect(() => {
        let made: View | null = null;
        let closed = false;
        void import('../scene/view.ts').then(
            (loaded) => {
                if (closed || !place.current) return;
                try {
                    made = new loaded.View(place.current, (meshes) => source.meshes(meshes), setWanted);
                } catch (error) {
                    setProblem(t('This browser draws no 3D: {why}', { why: (error as Error).message }));
                    return;
                }
                Object.assign(place.current, { view: made });
                setView(made);
            },
            (error) => setProblem(t('The view cannot be loaded: {why}', { why: (error as Error).message })),
        );
        return () => {
            closed = true;
            made?.close();
        };
    }, []);
    useEffect(() => {
        let closed = false;
        let timer: ReturnType<typeof setTimeout> | undefined;
        const fetchScene = async (): Promise<void> => {
            const found = await source.scene();
            if (closed) return;
            setProblem(found.success ? '' : found.message);
            if (found.success) setScene(found);
            else timer = setTimeout(() => void fetchScene(), AGAIN_MS);
        };
        if (isEntered) void fetchScene();
        return () => {
            closed = true;
            clearTimeout(timer);
        };
    }, [isEntered, wanted, again]);
    useEffect(() => {
        if (scene) view?.show(scene);
    }, [view, scene]);
    useEffect(() => {
        return view && isEntered ? source.follow(view) : undefined;
    }, [view, isEntered]);
    const isPast = back?.isPast === true;
    const faultsNow = past ?? (it.link.live.robot.parts ?? []).filter((part) => part.operational_state === 'faulted');
    const faults = isPast ? back.faults : faultsNow;
    const names = faults.map((part) => part.name).join(' ');
    useEffect(() => view?.setFaulted(new Set(names.split(' '))), [view, names]);
    const toStored = (key: string, isKept: boolean): void => {
        const kept = storedViews();
        if (!view) return;
        if (isKept) {
            localStorage.setItem(STORED, JSON.stringify({ ...kept, [key]: view.stored }));
            it.talk.say(t('View {key} is stored in this browser.', { key }));
        } else if (kept[key]) {
            view.restore(kept[key]);
            setFlat(kept[key].orthographic);
        } else it.talk.say(t('View {key} is empty: Shift and {key} stores what is seen.', { key }));
    };
    const save = (blob: Blob | null, kind: string): void => {
        if (!blob) return;
        const anchor = document.createElement('a');
        anchor.href = URL.createObjectURL(blob);
        anchor.download = `${scene?.name || 'workcell'}.${kind}`;
        anchor.click();
        URL.revokeObjectURL(anchor.href);
    };
    const record = (): void => {
        if (!view) return;
        if (film) return film.end();
        view.setFilmed(true);
        try {
            const made = new Film(view.canvas);
            setFilm(made);
            void made.ended.then((blob) => {
                setFilm(null);
                view.setFilmed(false);
                save(blob, 'webm');
            });
            view.paint(); // a film of what stands still has one picture
        } catch (error) {
            view.setFilmed(false);
            it.talk.say(t('This browser makes no films: {why}', { why: (error as Error).message }), true);
        }
    };
    return (
        <section
            className={isPast ? 'robot-view is-past' : 'robot-view'}
            aria-label={t('The robot')}
            aria-busy={view === null && problem === ''}
            tabIndex={0}
            onKeyDown={(event) => {
                // Their fields take digits.
                if ((event.target as HTMLElement).closest('.operate, .past-blueprint')) return;
                const key = /^Digit([1-4])$/.exec(event.code)?.[1];
                if (key && !event.ctrlKey && !event.altKey && !event.metaKey) toStored(key, event.shiftKey);
            }}>
            <div className="robot-tools">
                <button onClick={() => view?.look('any')}>{t('All')}</button>
                <button onClick={() => view?.look('front')}>{t('Front')}</button>
                <button onClick={() => view?.look('left')}>{t('Left')}</button>
                <button onClick={() => view?.look('top')}>{t('Top')}</button>
                {NUMBERS.map((key) => (
                    <button
                        key={key}
                        title={t('Stored view {key}; Shift stores what is seen', { key })}
                        onClick={(event) => toStored(key, event.shiftKey)}>
                        {key}
                    </button>
                ))}
                <label>
                    <input
                        type="checkbox"
                        checked={isFlat}
                        onChange={(event) => {
                            view?.setOrthographic(event.target.checked);
                            setFlat(event.target.checked);
                        }}
                    />{' '}
                    {t('Parallel')}
                </label>
                <label>
                    <input
                        type="checkbox"
                        defaultChecked
                        onChange={(event) => view?.showFrames(event.target.checked)}
                    />{' '}
                    {t('Frames')}
                </label>
                {source === LIVE && (
                    <details className="robot-shown">
                        <summary>{t('Drawn')}</summary>
                        {Object.entries(NAMESPACES).map(([namespace, words]) => (
                            <label key={namespace}>
                                <input
                                    type="checkbox"
                                    checked={!hidden.has(namespace)}
                                    onChange={(event) => {
                                        const next = new Set(hidden);
                                        if (event.target.checked) next.delete(namespace);
                                        else next.add(namespace);
                                        setHidden(next);
                                        view?.hide(next);
                                    }}
                                />{' '}
                                {t(words)}
                            </label>
                        ))}
                    </details>
                )}
                <label>
                    {t('Follow')}{' '}
                    <select onChange={(event) => view?.follow(event.target.value)}>
                        <option value="">{t('nothing')}</option>
                        {scene?.parts.map((part) => (
                            <option key={part.name}>{part.name}</option>
                        ))}
                    </select>
                </label>
                {(source === LIVE || timeline) && (
                    <button aria-pressed={hasTimeline} onClick={() => showTimeline(!hasTimeline)}>
                        {t('Timeline')}
                    </button>
                )}
                {source === LIVE && (
                    <button
                        aria-pressed={looksBack}
                        onClick={() => {
                            localStorage.setItem(BACK, String(!looksBack));
                            setLooksBack(!looksBack);
                        }}>
                        {t('Back in time')}
                    </button>
                )}
                <button onClick={() => void view?.picture().then((blob) => save(blob, 'png'))}>{t('Picture')}</button>
                <button aria-pressed={film !== null} onClick={record}>
                    {t(film ? 'End film' : 'Film')}
                </button>
                {source === LIVE && (
                    <button
                        aria-pressed={operates}
                        onClick={() => {
                            localStorage.setItem(OPERATES, String(!operates));
                            setOperates(!operates);
                        }}>
                        {t(it.me.mayOperate ? 'Operate' : 'States')}
                    </button>
                )}
                {!hasTop && <LanguageChoice />}
                <span className="quiet">{link}</span>
            </div>
            {children}
            {faultsNow.map((part) => (
                <p key={part.name} className="robot-fault" role="alert">
                    {pieces('{part} is faulted: {fault}', { part: <b key="part">{part.name}</b>, fault: part.fault })}
                </p>
            ))}
            {problem !== '' && (
                <p className="robot-problem" role="alert">
                    {problem}
                </p>
            )}
            {scene && scene.problems.length > 0 && (
                <details className="robot-problem">
                    <summary>
                        {t('{n} thing is not drawn as described|{n} things are not drawn as described', {
                            n: scene.problems.length,
                        })}
                    </summary>
                    <ul>
                        {scene.problems.map((text) => (
                            <li key={text}>{text}</li>
                        ))}
                    </ul>
                </details>
            )}
            {source === LIVE && <div ref={setTop} />}
            {isPast &&
                faults.map((part) => (
                    <p key={part.name} className="robot-fault">
                        {pieces('{part} was faulted: {fault}', {
                            part: <b key="part">{part.name}</b>,
                            fault: part.fault,
                        })}
                    </p>
                ))}
            <div className="robot-row">
                <div className="robot-pictures">
                    <figure
                        className="robot-scene"
                        ref={place}
                        onPointerMove={(event) => {
                            if (event.buttons === 0) setLink(view?.linkAt(event.clientX, event.clientY) ?? '');
                        }}
                    />
                    {isPast && blueprint && (
                        <section className="past-blueprint" aria-label={t('The blueprint then')}>
                            {blueprint}
                        </section>
                    )}
                </div>
                {source === LIVE && looksBack && <div className="robot-side" ref={setSide} />}
                {source === LIVE && operates && isEntered && (
                    <Boundary>
                        <Suspense fallback={null}>
                            <Operate hasTop={hasTop} />
                        </Suspense>
                    </Boundary>
                )}
            </div>
            {view && scene && goal?.(view)}
            {hasTimeline && (source === LIVE ? <LiveTimeline past={back} /> : timeline)}
            {looksBack && isEntered && view && scene && top && side && (
                <Boundary>
                    <Suspense fallback={null}>
                        <LivePast
                            view={view}
                            scene={scene}
                            top={top}
                            side={side}
                            onStore={setBack}
                            beside={besidePast}
                        />
                    </Suspense>
                </Boundary>
            )}
        </section>
    );
}
