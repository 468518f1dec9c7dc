// What starts a blueprint: its commands, as functions from text to text.

import { isRecord, type Json, listed } from './graph.ts';
import { data, insert, remove, render, set, type Value } from './yaml_edit.ts';

export type StartKind = 'say' | 'gesture' | 'when' | 'topic';
export const START_KINDS: StartKind[] = ['say', 'gesture', 'when', 'topic'];

export interface StartCommand {
    index: number;
    content: Json;
    kinds: StartKind[];
}

/** What a new one of a kind begins with. */
const FIRST: Record<StartKind, Value> = {
    say: [],
    gesture: ['wave'],
    when: 'false',
    topic: { name: '/recognised', type: 'std_msgs/msg/String' },
};

export function startsOf(content: Json): StartCommand[] {
    return listed(content.commands).map((each, index) => {
        const found = isRecord(each) ? each : {};
        return { index, content: found, kinds: START_KINDS.filter((kind) => found[kind] !== undefined) };
    });
}

/** Add one, behind those that are there; the first one begins a list of one line for each. */
export function addStart(text: string, kind: StartKind): string {
    const commands = (data(text) as Json | undefined)?.commands;
    const value = { [kind]: FIRST[kind] };
    if (commands !== undefined) return insert(text, ['commands'], listed(commands).length, value);
    return `${text.replace(/(?<!\n)$/, text === '' ? '' : '\n')}commands:\n  - ${render(value)}\n`;
}

export function removeStart(text: string, index: number): string {
    const commands = listed((data(text) as Json | undefined)?.commands);
    return remove(text, commands.length === 1 ? ['commands'] : ['commands', index]);
}

/** Give an entry of a mapping in a start another key: the field of a message, or the parameter that it fills. */
export function renameEntry(text: string, index: number, box: string, from: string, to: string): string {
    const command = startsOf((data(text) as Json | undefined) ?? {})[index]?.content;
    const topic = isRecord(command?.topic) ? command.topic : {};
    const entries = Object.entries(isRecord(topic[box]) ? (topic[box] as Json) : {});
    if (from === to || entries.some(([key]) => key === to)) return text;
    const next = entries.map(([key, value]) => [key === from ? to : key, value]);
    return set(text, ['commands', index, 'topic', box], Object.fromEntries(next) as Value);
}
