import { memo, useState } from 'react';

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
        const waits = past.isLive ? 'No ticks have come yet.' : 'The recording is being opened …';
        return <footer className="past-bar">{past.problem === '' && waits}</footer>;
    }
    const { player } = it;
    const { stops } = past.events;
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
                'The link to this moment is copied. Another browser needs the token before it: #token=…&tick=….',
            );
        } catch {
            thePage().talk.say(`This browser copies nothing; the link is ${past.link}`, true);
        }
    };
    return (
        <footer className="past-bar">
            <div className="past-buttons">
                <button aria-label="To the first tick" title="Home" onClick={() => past.toEnd('first')}>
                    |◀
                </button>
                <button aria-label="A tick back" title="A tick back: ←" onClick={() => past.step(-1)}>
                    −1
                </button>
                <button
                    aria-label="Play backwards"
                    title="Play backwards: Shift and space"
                    aria-pressed={player.direction < 0}
                    onClick={() => past.play(-1)}>
                    {player.direction < 0 ? '❚❚' : '◀'}
                </button>
                <button
                    className="primary"
                    aria-label="Play"
                    title="Play: space"
                    aria-pressed={player.direction > 0}
                    onClick={() => past.play(1)}>
                    {player.direction > 0 ? '❚❚' : '▶'}
                </button>
                <button aria-label="A tick on" title="A tick on: →" onClick={() => past.step(1)}>
                    +1
                </button>
                <button aria-label="To the last tick" title="End" onClick={() => past.toEnd('last')}>
                    ▶|
                </button>
                <label>
                    Speed{' '}
                    <select value={player.speed} onChange={(event) => past.setSpeed(Number(event.target.value))}>
                        {SPEEDS.map((speed) => (
                            <option key={speed} value={speed}>
                                {speed}×
                            </option>
                        ))}
                    </select>
                </label>
                <label>
                    Tick{' '}
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
                    {past.isMissing ? 'this tick is missing' : `${past.moment}${past.isFetching ? ' …' : ''}`}
                </output>
                <span className="past-space" />
                <button disabled={stops.length === 0} onClick={() => past.why()}>
                    Why did it stop?
                </button>
                {past.isLive ? (
                    <button onClick={() => past.toEnd('last')}>Now</button>
                ) : (
                    <>
                        <button disabled={isWriting} onClick={() => void makeTest()}>
                            Make a test of this
                        </button>
                        <button onClick={() => void copy()}>Copy link</button>
                    </>
                )}
            </div>
            <div className="past-slider">
                <Marks stops={stops} differs={past.other?.differs ?? null} first={player.first} last={player.last} />
                <input
                    type="range"
                    aria-label="Moment"
                    aria-valuetext={`tick ${player.tick}, ${past.moment}`}
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
