// Which states of a program are active now, of all that runs.

import type { LiveProgram } from './server.ts';

export interface ActiveState {
    /** The governing strategies: "x: push". */
    strategies: string[];
}

/** Program → its states that are programs themselves: [state, program]. */
export type Uses = ReadonlyMap<string, readonly (readonly [string, string])[]>;

/** Under which prefixes of ids a program has the states of another one: '' for itself, "touch__" for one that it uses. */
export function prefixesOf(outer: string, inner: string, uses: Uses, around: readonly string[] = []): string[] {
    if (outer === inner) return [''];
    if (around.includes(outer)) return [];
    return (uses.get(outer) ?? []).flatMap(([state, used]) => prefixesOf(used, inner, uses, [...around, outer]).map((rest) => `${state}__${rest}`));
}

/**
 * The active states of a program, by its own ids.
 *
 * A program that uses this one has its states under a prefix (touch__approach), and the runs of blueprints have those of
 * their programs under one more (n3__touch__approach). A state that is a program is active as long as a state in it is.
 *
 * @param running programs that nodes of blueprints run now.
 */
export function activeStates(
    name: string, states: readonly string[], live: readonly LiveProgram[], running: readonly string[], uses: Uses,
): Map<string, ActiveState> {
    const found = new Map<string, ActiveState>();
    const ofRuns = running.flatMap((each) => prefixesOf(each, name, uses));
    for (const program of live) {
        const outer = program.program.split('@')[0] ?? '';
        const own = outer === '' ? [] : prefixesOf(outer, name, uses);
        for (const id of program.active) {
            const end = id.indexOf('__');
            const inRun = end < 0 ? '' : id.slice(end + 2);
            const ids = [...own.filter((prefix) => id.startsWith(prefix)).map((prefix) => id.slice(prefix.length)),
                ...ofRuns.filter((prefix) => inRun !== '' && inRun.startsWith(prefix)).map((prefix) => inRun.slice(prefix.length))];
            const state = states.find((each) => ids.some((one) => one === each || one.startsWith(`${each}__`)));
            if (state === undefined) continue;
            const governing = program.strategies.filter((each) => each.action === id).map((each) => `${each.degree_of_freedom}: ${each.strategy}`);
            found.set(state, { strategies: [...(found.get(state)?.strategies ?? []), ...governing] });
        }
    }
    return found;
}

/** What a running program did last. */
export function lastOf(name: string, live: readonly LiveProgram[]): string {
    const program = live.find((each) => each.program.split('@')[0] === name);
    if (!program) return '';
    return [program.last_reaction && `last reaction ${program.last_reaction}`, program.last_event && `last event ${program.last_event}`].filter(Boolean).join(', ');
}
