import { useEffect, useState } from 'react';
import { t } from '../language/language.ts';
import { ask, askBytes } from '../server.ts';
import type { RecordedSource } from '../timeline/recorded.ts';
import { Timeline } from '../view/Timeline.tsx';
import type { Answer } from '../wire.ts';
import { type PastStore, useMoment } from './past.ts';
import type { PastBars, PastVariable } from './wire.ts';

/** Plots of what was recorded; they move with the slider, and it with them. */
export function PastTimeline({ past }: { past: PastStore }) {
    useMoment(past);
    const [source, setSource] = useState<RecordedSource | null>(null);
    const [problem, setProblem] = useState('');
    const about = past.it?.about;
    useEffect(() => {
        if (!about) return undefined;
        let made: RecordedSource | null = null;
        let closed = false;
        void import('../timeline/timeline.ts').then(
            (loaded) => {
                if (closed) return;
                made = new loaded.RecordedSource(about, {
                    variables: () => ask<Answer & { variables: PastVariable[] }>('past_variables'),
                    columns: (asked) => askBytes('past_columns', asked),
                    bars: (range) => ask<Answer & PastBars>('past_bars', range),
                });
                setSource(made);
            },
            (error) => setProblem(t('The timeline cannot be loaded: {why}', { why: (error as Error).message })),
        );
        return () => {
            closed = true;
            made?.close();
        };
    }, [about]);
    const { events } = past;
    useEffect(() => source?.takeEvents(events), [source, events]);
    if (!source) return problem !== '' && <p className="robot-problem">{problem}</p>;
    const tick = past.it?.player.tick ?? null;
    return <Timeline source={source} currentTick={tick} onSeek={(to) => to !== null && past.seek(to)} />;
}
