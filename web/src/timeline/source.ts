// What a timeline shows, wherever it comes from: a robot that runs (live.ts), or a recording.
// Whoever has a source gives it to <Timeline source currentTick onSeek /> (view/Timeline.tsx).

import type { ReactionNow } from './wire.ts';

/** A number that can be plotted. */
export interface Plottable {
    name: string;
    /** In SI; empty: none. */
    unit: string;
    description: string;
    /** false: there are only samples of it, no value of every tick. */
    everyTick: boolean;
}

/** Ticks in a row; both ends belong to it. */
export interface TickRange {
    first: number;
    last: number;
}

/** Values of one variable in a range, in ascending order of ticks. What is missing between two is a gap. */
export interface Samples {
    ticks: Float64Array;
    /** NaN: unknown in that tick. */
    values: Float64Array;
}

/** One variable in a range of ticks that is cut into columns, for drawing: typed arrays with one element a column. */
export interface Columns {
    /** NaN: no known value in the column. */
    min: Float64Array;
    max: Float64Array;
    /** Of the earliest and the latest known value, so that neighbours can be joined. NaN as above. */
    first: Float64Array;
    last: Float64Array;
    /** 1: a tick of the column, or between it and the one before, is missing or unknown: nothing is drawn across. */
    broken: Uint8Array;
}

/** Something that happened in a tick. */
export interface Mark {
    /** By which the server knows it; of a recording there is none. */
    number?: number;
    tick: number;
    /** As in msg/Event: reaction_fired, part_faulted, ... */
    kind: string;
    session: string;
    /** Name of the reaction; empty: it is none. */
    reaction: string;
    /** The user's name for it; empty: none. */
    event: string;
    previousAction: string;
    currentAction: string;
    part: string;
    reason: string;
    /** What the event has captured: values in that tick. */
    values: Record<string, number | null>;
}

/** An action that was active on a part, from its first tick to its last. */
export interface Bar {
    part: string;
    action: string;
    /** Empty: not known, or an action of the system (default, safety). */
    session: string;
    first: number;
    /** null: it is still active. */
    last: number | null;
    /** It was active before `first` already: what is earlier is not known. */
    began: boolean;
}

export interface TimelineSource {
    /** [s] of a tick. */
    readonly period: number;
    /** The ticks that there are; null: none yet. Of a robot that runs, `last` grows. */
    readonly range: TickRange | null;
    /** The tick at which its time is 0; left out: 0. */
    readonly zero?: number;
    /** New ticks come by themselves. */
    readonly isLive: boolean;
    /** Names of parts that have bars, in the order in which they are drawn. */
    readonly parts: readonly string[];
    /** What is wrong, for people; empty: nothing. */
    readonly problem: string;
    /** All that can be plotted, by name. Read again when `subscribe` tells: those of actions come and go. */
    readonly variables: readonly Plottable[];

    /** The names that are shown from now on, instead of those before. Their values may come later, or begin now. */
    choose(names: readonly string[]): void;
    /** Every value of a range, for reading and measuring. Empty if the name is not chosen. */
    samples(name: string, range: TickRange): Samples;
    /** The same, for drawing. `range.last - range.first + 1` ticks in `count` columns of equal width. */
    columns(name: string, range: TickRange, count: number): Columns;
    /** Ticks that are missing within a range: lost, or not recorded. */
    gaps(range: TickRange): TickRange[];
    marks(range: TickRange): readonly Mark[];
    bars(range: TickRange): readonly Bar[];

    /**
     * The reactions of a session with present values; a text: why they cannot be told. Not of a recording.
     *
     * @param mark number of the mark whose reaction is wanted with the values of its firing, too.
     */
    reactions?(session: string, mark?: number): Promise<ReactionNow[] | string>;

    /** Call back after each change; returns what ends that. */
    subscribe(changed: () => void): () => void;
    close(): void;
}
