// Names that a condition or value of a program can use.

import { t } from '../language/language.ts';
import { type Graph, isRecord, texts } from '../text/graph.ts';
import type { ActionType } from '../wire.ts';

export interface NameHint {
    name: string;
    hint: string;
}

/**
 * Parameters as $name; for a condition also the variables of the owner's own action (bare), of other states, of roles'
 * parts, and of the workcell.
 */
export function programNames(
    graph: Graph,
    owner: string,
    isCondition: boolean,
    types: ReadonlyMap<string, ActionType>,
    variables: readonly { name: string; unit: string }[],
    parts: readonly { name: string; kind: string }[],
): NameHint[] {
    const found: NameHint[] = [];
    for (const [name, declared] of Object.entries(isRecord(graph.content.parameters) ? graph.content.parameters : {})) {
        found.push({
            name: `$${name}`,
            hint: isRecord(declared) && declared.unit ? String(declared.unit) : t('parameter'),
        });
    }
    if (!isCondition) return found;
    const own = graph.nodes.find((node) => node.id === owner);
    const of = (type: string): { name: string; unit: string }[] => types.get(type)?.state_variables ?? [];
    for (const variable of own ? of(own.skill) : [])
        found.push({ name: variable.name, hint: variable.unit || own?.id || '' });
    for (const [role, declared] of Object.entries(isRecord(graph.content.roles) ? graph.content.roles : {})) {
        const body = isRecord(declared) ? declared : {};
        const kinds = texts(body.kinds);
        const like =
            typeof body.default === 'string'
                ? body.default
                : parts.find((part) => kinds.length === 0 || kinds.includes(part.kind))?.name;
        for (const variable of variables) {
            if (like !== undefined && variable.name.startsWith(`${like}.`))
                found.push({ name: role + variable.name.slice(like.length), hint: variable.unit || 'role' });
        }
    }
    for (const node of graph.nodes) {
        if (node.id !== owner)
            for (const variable of of(node.skill))
                found.push({ name: `${node.id}.${variable.name}`, hint: variable.unit || 'state' });
    }
    const known = new Set(found.map((each) => each.name));
    for (const variable of variables)
        if (!known.has(variable.name)) found.push({ name: variable.name, hint: variable.unit });
    return found;
}
