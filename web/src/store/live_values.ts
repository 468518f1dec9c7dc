// Present values of state variables, beside their names in forms: each with its unit, and whether it is old.

import type { Live, VariableInfo } from '../wire.ts';

/** [ms] The server and the page say about so late that a value does not come any more. */
export const OLD_MS = 1000;
/** As the text of a value. */
export const UNKNOWN = 'unknown';
/** Names of a text whose values are shown. */
const MOST = 8;
const NAME = /(?<![$\w.])[A-Za-z_]\w*(?:\.\w+|\[\d+\])+|(?<![$\w.])[a-z_]\w*(?![\w.[(])/g;
const ELEMENTS = ['.x', '.y', '.z'];

export interface Named {
    /** As the text has it. */
    name: string;
    /** The state variables whose values it stands for: one, or the elements of a vector. */
    variables: VariableInfo[];
}

/** What a value that is no condition passes on: the insides of its `${…}`. */
export function passedOn(text: string): string {
    return [...text.matchAll(/\$\{([^}]*)\}/g)].map((match) => match[1]).join(' ');
}

/**
 * State variables that a condition or value names, in its order.
 * @param roles role → the part that it stands for, if one is known.
 */
export function namedIn(
    text: string,
    variables: ReadonlyMap<string, VariableInfo>,
    roles: Readonly<Record<string, string>> = {},
): Named[] {
    const found = new Map<string, Named>();
    // What ${…} passes on is a name as well; what is in quotes is none.
    for (const [name] of text
        .replace(/'[^']*'|"[^"]*"/g, ' ')
        .replace(/\$\{/g, ' ')
        .matchAll(NAME)) {
        const [first = ''] = /^\w+/.exec(name) ?? [];
        const whole = Object.hasOwn(roles, first) ? (roles[first] ?? '') + name.slice(first.length) : name;
        const own = variables.get(whole);
        const elements = own ? [own] : elementsOf(whole, variables);
        if (elements.length > 0 && found.size < MOST) found.set(name, { name, variables: elements });
    }
    return [...found.values()];
}

function elementsOf(vector: string, variables: ReadonlyMap<string, VariableInfo>): VariableInfo[] {
    const known = (names: string[]): VariableInfo[] => names.flatMap((name) => variables.get(name) ?? []);
    const lettered = known(ELEMENTS.map((letter) => vector + letter));
    if (lettered.length > 0) return lettered;
    const numbered: VariableInfo[] = [];
    for (;;) {
        const next = variables.get(`${vector}[${numbered.length}]`);
        if (!next) return numbered;
        numbered.push(next);
    }
}

interface Kept {
    value: number | null;
    /** [ms] since when it does not come any more; null: it comes. */
    gone: number | null;
}

/** The last value of each variable that has come. A state that says the same again is not taken again. */
export class LiveValues {
    private readonly kept = new Map<string, Kept>();
    /** [ms] since when the executor is silent; null: it speaks. */
    private asleep: number | null = null;

    /** A state has come. */
    take(live: Live, now = performance.now()): void {
        const silent = live.robot.silent?.executor;
        this.asleep = silent === undefined ? null : now - 1000 * silent;
        const values = live.robot.values ?? {};
        for (const [name, kept] of this.kept) if (!(name in values)) kept.gone ??= now - OLD_MS;
        for (const [name, value] of Object.entries(values)) this.kept.set(name, { value, gone: null });
    }

    /**
     * [ms] since these came, at least OLD_MS; 0: they are those of now; null: one has never come.
     * @param silence [s] of the editor.
     */
    age(variables: readonly VariableInfo[], silence: number, now = performance.now()): number | null {
        let oldest = Math.max(1000 * silence, this.asleep === null ? 0 : Math.max(now - this.asleep, OLD_MS));
        for (const { name } of variables) {
            const kept = this.kept.get(name);
            if (!kept) return null;
            if (kept.gone !== null) oldest = Math.max(oldest, now - kept.gone);
        }
        return oldest;
    }

    /** Its value as people read it; empty: it has never come. */
    text({ name, type }: VariableInfo): string {
        const kept = this.kept.get(name);
        if (!kept) return '';
        return kept.value === null ? UNKNOWN : shownValue(kept.value, type);
    }
}

/** A value with four digits, and all of those before the point. */
export function shownValue(value: number, type: string): string {
    if (type === 'bool') return value === 0 ? 'false' : 'true';
    const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
    return Math.abs(rounded) < 1e-6 ? '0' : String(rounded);
}
