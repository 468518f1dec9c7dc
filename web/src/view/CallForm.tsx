import { type Mistake, useStore } from '../store.ts';
import type { SkillInfo } from '../server.ts';
import { addBranch, changeBranch, type Kind, removeBranch, renameBranch } from '../text/branches.ts';
import { setField, typed } from '../text/blueprint_edits.ts';
import { BUILT_IN, isRecord, type Json, kindOf, texts } from '../text/graph.ts';
import { brief, isUnder, mistakesAt } from '../text/mistake_place.ts';
import { type Path, set, type Value } from '../text/yaml_edit.ts';
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
    return <>{mistakes.map((mistake) => <p key={mistake.text} className={mistake.warning ? 'warning' : 'bad-hint'} role="alert">{brief(mistake.text)}</p>)}</>;
}

const FIELDS = ['wait', 'wait_until', 'say', 'log', 'ask', 'set', 'retry', 'repeat', 'timeout'];

/** Whether a field of a call's form shows a mistake. */
export function isShown(mistake: Mistake, content: Json, path: Path, skill: SkillInfo | undefined): boolean {
    if (mistake.warning || !isUnder(mistake.place, path)) return false;
    const [key, name] = mistake.place.slice(path.length).map(String);
    if (key === undefined) return false;
    const kind = kindOf(content);
    if (key === 'until') return skill?.origin === 'action_type';
    if (key === 'with') return name !== undefined && (skill?.parameters.some((info) => info.name === name) ?? false);
    if (key === 'parts') return skill?.parts.some((role) => role.split(':')[0] === name) ?? false;
    if (key === 'all_of' || key === 'first_of') return key === kind && isRecord(content[kind]) && isRecord((content[kind] as Json)[name ?? '']);
    return FIELDS.includes(key) && (key === kind || ['retry', 'repeat', 'timeout'].includes(key)) && (key !== 'set' || name !== undefined);
}

