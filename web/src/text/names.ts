// Names: identifiers, which texts and links have, and what people see instead.

import { later } from '../language/language.ts';

/** What nodes, programs, skills and parameters can be called. */
export const NAME = /^[A-Za-z_]\w*$/;
export const BAD_NAME = later('A name has letters, digits and _, and begins with a letter.');
const LONGEST = 48;
const LONGEST_TITLE = 100;

/** What has no plain letter by itself; behavior trees are read with the same (blueprint/exchange/elements.py). */
const LETTERS: Record<string, string> = {
    ä: 'ae',
    ö: 'oe',
    ü: 'ue',
    Ä: 'Ae',
    Ö: 'Oe',
    Ü: 'Ue',
    ß: 'ss',
    æ: 'ae',
    ø: 'oe',
    ł: 'l',
};

/** A name as people see it: one line, without what cannot be printed. */
export function titleOf(typed: string): string {
    return typed
        .replace(/[\p{C}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ')
        .trim()
        .slice(0, LONGEST_TITLE)
        .trim();
}

/**
 * An identifier for what a person typed: itself, if it is one; else its plain letters, "try_again"; if it has none,
 * the fallback with a number, "node_1".
 * @param before the identifier that it has: a name without plain letters keeps one that was numbered.
 */
export function identifierOf(typed: string, taken: ReadonlySet<string>, fallback = 'node', before = ''): string {
    if (NAME.test(typed)) return typed;
    const plain = [...typed.normalize('NFC')]
        .map((letter) => LETTERS[letter] ?? letter)
        .join('')
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .replace(/[^A-Za-z0-9]+/g, '_')
        .replace(/^_+|_+$/g, '')
        .slice(0, LONGEST);
    if (plain === '') {
        if (new RegExp(`^${fallback}_\\d+$`).test(before)) return before;
        for (let n = 1; ; n += 1) if (!taken.has(`${fallback}_${n}`)) return `${fallback}_${n}`;
    }
    const found = /^\d/.test(plain) ? `_${plain}` : plain;
    if (found === before || !taken.has(found)) return found;
    for (let n = 2; ; n += 1) {
        const numbered = `${found}_${n}`;
        if (numbered === before || !taken.has(numbered)) return numbered;
    }
}

/** How people see a node, or what else has a title. */
export function shownName(of: { id: string; title: string }): string {
    return of.title || of.id;
}
