import { later, t } from '../language/language.ts';
import type { Mistake } from '../store/mistakes.ts';
import { useStore } from '../store/store.ts';
import { setField, typed } from '../text/blueprint_edits.ts';
import { addBranch, changeBranch, removeBranch, renameBranch } from '../text/branches.ts';
import { isRecord, type Json, kindOf, texts } from '../text/graph.ts';
import { brief, isUnder, mistakesAt } from '../text/mistake_place.ts';
import { BAD_NAME, NAME } from '../text/names.ts';
import { allKinds, kindNamed, kindsWith, writtenIn } from '../text/node_kinds.ts';
import { type Path, set, type Value } from '../text/yaml_edit.ts';
import type { NodeField, NodeKind, SkillInfo } from '../wire.ts';
import { levelName } from './Canvas.tsx';
import { Choice, Expression, Field, NameField } from './fields.tsx';
import { asText, Parameters, textAt } from './Inspector.tsx';

/** What is wrong with the field of a path, for people; undefined: nothing. */
export function badAt(mistakes: readonly Mistake[], path: Path): string | undefined {
    const found = mistakesAt(mistakes, path).filter((mistake) => !mistake.warning);
    return found.length === 0 ? undefined : found.map((mistake) => brief(mistake.text)).join('\n');
}

/** Mistakes that no single field has. */
export function General({ mistakes }: { mistakes: readonly Mistake[] }) {
    return (
        <>
            {mistakes.map((mistake) => (
                <p key={mistake.text} className={mistake.warning ? 'warning' : 'bad-hint'} role="alert">
                    {brief(mistake.text)}
                </p>
            ))}
        </>
    );
}

/** What only nodes have: key, label, what holds without it, what it means. */
export const BOUNDS: [string, string, string, string][] = [
    ['retry', later('Retry after failures'), '0', later('times')],
    ['repeat', later('Repeat after successes'), '0', later('times')],
    ['timeout', later('Time-out [s]'), later('none'), later('After it, an attempt is cancelled: result timeout.')],
];

/** Whether a field of a call's form shows a mistake. */
export function isShown(mistake: Mistake, content: Json, path: Path, skill: SkillInfo | undefined): boolean {
    if (mistake.warning || !isUnder(mistake.place, path)) return false;
    const [key, name] = mistake.place.slice(path.length).map(String);
    if (key === undefined) return false;
    const kind = kindOf(content);
    if (key === 'until') return skill?.origin === 'action_type';
    if (key === 'with') return name !== undefined && (skill?.parameters.some((info) => info.name === name) ?? false);
    if (key === 'parts') return skill?.parts.some((role) => role.split(':')[0] === name) ?? false;
    if (BOUNDS.some(([each]) => each === key)) return path.length === 2; // a branch has none
    if (key !== kind || !kindNamed(kind)) return false;
    if (kindsWith('branches').includes(kind))
        return isRecord(content[kind]) && isRecord((content[kind] as Json)[name ?? '']);
    return name !== undefined || !kindsWith('values').includes(kind);
}

