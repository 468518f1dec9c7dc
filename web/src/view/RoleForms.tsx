// The parts that a skill or program needs, by their purpose.

import { t } from '../language/language.ts';
import type { Mistake } from '../store/mistakes.ts';
import { useStore } from '../store/store.ts';
import { setField } from '../text/blueprint_edits.ts';
import { isRecord, type Json, texts } from '../text/graph.ts';
import { mistakesAt } from '../text/mistake_place.ts';
import { NAME } from '../text/names.ts';
import { renameRole } from '../text/program_edits.ts';
import { remove, set, type Value } from '../text/yaml_edit.ts';
import { General } from './CallForm.tsx';
import { Choice, NameField } from './fields.tsx';
import { Adder, asText } from './Inspector.tsx';

export function RoleForms({ content, mistakes = [] }: { content: Json; mistakes?: readonly Mistake[] }) {
    const it = useStore();
    const roles = isRecord(content.roles) ? content.roles : {};
    const put = (role: string, key: string, value: Value | undefined): void =>
        it.docs.edit((text) => setField(text, ['roles', role, key], value));
    return (
        <details open={it.docs.doc?.graph.isProgram || Object.keys(roles).length > 0 || undefined}>
            <summary>
                {t('Roles: the parts that it needs')} <span className="quiet">{Object.keys(roles).length}</span>
            </summary>
            {Object.entries(roles).map(([role, declared]) => {
                const one = isRecord(declared) ? declared : {};
                const kinds = texts(one.kinds);
                const fitting = it.library.parts.filter((part) => kinds.length === 0 || kinds.includes(part.kind));
                return (
                    <div className="candidate" key={role}>
                        <div className="candidate-row">
                            <NameField
                                label={t('Role')}
                                value={role}
                                change={(name) =>
                                    NAME.test(name) && it.docs.edit((text) => renameRole(text, role, name))
                                }
                            />
                            <button
                                className="small"
                                aria-label={t('Remove {name}', { name: role })}
                                onClick={() => it.docs.edit((text) => remove(text, ['roles', role]))}>
                                ×
                            </button>
                        </div>
                        <General mistakes={mistakesAt(mistakes, ['roles', role])} />
                        <Choice
                            label={t('Kind')}
                            value={kinds.join(', ')}
                            options={[
                                ['', t('any')],
                                ...[...new Set(it.library.parts.map((part) => part.kind))].map(
                                    (kind): [string, string] => [kind, kind],
                                ),
                            ]}
                            change={(kind) => put(role, 'kinds', kind === '' ? undefined : kind.split(', '))}
                        />
                        <Choice
                            label={t('Part, if none is given')}
                            value={asText(one.default)}
                            options={[
                                ['', t('must be given')],
                                ...fitting.map((part): [string, string] => [part.name, part.name]),
                            ]}
                            change={(part) => put(role, 'default', part === '' ? undefined : part)}
                        />
                    </div>
                );
            })}
            <Adder
                label={t('New role')}
                add={(name) =>
                    it.docs.edit((text) => set(text, ['roles', name], { kinds: [it.library.parts[0]?.kind ?? 'arm'] }))
                }
            />
        </details>
    );
}
