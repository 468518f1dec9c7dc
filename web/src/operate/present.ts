// Where a part is now: names of its state variables, and its values as text.

import type { PartInfo } from '../wire.ts';
import { hasTool } from './parts.ts';

export type Values = Record<string, number | null>;

const POSITION = ['x', 'y', 'z'];
const ORIENTATION = ['qx', 'qy', 'qz', 'qw'];

export function jointVariables(part: PartInfo): string[] {
    return part.joint_names.map((_, j) => `${part.name}.position[${j}]`);
}

export function poseVariables(part: PartInfo): { position: string[]; orientation: string[] } {
    const named = (letters: string[]): string[] =>
        hasTool(part) ? letters.map((letter) => `${part.name}.tool.${letter}`) : [];
    return { position: named(POSITION), orientation: named(ORIENTATION) };
}

/** All that the panel shows of a part. */
export function shownVariables(part: PartInfo): string[] {
    const pose = poseVariables(part);
    return [...jointVariables(part), ...pose.position, ...pose.orientation];
}

/** A value as it is shown: 0.1 mm, 0.006 degrees. */
export function shownNumber(value: number | null | undefined): string {
    return value === null || value === undefined ? '–' : value.toFixed(4).replace(/^-(0\.0*)$/, '$1');
}

/** The values of variables as they are taken, to 1 µm and 1 µrad; null: one is not known. */
export function listOf(names: string[], values: Values): number[] | null {
    const found = names.map((name) => values[name]);
    if (names.length === 0 || found.some((value) => value === null || value === undefined)) return null;
    return found.map((value) => Number((value as number).toFixed(6)) + 0);
}

/** The list as a document has it. */
export function listText(numbers: number[]): string {
    return `[${numbers.join(', ')}]`;
}
