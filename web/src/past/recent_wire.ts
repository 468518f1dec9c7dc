// What the editor's server sends of the last minutes: robot_rt_control/editor/recent.py and timelines.py.

import type { WireMark } from '../timeline/wire.ts';
import type { Answer } from '../wire.ts';
import type { PastAbout, PastEvent } from './wire.ts';

/** Events that the page keeps. */
export const MOST_EVENTS = 5000;

/** What is left out has not changed. */
export interface RecentAnswer extends Answer, Partial<Omit<PastAbout, 'first' | 'last'>> {
    /** Another number is another executor; 0: no tick has come. */
    loop: number;
    first: number;
    last: number;
    /** Runs of blueprints that went on meanwhile, in the order in which they began. */
    runs: string[];
    /** `stop`: what it stopped, in words; empty: nothing. */
    events: (WireMark & { stop: string })[];
}

export function pastEvent(mark: WireMark): PastEvent {
    const { tick, kind, reason, part, session, event, reaction } = mark;
    return {
        ...{ tick, kind, reason, part, session, event, reaction },
        previous_action: mark.previous,
        current_action: mark.current,
        values: mark.values,
    };
}
