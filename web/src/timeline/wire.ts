// What the editor's server sends to a timeline as JSON: robot_rt_control/editor/timelines.py and reactions.py.
// test/unit/editor/test_wire.py holds it equal to what Python sends.

export interface WireMark {
    /** Counts them from 1: what is left out was lost. */
    number: number;
    tick: number;
    kind: string;
    session: string;
    reaction: string;
    event: string;
    part: string;
    reason: string;
    previous: string;
    current: string;
    values: Record<string, number | null>;
}

export interface WireBar {
    number: number;
    part: string;
    action: string;
    session: string;
    first: number;
    last: number | null;
    began: boolean;
}

export interface WireLayout {
    /** Another number is another executor: its ticks are others. 0: none was heard yet. */
    loop: number;
    /** [s] of a tick; 0: no executor was heard yet. */
    period: number;
    parts: string[];
    every_tick: string[];
    sampled: string[];
    problem: string;
}

/** All may be left out. */
export interface WireNews {
    layout?: WireLayout;
    marks?: WireMark[];
    /** New ones, and those that have changed. */
    bars?: WireBar[];
    /** Name → tick and value of each; null: unknown. */
    samples?: Record<string, (number | null)[][]>;
}

/** A condition, or a term of it, with what it is now. */
export interface Term {
    /** 0: the whole condition. */
    depth: number;
    text: string;
    /** true, false, unknown, or "not listed": a variable is not known here. */
    truth: string;
    /** Of its variables, if no term is below it; null: unknown; of a vector its elements. */
    values: Record<string, number | null | (number | null)[]>;
}

/** A reaction as it is defined, and why it is true now or not. */
export interface ReactionNow {
    /** Id of its action; empty: free-standing. */
    owner: string;
    name: string;
    condition: string;
    /** Where it leads: ids of actions; a stop; a signal; the user's event. */
    start: string;
    stop: boolean;
    signal: string;
    event: string;
    fire_once: boolean;
    keep_owner: boolean;
    /** File and line that defined it; empty: not known. */
    place: string;
    terms: Term[];
    /** The terms in the tick in which it fired, if that was asked for and its values are kept. */
    fired?: Term[];
}
