// Which states of a program are active now, of all that runs.

import { t } from '../language/language.ts';
import type { LiveProgram } from '../wire.ts';
import { base } from './ran.ts';

export interface ActiveState {
    /** The governing strategies: "x: push". */
    strategies: string[];
}

/** Program, with and without its newest version → its states that are programs themselves: [state, program]. */
export type Uses = ReadonlyMap<string, readonly (readonly [string, string])[]>;

/** Whether a program, by "touch" or "touch@2", is of the text that is shown. */
export type IsShown = (reference: string) => boolean;

/**
 * Under which prefixes of ids a program has the states of another one: '' for itself, "touch__" for one that it uses.
 *
 * @param outer "tour", or "tour@3"; what another version than the newest one uses is not known.
 */
export function prefixesOf(
    outer: string,
    inner: string,
    uses: Uses,
    isShown: IsShown = () => true,
    around: readonly string[] = [],
): string[] {
    const name = base(outer);
    if (name === inner) return isShown(outer) ? [''] : [];
    if (around.includes(name)) return [];
    return (uses.get(outer) ?? []).flatMap(([state, used]) =>
        prefixesOf(used, inner, uses, isShown, [...around, name]).map((rest) => `${state}__${rest}`),
    );
}

/**
 * The active states of a program, by its own ids.
 *
 * A program that uses this one has its states under a prefix (touch__approach). Runs of blueprints have those of their
 * programs under one more (n3__touch__approach). A state that is a program is active as long as a state in it is.
 *
 * @param running programs that nodes of blueprints run now, with their versions if these are known.
 */
export function activeStates(
    name: string,
    states: readonly string[],
    live: readonly LiveProgram[],
    running: readonly string[],
    uses: Uses,
    isShown: IsShown = () => true,
): Map<string, ActiveState> {
    const found = new Map<string, ActiveState>();
    const ofRuns = running.flatMap((each) => prefixesOf(each, name, uses, isShown));
    for (const program of live) {
        const own = program.program === '' ? [] : prefixesOf(program.program, name, uses, isShown);
        for (const id of program.active) {
            const end = id.indexOf('__');
            const inRun = end < 0 ? '' : id.slice(end + 2);
            const ids = [
                ...own.filter((prefix) => id.startsWith(prefix)).map((prefix) => id.slice(prefix.length)),
                ...ofRuns
                    .filter((prefix) => inRun !== '' && inRun.startsWith(prefix))
                    .map((prefix) => inRun.slice(prefix.length)),
            ];
            const state = states.find((each) => ids.some((one) => one === each || one.startsWith(`${each}__`)));
            if (state === undefined) continue;
            const governing = program.strategies
                .filter((each) => each.action === id)
                .map((each) => `${each.degree_of_freedom}: ${each.strategy}`);
            found.set(state, { strategies: [...(found.get(state)?.strategies ?? []), ...governing] });
        }
    }
    return found;
}

/** What a running program did last. */
export function lastOf(name: string, live: readonly LiveProgram[], isShown: IsShown = () => true): string {
    const program = live.find((each) => base(each.program) === name && isShown(each.program));
    if (!program) return '';
    return [
        program.last_reaction && t('last reaction {name}', { name: program.last_reaction }),
        program.last_event && t('last event {name}', { name: program.last_event }),
    ]
        .filter(Boolean)
        .join(', ');
}
