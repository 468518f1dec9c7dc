import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { t } from '../language/language.ts';
import type { LivePast } from '../past/live_past.ts';
import { ask } from '../server.ts';
import { thePage, usePage } from '../store/page.ts';
import type { Panel } from '../timeline/panel.ts';
import type { Mark, TimelineSource } from '../timeline/source.ts';
import type { ReactionNow } from '../timeline/wire.ts';
import type { Answer, VariableInfo } from '../wire.ts';

const NEVER = (): (() => void) => () => undefined;
const CHOSEN = 'robot_rt_control.plotted';

function storedChoice(): string[] {
    try {
        const found = JSON.parse(localStorage.getItem(CHOSEN) ?? '[]') as unknown;
        return Array.isArray(found) ? found.filter((name) => typeof name === 'string') : [];
    } catch {
        return [];
    }
}

/** Plots, states and events of a source. */
export function Timeline({
    source,
    currentTick = null,
    onSeek,
    onMark,
}: {
    source: TimelineSource;
    /** Where somebody else is; null: at what is now. */
    currentTick?: number | null;
    /** A person has chosen a tick; null: what is now. */
    onSeek?: (tick: number | null) => void;
    onMark?: (mark: Mark | null) => void;
}) {
    const place = useRef<HTMLDivElement>(null);
    const [panel, setPanel] = useState<Panel | null>(null);
    const [problem, setProblem] = useState('');
    const told = useRef({ onSeek, onMark });
    told.current = { onSeek, onMark };
    useEffect(() => {
        let made: Panel | null = null;
        let closed = false;
        void import('../timeline/timeline.ts').then(
            (loaded) => {
                if (closed || !place.current) return;
                made = new loaded.Panel(place.current, source, {
                    chosen: storedChoice(),
                    onChoice: (names) => localStorage.setItem(CHOSEN, JSON.stringify(names)),
                    onSeek: (tick) => told.current.onSeek?.(tick),
                    onMark: (mark) => told.current.onMark?.(mark),
                });
                Object.assign(place.current, { panel: made, source });
                setPanel(made);
            },
            (error) => setProblem(t('The timeline cannot be loaded: {why}', { why: (error as Error).message })),
        );
        return () => {
            closed = true;
            made?.close();
        };
    }, [source]);
    useEffect(() => panel?.seek(currentTick), [panel, currentTick]);
    return (
        <section className="timeline" aria-label={t('Timeline')} aria-busy={panel === null && problem === ''}>
            {problem !== '' && <p className="timeline-problem">{problem}</p>}
            <div className="timeline-panel" ref={place} />
        </section>
    );
}

/**
 * That of the robot as it runs.
 * @param past what moves through its last minutes, if somebody looks back.
 */
export function LiveTimeline({ past }: { past: LivePast | null }) {
    useSyncExternalStore(past?.changes.subscribe ?? NEVER, () => past?.changes.version ?? 0);
    const it = usePage();
    const [source, setSource] = useState<TimelineSource | null>(null);
    const [problem, setProblem] = useState('');
    const isEntered = it.me.person !== null;
    useEffect(() => {
        if (!isEntered) return undefined;
        let made: TimelineSource | null = null;
        let closed = false;
        const describe = async (session: string): Promise<VariableInfo[]> =>
            (await ask<Answer & { variables?: VariableInfo[] }>('variables', { session })).variables ?? [];
        const explain = async (session: string, mark?: number): Promise<ReactionNow[] | string> => {
            const found = await ask<Answer & { reactions?: ReactionNow[] }>('reactions', { session, mark });
            return found.reactions ?? found.message;
        };
        void import('../timeline/timeline.ts').then(
            (loaded) => {
                if (closed) return;
                made = new loaded.LiveSource(thePage().link, describe, explain);
                setSource(made);
            },
            (error) => setProblem(t('The timeline cannot be loaded: {why}', { why: (error as Error).message })),
        );
        return () => {
            closed = true;
            made?.close();
        };
    }, [isEntered]);
    if (!source) return problem !== '' && <p className="robot-problem">{problem}</p>;
    const tick = past?.isPast ? (past.it?.player.tick ?? null) : null;
    return (
        <Timeline source={source} currentTick={tick} onSeek={(to) => (to === null ? past?.now() : past?.seek(to))} />
    );
}
