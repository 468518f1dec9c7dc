// What the server of recordings sends: robot_rt_control/editor/past/.

import type { Answer, Scene } from '../wire.ts';

/** A recording, before all else. */
export interface PastAbout {
    name: string;
    workcell: string;
    hardware: string;
    clock: string;
    version: string;
    /** [s] of a tick. */
    period: number;
    first: number;
    last: number;
    /** Why it ended; empty: it has no end. */
    reason: string;
    /** It is the log of the last ticks. */
    is_log: boolean;
    /** Ticks of a block. */
    block: number;
    joints: string[];
    parts: { name: string; kind: string }[];
    actions: string[];
    /** Reason of a fault → words. */
    faults: Record<string, string>;
    /** What cannot be shown. */
    problems: string[];
}

export interface PastEvent {
    tick: number;
    kind: string;
    reason: string;
    part: string;
    session: string;
    previous_action: string;
    current_action: string;
    /** Name of the reaction, or its number if the name is not recorded; empty: it is none. */
    reaction: string;
    /** The user's name for it; empty: none. */
    event: string;
    /** What it has captured, by name. */
    values: Record<string, number | null>;
}

/** What stopped a part. */
export interface PastStop {
    tick: number;
    text: string;
}

export interface PastEvents {
    events: PastEvent[];
    stops: PastStop[];
    left_out: number;
}

/** A scene, and the ticks for which it holds: until before `until`; null: no others follow or precede. */
export interface PastScene extends Scene {
    from: number | null;
    until: number | null;
}

/** What parts did in some ticks: robot_rt_control/editor/past/bars.py. */
export interface PastBars {
    /** Numbers of a part and of its action, first and last tick. */
    bars: [part: number, action: number, first: number, last: number][];
    /** First and last tick of what is missing. */
    gaps: [first: number, last: number][];
}

export interface PastVariable {
    name: string;
    unit: string;
    description: string;
}

export type AboutAnswer = Answer & { recordings: PastAbout[] };
export type EventsAnswer = Answer & PastEvents;
export type SceneAnswer = Answer & PastScene;
