// Which states of a program are active now, of all that runs.

import type { LiveProgram } from './server.ts';

export interface ActiveState {
    /** The governing strategies: "x: push". */
    strategies: string[];
}

/**
 * The active states of a program, by its own ids.
 *
 * A run of a blueprint has its programs' states under a prefix (n3__approach), and so has a program that uses this one
 * (touch__approach); both are states of it only where `isRun` says that something runs it. A state that is a program
 * is active as long as a state in it is.
 */
export function activeStates(name: string, states: readonly string[], live: readonly LiveProgram[], isRun: boolean): Map<string, ActiveState> {
    const found = new Map<string, ActiveState>();
    for (const program of live) {
        const own = program.program.split('@')[0] === name;
        if (!own && !isRun) continue;
        for (const id of program.active) {
            const rest = own ? [id] : afterPrefixes(id);
            const state = states.find((each) => rest.some((one) => one === each || one.startsWith(`${each}__`)));
            if (state === undefined) continue;
            const governing = program.strategies.filter((each) => each.action === id).map((each) => `${each.degree_of_freedom}: ${each.strategy}`);
            found.set(state, { strategies: [...(found.get(state)?.strategies ?? []), ...governing] });
        }
    }
    return found;
}

/** "n1__touch__approach": that without its first names, one by one. */
function afterPrefixes(id: string): string[] {
    const parts = id.split('__');
    return parts.slice(1).map((_, n) => parts.slice(n + 1).join('__'));
}

/** What a running program did last. */
export function lastOf(name: string, live: readonly LiveProgram[]): string {
    const program = live.find((each) => each.program.split('@')[0] === name);
    if (!program) return '';
    return [program.last_reaction && `last reaction ${program.last_reaction}`, program.last_event && `last event ${program.last_event}`].filter(Boolean).join(', ');
}
