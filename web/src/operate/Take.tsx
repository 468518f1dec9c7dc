import { later, t } from '../language/language.ts';
import { ask } from '../server.ts';
import { usePage } from '../store/page.ts';
import type { Answer, ParameterInfo, PartInfo, VariableInfo } from '../wire.ts';
import { hasJoints, hasTool } from './parts.ts';
import { jointVariables, listOf, listText, poseVariables } from './present.ts';

/** What of a part's present pose a field takes. */
export type Kind = 'joints' | 'position' | 'orientation';

const TAKES: Record<Kind, string> = {
    joints: later('Take the present joints of {part}'),
    position: later('Take the present position of {part}'),
    orientation: later('Take the present orientation of {part}'),
};

/** Parts that a field may take it from, if it names none that there is. */
const MOST = 3;

/** Whether a parameter is one of joints or of a tool's pose; null: neither. */
export function kindOfField(info: ParameterInfo): Kind | null {
    const name = info.name.split('.').pop() ?? '';
    if (info.length === 'dof' && ['joint', 'rad', 'm'].includes(info.unit)) return 'joints';
    // Of a skill that an action type is, as the executor of blueprints lists it.
    if (info.length === 'any' && info.type === 'float' && /(^|_)(position|joints)$/.test(name)) return 'joints';
    if (info.length === '3' && info.unit === 'm' && /position$/.test(name)) return 'position';
    return info.length === '4' && /orientation$/.test(name) ? 'orientation' : null;
}

/** The state variables that a field of this kind takes. */
export function variablesOf(kind: Kind, part: PartInfo): string[] {
    return kind === 'joints' ? jointVariables(part) : poseVariables(part)[kind];
}

/** The parts whose pose a field can take: those that are named, else all that have one. */
export function partsFor(kind: Kind, parts: readonly PartInfo[], named: readonly string[]): PartInfo[] {
    const fitting = parts.filter(kind === 'joints' ? hasJoints : hasTool);
    const own = fitting.filter((part) => named.includes(part.name));
    return (own.length > 0 ? own : fitting).slice(0, MOST);
}

/** Buttons that fill in where a part is now. */
export function Take({
    kind,
    parts,
    named,
    change,
}: {
    kind: Kind;
    parts: readonly PartInfo[];
    /** Parts that the field's action names; roles are none of them. */
    named: readonly string[];
    change: (text: string) => void;
}) {
    const it = usePage();
    const take = async (part: PartInfo): Promise<void> => {
        const answer = await ask<Answer & { variables?: VariableInfo[] }>('variables');
        const values = Object.fromEntries((answer.variables ?? []).map(({ name, value }) => [name, value]));
        const found = listOf(variablesOf(kind, part), values);
        if (found) change(listText(found));
        else
            it.talk.say(
                answer.variables ? t('Where {part} is is not known.', { part: part.name }) : answer.message,
                true,
            );
    };
    return (
        <div className="take">
            {partsFor(kind, parts, named).map((part) => (
                <button key={part.name} className="small" onClick={() => void take(part)}>
                    {t(TAKES[kind], { part: part.name })}
                </button>
            ))}
        </div>
    );
}