/** The fields of a call: of a node, or of a branch of one. */
export function CallFields({ content, path, mistakes }: { content: Json; path: Path; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const skill = kindOf(content) === 'skill' ? it.skill(String(content.skill)) : undefined;
    const put = (key: string, value: Value | undefined): void => it.edit((text) => setField(text, [...path, key], value), `field ${[...path, key].join('.')}`);
    const own = mistakesAt(mistakes, path);
    return (
        <>
            {skill && <Parts content={content} skill={skill} path={path} mistakes={own} />}
            {skill && <Parameters infos={skill.parameters} path={[...path, 'with']} given={isRecord(content.with) ? content.with : {}} mistakes={own} />}
            {skill?.origin === 'action_type' && (
                <Expression label="Until" value={asText(content.until)} placeholder="is_done" hint="The condition that ends it; its own variables have bare names." bad={badAt(own, [...path, 'until'])} change={(value) => put('until', value === '' ? undefined : value)} />
            )}
            <BuiltIn content={content} path={path} put={put} mistakes={own} />
        </>
    );
}

function Parts({ content, skill, path, mistakes }: { content: Json; skill: SkillInfo; path: Path; mistakes: readonly Mistake[] }) {
    const it = useStore();
    if (skill.parts.length === 0) return null;
    const given = isRecord(content.parts) ? content.parts : {};
    const roles = Object.keys(isRecord(it.doc?.graph.content.roles) ? it.doc.graph.content.roles : {});
    return (
        <section>
            <h3>Parts</h3>
            {skill.parts.map((text) => {
                const role = text.split(':')[0] ?? '';
                const usual = /\((.*)\)/.exec(text)?.[1] ?? '';
                const options: [string, string][] = [
                    ['', usual === '' ? 'choose a part' : `${usual} (usual)`],
                    ...roles.map((each): [string, string] => [each, `${each} (role)`]),
                    ...it.partsFor(text).map((each): [string, string] => [each, each]),
                ];
                return <Choice key={role} label={text.replace(/ \(.*\)/, '')} value={asText(given[role])} options={options} bad={badAt(mistakes, [...path, 'parts', role])} change={(part) => it.edit((t) => setField(t, [...path, 'parts', role], part === '' ? undefined : part))} />;
            })}
        </section>
    );
}

function BuiltIn({ content, path, put, mistakes }: { content: Json; path: Path; put: (key: string, value: Value | undefined) => void; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const kind = kindOf(content);
    const bad = badAt(mistakes, [...path, kind]);
    switch (kind) {
        case 'wait':
            return <Expression label="Seconds" value={textAt([...path, 'wait'], content.wait)} isCondition={false} bad={bad} change={(value) => put('wait', value.trim() === '' ? 0 : typed(value, 'float'))} />;
        case 'wait_until':
            return <Expression label="Condition" value={asText(content.wait_until)} bad={bad} change={(value) => put('wait_until', value)} />;
        case 'say':
        case 'log':
            return <Expression label="Text" value={asText(content[kind])} isCondition={false} bad={bad} change={(value) => put(kind, value)} />;
        case 'ask': {
            const ask = isRecord(content.ask) ? content.ask : {};
            const change = (key: string, value: Value): void => it.edit((text) => set(text, [...path, 'ask', key], value), `field ${[...path, 'ask', key].join('.')}`);
            return (
                <>
                    <Field label="Question" value={asText(ask.text)} bad={bad} change={(value) => change('text', value)} />
                    <Field label="Answers" value={texts(ask.answers ?? ['yes', 'no']).join(', ')} hint="Words with commas between them; each is a result." change={(value) => change('answers', value.split(',').map((each) => each.trim()).filter(Boolean))} />
                </>
            );
        }
        case 'set': {
            const values = isRecord(it.doc?.graph.content.values) ? Object.keys(it.doc.graph.content.values) : [];
            const given = isRecord(content.set) ? content.set : {};
            return (
                <section>
                    <h3>Values to set</h3>
                    {values.length === 0 && <p className="quiet">Declare a value of the blueprint first: select nothing, then “Values”.</p>}
                    {Object.keys(given).filter((name) => !values.includes(name)).map((name) => <p key={name} className="bad-hint">{badAt(mistakes, [...path, 'set', name])}</p>)}
                    {values.map((name) => (
                        <Expression key={name} label={name} value={textAt([...path, 'set', name], given[name])} isCondition={false} placeholder="stays" bad={badAt(mistakes, [...path, 'set', name])} change={(value) => it.edit((text) => setField(text, [...path, 'set', name], value.trim() === '' ? undefined : typed(value, 'float')), `field ${[...path, 'set', name].join('.')}`)} />
                    ))}
                </section>
            );
        }
        case 'all_of':
        case 'first_of':
            return <Branches content={content} kind={kind} path={path} mistakes={mistakes} />;
        default:
            return null;
    }
}

function Branches({ content, kind, path, mistakes }: { content: Json; kind: Kind; path: Path; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const branches = isRecord(content[kind]) ? (content[kind] as Json) : {};
    const names = Object.keys(branches);
    return (
        <section>
            <h3>Branches, side by side</h3>
            <p className="hint">{kind === 'all_of' ? 'It is done when all are.' : 'The first one that ends decides; its name is the result. The others are cancelled.'}</p>
            {names.map((name) => (
                <BranchForm key={name} name={name} names={names} content={isRecord(branches[name]) ? branches[name] : {}} kind={kind} path={path} mistakes={mistakes} />
            ))}
            <button onClick={() => it.edit((text) => addBranch(text, path, kind))}>Add a branch</button>
        </section>
    );
}

function BranchForm({ name, names, content, kind, path, mistakes }: { name: string; names: string[]; content: Json; kind: Kind; path: Path; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const at = [...path, kind, name];
    const own = mistakesAt(mistakes, at);
    const does = kindOf(content);
    const skill = does === 'skill' ? it.skill(String(content.skill)) : undefined;
    const general = own.filter((mistake) => !isShown(mistake, content, at, skill) && mistake.place[at.length] !== 'skill');
    const options: [string, string][] = [
        ...BUILT_IN.filter((each) => !it.skill(each)).map((each): [string, string] => [each, each.replace('_', ' ')]),
        ...it.skills.filter((each) => each.name !== it.doc?.graph.name).map((each): [string, string] => [each.name, `${each.name} (${levelName(each.level)})`]),
    ];
    return (
        <details className="branch" role="group" aria-label={`Branch ${name}`} open>
            <summary>{name}<span className="quiet">: {does === 'skill' ? String(content.skill) : does.replace('_', ' ')}</span>{own.length > 0 && <span className="mistake-sign" role="img" aria-label="has a mistake">!</span>}</summary>
            <General mistakes={general} />
            <NameField label="Name of the branch" value={name} change={(to) => {
                if (!/^[A-Za-z_]\w*$/.test(to)) return it.say('A name has letters, digits and _, and begins with a letter.', true);
                if (names.includes(to)) return it.say(`There is a branch ${to} already.`, true);
                it.edit((text) => renameBranch(text, path, kind, name, to));
            }} />
            <Choice label="What it does" value={does === 'skill' ? String(content.skill) : does} options={options} bad={badAt(own, [...at, 'skill'])} change={(what) => it.edit((text) => changeBranch(text, path, kind, name, it.contentFor(what).content))} />
            <CallFields content={content} path={at} mistakes={own} />
            <div className="row end"><button aria-label={`Remove branch ${name}`} disabled={names.length < 2} onClick={() => it.edit((text) => removeBranch(text, path, kind, name))}>Remove this branch</button></div>
        </details>
    );
}
