// Colours, numbers and times of a timeline.

import { later, t } from '../language/language.ts';
import type { Mark } from './source.ts';

/** Okabe and Ito: told apart by the colour-blind. Beyond them, lines are dashed. */
const COLORS = ['#0072b2', '#d55e00', '#007f5f', '#b5477f', '#946200', '#3b7fa6', '#111827'];
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3]];
/** Of bars: light, so that their names can be read. */
const BARS = ['#cfe3f2', '#fbdcc8', '#cdeadf', '#f0d3e3', '#f6e3b5', '#d5ecf8', '#e2e8f0'];

export interface Stroke {
    color: string;
    dash: readonly number[];
}

/** Of the n-th variable. */
export function strokeOf(n: number): Stroke {
    return {
        color: COLORS[n % COLORS.length] as string,
        dash: DASHES[Math.floor(n / COLORS.length) % DASHES.length] as readonly number[],
    };
}

/** Actions in the order in which they were drawn first: neighbours differ. */
const drawnActions = new Map<string, number>();

/** Of an action: the same one wherever its name is. */
export function barColor(action: string): string {
    const number = drawnActions.get(action) ?? drawnActions.size;
    drawnActions.set(action, number);
    return BARS[number % BARS.length] as string;
}

export interface MarkLook {
    color: string;
    sign: string;
    words: string;
}

const MARKS: Record<string, MarkLook> = {
    reaction_fired: { color: '#0072b2', sign: '◆', words: later('reaction') },
    switch_dropped: { color: '#946200', sign: '◇', words: later('switch dropped') },
    action_started: { color: '#007f5f', sign: '▶', words: later('started') },
    action_stopped: { color: '#475569', sign: '■', words: later('ended') },
    action_failed: { color: '#b91c1c', sign: '✖', words: later('failed') },
    part_faulted: { color: '#b91c1c', sign: '✖', words: later('fault') },
    protective_stop: { color: '#b91c1c', sign: '⏹', words: later('protective stop') },
    stream_refused: { color: '#946200', sign: '▽', words: later('sample of a stream refused') },
    motion_starved: { color: '#946200', sign: '▽', words: later('set points came late') },
    overrun: { color: '#b5477f', sign: '△', words: later('deadlines missed') },
    budget_exceeded: { color: '#b5477f', sign: '△', words: later('time budget exceeded') },
    events_lost: { color: '#b91c1c', sign: '?', words: later('events lost') },
};

export function markLook(kind: string): MarkLook {
    return MARKS[kind] ?? { color: '#475569', sign: '●', words: kind.replaceAll('_', ' ') };
}

/** Four digits that count. */
export function numberText(value: number | null): string {
    if (value === null || Number.isNaN(value)) return t('unknown');
    if (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6)) return `${Number(value.toPrecision(5))}`;
    return value.toExponential(3);
}

/** [s], with as many digits as a step needs. */
export function timeText(seconds: number, step: number): string {
    const digits = Math.min(Math.max(Math.ceil(-Math.log10(step)), 0), 6);
    const sign = seconds < 0 ? '−' : '';
    const all = Math.abs(seconds);
    if (all < 120) return `${sign}${all.toFixed(digits)} s`;
    const whole = Math.floor(all / 60);
    const rest = (all - 60 * whole).toFixed(digits).padStart(digits ? 3 + digits : 2, '0');
    return whole < 60
        ? `${sign}${whole}:${rest}`
        : `${sign}${Math.floor(whole / 60)}:${`${whole % 60}`.padStart(2, '0')}:${rest}`;
}

/** A round step: about so many in a span. */
export function roundStep(span: number, about: number): number {
    const least = span / Math.max(about, 1);
    const power = 10 ** Math.floor(Math.log10(least));
    return ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10) * power;
}

/** An event in words. */
export function eventText(mark: Mark): string {
    const look = markLook(mark.kind);
    const who = [mark.session, mark.part].filter(Boolean).join(', ');
    const change = [mark.previousAction, mark.currentAction].filter(Boolean).join(' → ');
    const values = Object.entries(mark.values).map(([name, value]) => `${name} ${numberText(value)}`);
    const rest = [
        mark.reaction,
        mark.event && t('event {name}', { name: mark.event }),
        change,
        mark.reason,
        ...values,
    ].filter(Boolean);
    return `${t(look.words)}${who ? ` (${who})` : ''}${rest.length ? `: ${rest.join('; ')}` : ''}`;
}