/** The fields of a call: of a node, or of a branch of one. */
export function CallFields({ content, path, mistakes }: { content: Json; path: Path; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const skill = kindOf(content) === 'skill' ? it.library.skill(String(content.skill)) : undefined;
    const put = (key: string, value: Value | undefined): void =>
        it.docs.edit((text) => setField(text, [...path, key], value), `field ${[...path, key].join('.')}`);
    const own = mistakesAt(mistakes, path);
    const builtIn = kindNamed(kindOf(content));
    return (
        <>
            {skill && <Parts content={content} skill={skill} path={path} mistakes={own} />}
            {skill && (
                <Parameters
                    infos={skill.parameters}
                    path={[...path, 'with']}
                    given={isRecord(content.with) ? content.with : {}}
                    mistakes={own}
                    parts={partsOf(content, skill)}
                />
            )}
            {skill?.origin === 'action_type' && (
                <Expression
                    label={t('Until')}
                    value={asText(content.until)}
                    placeholder="is_done"
                    hint={t('The condition that ends it; its own variables have bare names.')}
                    bad={badAt(own, [...path, 'until'])}
                    change={(value) => put('until', value === '' ? undefined : value)}
                />
            )}
            {builtIn?.fields.map((field) => (
                <BuiltIn key={field.key} kind={builtIn} field={field} content={content} path={path} mistakes={own} />
            ))}
        </>
    );
}

/** Parts that a call names, or would use. */
function partsOf(content: Json, skill: SkillInfo): string[] {
    const given = isRecord(content.parts) ? content.parts : {};
    return skill.parts.map((text) => {
        const usual = /\((.*)\)/.exec(text)?.[1] ?? '';
        return asText(given[text.split(':')[0] ?? '']) || usual;
    });
}

function Parts({
    content,
    skill,
    path,
    mistakes,
}: {
    content: Json;
    skill: SkillInfo;
    path: Path;
    mistakes: readonly Mistake[];
}) {
    const it = useStore();
    if (skill.parts.length === 0) return null;
    const given = isRecord(content.parts) ? content.parts : {};
    const roles = Object.keys(isRecord(it.docs.doc?.graph.content.roles) ? it.docs.doc.graph.content.roles : {});
    return (
        <section>
            <h3>{t('Parts')}</h3>
            {skill.parts.map((text) => {
                const role = text.split(':')[0] ?? '';
                const usual = /\((.*)\)/.exec(text)?.[1] ?? '';
                const options: [string, string][] = [
                    ['', usual === '' ? t('choose a part') : t('{value} (usual)', { value: usual })],
                    ...roles.map((each): [string, string] => [each, t('{name} (role)', { name: each })]),
                    ...it.library.partsFor(text).map((each): [string, string] => [each, each]),
                ];
                return (
                    <Choice
                        key={role}
                        label={text.replace(/ \(.*\)/, '')}
                        value={asText(given[role])}
                        options={options}
                        bad={badAt(mistakes, [...path, 'parts', role])}
                        change={(part) =>
                            it.docs.edit((t) => setField(t, [...path, 'parts', role], part === '' ? undefined : part))
                        }
                    />
                );
            })}
        </section>
    );
}

/** A field of what is built in. */
function BuiltIn({
    kind,
    field,
    content,
    path,
    mistakes,
}: {
    kind: NodeKind;
    field: NodeField;
    content: Json;
    path: Path;
    mistakes: readonly Mistake[];
}) {
    const it = useStore();
    const at = [...path, kind.name, ...(field.key === '' ? [] : [field.key])];
    const value = writtenIn(kind, field, content);
    // The first field also shows what no other one has.
    const others = kind.fields.filter((each) => each !== field).map((each) => [...path, kind.name, each.key]);
    const own = mistakes.filter((mistake) => !others.some((other) => isUnder(mistake.place, other)));
    const bad = badAt(own, field === kind.fields[0] ? [...path, kind.name] : at);
    const put = (next: Value): void => it.docs.edit((text) => set(text, at, next), `field ${at.join('.')}`);
    const [label, hint] = [t(field.label), t(field.hint)];
    switch (field.form) {
        case 'seconds':
            return (
                <Expression
                    label={label}
                    value={textAt(at, value)}
                    isCondition={false}
                    bad={bad}
                    change={(next) => put(next.trim() === '' ? 0 : typed(next, 'float'))}
                />
            );
        case 'condition':
            return <Expression label={label} value={asText(value)} bad={bad} change={put} />;
        case 'text':
            return <Expression label={label} value={asText(value)} isCondition={false} bad={bad} change={put} />;
        case 'line':
            return <Field label={label} value={asText(value)} bad={bad} change={put} />;
        case 'words':
            return (
                <Field
                    label={label}
                    value={texts(value ?? field.default).join(', ')}
                    hint={hint}
                    bad={bad}
                    change={(next) =>
                        put(
                            next
                                .split(',')
                                .map((each) => each.trim())
                                .filter(Boolean),
                        )
                    }
                />
            );
        case 'values':
            return <Values label={label} at={at} given={isRecord(value) ? value : {}} mistakes={mistakes} />;
        case 'branches':
            return <Branches content={content} kind={kind.name} field={field} path={path} mistakes={mistakes} />;
        default:
            return <p className="bad-hint">{t('{label}: this page has no form for it. Edit the text.', { label })}</p>;
    }
}

/** New values of the blueprint's values. */
function Values({
    label,
    at,
    given,
    mistakes,
}: {
    label: string;
    at: Path;
    given: Json;
    mistakes: readonly Mistake[];
}) {
    const it = useStore();
    const declared = it.docs.doc?.graph.content.values;
    const values = isRecord(declared) ? Object.keys(declared) : [];
    return (
        <section>
            <h3>{label}</h3>
            {values.length === 0 && (
                <p className="quiet">{t('Declare a value of the blueprint first: select nothing, then “Values”.')}</p>
            )}
            {Object.keys(given)
                .filter((name) => !values.includes(name))
                .map((name) => (
                    <p key={name} className="bad-hint">
                        {badAt(mistakes, [...at, name])}
                    </p>
                ))}
            {values.map((name) => (
                <Expression
                    key={name}
                    label={name}
                    value={textAt([...at, name], given[name])}
                    isCondition={false}
                    placeholder={t('stays')}
                    bad={badAt(mistakes, [...at, name])}
                    change={(value) => {
                        const next = value.trim() === '' ? undefined : typed(value, 'float');
                        it.docs.edit((text) => setField(text, [...at, name], next), `field ${[...at, name].join('.')}`);
                    }}
                />
            ))}
        </section>
    );
}

function Branches({
    content,
    kind,
    field,
    path,
    mistakes,
}: {
    content: Json;
    kind: string;
    field: NodeField;
    path: Path;
    mistakes: readonly Mistake[];
}) {
    const it = useStore();
    const branches = isRecord(content[kind]) ? (content[kind] as Json) : {};
    const names = Object.keys(branches);
    return (
        <section>
            <h3>{t(field.label)}</h3>
            <p className="hint">{t(field.hint)}</p>
            {names.map((name) => (
                <BranchForm
                    key={name}
                    name={name}
                    names={names}
                    content={isRecord(branches[name]) ? branches[name] : {}}
                    kind={kind}
                    path={path}
                    mistakes={mistakes}
                />
            ))}
            <button onClick={() => it.docs.edit((text) => addBranch(text, path, kind))}>{t('Add a branch')}</button>
        </section>
    );
}

function BranchForm({
    name,
    names,
    content,
    kind,
    path,
    mistakes,
}: {
    name: string;
    names: string[];
    content: Json;
    kind: string;
    path: Path;
    mistakes: readonly Mistake[];
}) {
    const it = useStore();
    const at = [...path, kind, name];
    const own = mistakesAt(mistakes, at);
    const does = kindOf(content);
    const skill = does === 'skill' ? it.library.skill(String(content.skill)) : undefined;
    const general = own.filter(
        (mistake) => !isShown(mistake, content, at, skill) && mistake.place[at.length] !== 'skill',
    );
    const options: [string, string][] = [
        ...allKinds()
            .filter(({ name }) => !it.library.skill(name))
            .map(({ name }): [string, string] => [name, t(name.replace('_', ' '))]),
        ...it.library.skills
            .filter((each) => each.name !== it.docs.doc?.graph.name)
            .map((each): [string, string] => [each.name, `${each.name} (${levelName(each.level)})`]),
    ];
    return (
        <details className="branch" aria-label={t('Branch {name}', { name })} open>
            <summary>
                {name}
                <span className="quiet">: {does === 'skill' ? String(content.skill) : t(does.replace('_', ' '))}</span>
                {own.length > 0 && (
                    <span className="mistake-sign" role="img" aria-label={t('has a mistake')}>
                        !
                    </span>
                )}
            </summary>
            <General mistakes={general} />
            <NameField
                label={t('Name of the branch')}
                value={name}
                change={(to) => {
                    if (!NAME.test(to)) return it.talk.say(t(BAD_NAME), true);
                    if (names.includes(to))
                        return it.talk.say(t('There is a branch {name} already.', { name: to }), true);
                    it.docs.edit((text) => renameBranch(text, path, kind, name, to));
                }}
            />
            <Choice
                label={t('What it does')}
                value={does === 'skill' ? String(content.skill) : does}
                options={options}
                bad={badAt(own, [...at, 'skill'])}
                change={(what) =>
                    it.docs.edit((text) => changeBranch(text, path, kind, name, it.building.contentFor(what)))
                }
            />
            <CallFields content={content} path={at} mistakes={own} />
            <div className="row end">
                <button
                    aria-label={t('Remove branch {name}', { name })}
                    disabled={names.length < 2}
                    onClick={() => it.docs.edit((text) => removeBranch(text, path, kind, name))}>
                    {t('Remove this branch')}
                </button>
            </div>
        </details>
    );
}
