import { memo, useState } from 'react';
import { t } from '../language/language.ts';
import { thePage } from '../store/page.ts';
import { type PastStore, useMoment } from './past.ts';
import { SPEEDS } from './player.ts';
import type { PastStop } from './wire.ts';

/** Marks that are drawn above the slider. */
const MOST_MARKS = 200;

/** Moves through the recording. */
export function TimeBar({ past }: { past: PastStore }) {
    useMoment(past);
    const { it } = past;
    const [isWriting, setWriting] = useState(false);
    if (!it) {
        const waits = past.isLive ? t('No ticks have come yet.') : t('The recording is being opened …');
        return <footer className="past-bar">{past.problem === '' && waits}</footer>;
    }
    const { player } = it;
    const { stops } = past.events;
    /** A page of its own takes keys; beside the robot that runs they belong to what is focused. */
    const withKey = (title: string): string | undefined => (past.isLive ? undefined : title);
    const makeTest = async (): Promise<void> => {
        setWriting(true);
        const made = await past.makeTest();
        setWriting(false);
        if (typeof made === 'string') return thePage().talk.say(made, true);
        const anchor = document.createElement('a');
        anchor.href = URL.createObjectURL(new Blob([made.text], { type: 'text/x-python' }));
        anchor.download = made.name;
        anchor.click();
        URL.revokeObjectURL(anchor.href);
    };
    const copy = async (): Promise<void> => {
        try {
            await navigator.clipboard.writeText(past.link);
            thePage().talk.say(
                t('The link to this moment is copied. Another browser needs the token before it: #token=…&tick=….'),
            );
        } catch {
            thePage().talk.say(t('This browser copies nothing; the link is {link}', { link: past.link }), true);
        }
    };
    return (
        <footer className="past-bar">
            <div className="past-buttons">
                <button
                    aria-label={t('To the first tick')}
                    title={withKey(t('To the first tick: Home'))}
                    onClick={() => past.toEnd('first')}>
                    |◀
                </button>
                <button
                    aria-label={t('A tick back')}
                    title={withKey(t('A tick back: ←'))}
                    onClick={() => past.step(-1)}>
                    −1
                </button>
                <button
                    aria-label={t('Play backwards')}
                    title={withKey(t('Play backwards: Shift and space'))}
                    aria-pressed={player.direction < 0}
                    onClick={() => past.play(-1)}>
                    {player.direction < 0 ? '❚❚' : '◀'}
                </button>
                <button
                    className="primary"
                    aria-label={t('Play')}
                    title={withKey(t('Play: space'))}
                    aria-pressed={player.direction > 0}
                    onClick={() => past.play(1)}>
                    {player.direction > 0 ? '❚❚' : '▶'}
                </button>
                <button aria-label={t('A tick on')} title={withKey(t('A tick on: →'))} onClick={() => past.step(1)}>
                    +1
                </button>
                <button
                    aria-label={t('To the last tick')}
                    title={withKey(t('To the last tick: End'))}
                    onClick={() => past.toEnd('last')}>
                    ▶|
                </button>
                <label>
                    {t('Speed')}{' '}
                    <select value={player.speed} onChange={(event) => past.setSpeed(Number(event.target.value))}>
                        {SPEEDS.map((speed) => (
                            <option key={speed} value={speed}>
                                {speed}×
                            </option>
                        ))}
                    </select>
                </label>
                <label>
                    {t('Tick')}{' '}
                    <input
                        className="past-tick"
                        inputMode="numeric"
                        value={player.tick}
                        onChange={(event) => {
                            if (/^\d{1,15}$/.test(event.target.value)) past.seek(Number(event.target.value));
                        }}
                    />
                </label>
                <output className="past-now">
                    {past.isMissing ? t('this tick is missing') : `${past.moment}${past.isFetching ? ' …' : ''}`}
                </output>
                <span className="past-space" />
                <button disabled={stops.length === 0} onClick={() => past.why()}>
                    {t('Why did it stop?')}
                </button>
                {past.isLive ? (
                    <button onClick={() => past.toEnd('last')}>{t('Now')}</button>
                ) : (
                    <>
                        <button disabled={isWriting} onClick={() => void makeTest()}>
                            {t('Make a test of this')}
                        </button>
                        <button onClick={() => void copy()}>{t('Copy link')}</button>
                    </>
                )}
            </div>
            <div className="past-slider">
                <Marks stops={stops} differs={past.other?.differs ?? null} first={player.first} last={player.last} />
                <input
                    type="range"
                    aria-label={t('Moment')}
                    aria-valuetext={`${t('tick {tick}', { tick: player.tick })}, ${past.moment}`}
                    min={player.first}
                    max={player.last}
                    step={1}
                    value={player.tick}
                    onChange={(event) => past.seek(Number(event.target.value))}
                />
            </div>
        </footer>
    );
}

/** Where something stopped a part. */
const Marks = memo(function Marks({
    stops,
    differs,
    first,
    last,
}: {
    stops: PastStop[];
    differs: number | null;
    first: number;
    last: number;
}) {
    const left = (tick: number): string => `${(100 * (tick - first)) / Math.max(last - first, 1)}%`;
    return (
        <div className="past-marks" aria-hidden="true">
            {stops
                .filter((stop) => stop.tick >= first && stop.tick <= last)
                .slice(0, MOST_MARKS)
                .map((stop, i) => (
                    <span key={i} style={{ left: left(stop.tick) }} />
                ))}
            {differs !== null && differs >= first && differs <= last && (
                <span className="differs" style={{ left: left(differs) }} />
            )}
        </div>
    );
});
