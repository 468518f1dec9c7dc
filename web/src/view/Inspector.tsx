import { useRef } from 'react';
import { t } from '../language/language.ts';
import { kindOfField, Take } from '../operate/Take.tsx';
import { fieldOf, type Mistake } from '../store/mistakes.ts';
import { store, useStore } from '../store/store.ts';
import { addCandidate, changeCandidate, disconnect, moveCandidate, setField, typed } from '../text/blueprint_edits.ts';
import { type Fold, foldOf, foldsOf } from '../text/folds.ts';
import { type Candidate, type GraphNode, isRecord, type Json, texts, wordsOf } from '../text/graph.ts';
import { isUnder, mistakesAt } from '../text/mistake_place.ts';
import { BAD_NAME, NAME, shownName } from '../text/names.ts';
import { kindNamed, resultsIn } from '../text/node_kinds.ts';
import { nameNode, nameSkill, namesFor, shownResult } from '../text/shown_names.ts';
import { type Path, Raw, remove, set, type Value, written } from '../text/yaml_edit.ts';
import type { ParameterInfo, SkillInfo } from '../wire.ts';
import { BOUNDS, badAt, CallFields, General, isShown } from './CallForm.tsx';
import { levelName, openMenu } from './Canvas.tsx';
import { Check } from './Check.tsx';
import { FoldForm } from './Folded.tsx';
import { Choice, Expression, Field, NameField } from './fields.tsx';
import { Limits, OutputForms } from './OutputForms.tsx';
import { ProgramForm, StateForm } from './ProgramForms.tsx';
import { RoleForms } from './RoleForms.tsx';
import { StartForms } from './StartForms.tsx';

/** The form of what is selected: a node, a link, several nodes, or the skill itself. */
export function Inspector() {
    const it = useStore();
    const doc = it.docs.doc;
    if (!doc) return null;
    const fold = foldOf(doc.graph, doc.selection);
    if (doc.selection.length > 1 || (fold && !fold.open)) return <Several count={doc.selection.length} fold={fold} />;
    const id = doc.link?.node ?? doc.selection[0];
    const node = doc.graph.nodes.find((each) => each.id === id);
    return (
        <div className={doc.readOnly ? 'inspector read-only' : 'inspector'}>
            {doc.readOnly && !it.me.onlyWatches && (
                <div className="banner">
                    <p>{t('This version cannot be changed.')}</p>
                    <button onClick={() => it.versions.openCopy()}>{t('Make a copy to change')}</button>
                </div>
            )}
            <fieldset disabled={doc.readOnly}>
                <legend className="unseen">{t('Properties')}</legend>
                {node ? (
                    doc.graph.isProgram ? (
                        <StateForm node={node} key={node.id} />
                    ) : (
                        <NodeForm node={node} key={node.id} />
                    )
                ) : doc.graph.isProgram ? (
                    <ProgramForm />
                ) : (
                    <SkillForm />
                )}
            </fieldset>
        </div>
    );
}

function Several({ count, fold }: { count: number; fold: Fold | undefined }) {
    const it = useStore();
    return (
        <div className="inspector">
            <h2>
                {t(it.docs.doc?.graph.isProgram ? '{n} state|{n} states' : '{n} node|{n} nodes', { n: count })}
                {fold && !fold.open && t(', folded')}
            </h2>
            {fold && <FoldForm fold={fold} key={fold.name} />}
            {!it.docs.doc?.graph.isProgram && !it.docs.doc?.readOnly && (!fold || fold.open) && (
                <button className="wide" onClick={() => it.building.foldOrUnfold()}>
                    {fold ? t('Fold into {name} again (F)', { name: fold.name }) : t('Fold into one box (F)')}
                </button>
            )}
            {!it.docs.doc?.graph.isProgram && !it.docs.doc?.readOnly && (
                <button className="primary wide" onClick={() => it.talk.show({ kind: 'extract' })}>
                    {t('Make a skill of them')}
                </button>
            )}
            <button className="wide" onClick={() => void it.building.copy()}>
                {t('Copy as text')}
            </button>
            {!it.docs.doc?.readOnly && (
                <button className="wide" onClick={() => it.building.remove()}>
                    {t('Delete')}
                </button>
            )}
        </div>
    );
}

export function asText(value: unknown): string {
    if (value === undefined || value === null) return '';
    if (isRecord(value) && 'value' in value) return asText(value.value);
    return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What is written at a place, without quotes. */
export function textAt(path: Path, value: unknown): string {
    if (value === undefined) return '';
    if (typeof value === 'string') return value;
    return written(store.docs.doc?.history.text ?? '', path) || asText(value);
}

function range(info: ParameterInfo): string {
    const low = info.minimum;
    const high = info.maximum;
    const parts = [
        low !== null && high !== null
            ? t('{low} to {high}', { low, high })
            : low !== null
              ? t('at least {value}', { value: low })
              : high !== null
                ? t('at most {value}', { value: high })
                : '',
        info.unit,
        info.length !== '1' && info.length !== ''
            ? info.length === 'any'
                ? t('a list')
                : t('{n} values', { n: info.length })
            : '',
        info.required ? t('must be given') : '',
    ];
    return parts.filter(Boolean).join(', ');
}

export function Parameters({
    infos,
    path,
    given,
    mistakes,
    parts = [],
}: {
    infos: ParameterInfo[];
    path: Path;
    given: Json;
    mistakes: Mistake[];
    /** Those that move: a field of a pose can take where they are. */
    parts?: readonly string[];
}) {
    const it = useStore();
    if (infos.length === 0) return null;
    return (
        <section>
            <h3>{t('Values')}</h3>
            {infos.map((info) => {
                const at = [...path, info.name];
                const bad =
                    badAt(mistakes, at) ??
                    mistakes.find((mistake) => mistake.place.length === 0 && fieldOf(mistake, info))?.text;
                const change = (entered: string): void =>
                    it.docs.edit(
                        (text) => setField(text, at, entered.trim() === '' ? undefined : typed(entered, info.type)),
                        `field ${at.join('.')}`,
                    );
                const label = info.unit ? `${info.name} [${info.unit}]` : info.name;
                const hint = [info.description, range(info)].filter(Boolean).join(' ');
                const value = textAt(at, given[info.name]);
                if (info.choices.length > 0) {
                    return (
                        <Choice
                            key={info.name}
                            label={label}
                            value={value}
                            change={change}
                            bad={bad}
                            options={[
                                ['', t('default: {value}', { value: info.default_value })],
                                ...info.choices.map((each): [string, string] => [each, each]),
                            ]}
                        />
                    );
                }
                const kind = kindOfField(info);
                return (
                    <div key={info.name}>
                        <Expression
                            label={label}
                            value={value}
                            change={change}
                            isCondition={false}
                            placeholder={info.required ? t('must be given') : info.default_value}
                            hint={hint}
                            bad={bad}
                        />
                        {kind && <Take kind={kind} parts={it.library.parts} named={parts} change={change} />}
                    </div>
                );
            })}
        </section>
    );
}

function NodeForm({ node }: { node: GraphNode }) {
    const it = useStore();
    const doc = it.docs.doc;
    const graph = doc?.graph;
    const skill = it.library.skill(node.skill);
    const path = ['nodes', node.id];
    const mistakes = doc?.mistakes.filter((mistake) => mistake.node === node.id) ?? [];
    // Opened by a mistake, it stays open when that is mended.
    const wasWrong = useRef(false);
    wasWrong.current ||= mistakes.some((mistake) => BOUNDS.some(([key]) => key === mistake.place[2]));
    const general = mistakes.filter(
        (mistake) => !isShown(mistake, node.content, path, skill) && !isUnder(mistake.place, [...path, 'then', 0]),
    );
    const number = (key: string) => (entered: string) => {
        const value = entered.trim() === '' ? undefined : typed(entered, 'float');
        it.docs.edit((text) => setField(text, [...path, key], value), `field ${node.id}.${key}`);
    };
    const visited = it.runs.log.records
        .filter(
            (record) =>
                record.what === 'ended' &&
                record.path === ((it.drawn.prefix ?? '') === '' ? node.id : `${it.drawn.prefix}/${node.id}`),
        )
        .pop();
    const outputs = isRecord(visited?.outputs) ? Object.entries(visited.outputs) : [];
    return (
        <div>
            <div className="form-head">
                <h2>{it.library.shown(node.skill) || t(node.kind.replace('_', ' ')) || t('node')}</h2>
                {skill && <span className={`chip level-${skill.level}`}>{levelName(skill.level)}</span>}
            </div>
            {skill && <p className="quiet">{skill.description}</p>}
            <General mistakes={general} />
            <NameField
                label={t('Name of the node')}
                value={shownName(node)}
                hint={node.title === '' ? undefined : t('In texts and conditions: {name}', { name: node.id })}
                change={(typed) => {
                    if (!graph) return;
                    const { id } = namesFor(graph, node.id, typed);
                    if (id !== node.id && it.building.isNamed(id))
                        return it.talk.say(t('There is a node {name} already.', { name: id }), true);
                    it.docs.edit((text) => nameNode(text, node.id, typed));
                    it.docs.select([id]);
                }}
            />
            <div className="row">
                {node.skill !== '' && (
                    <button onClick={() => void it.versions.openSkill(node.skill)}>
                        {t('Open {name}', { name: it.library.shown(node.skill) })}
                    </button>
                )}
                <button
                    aria-haspopup="menu"
                    title={t('What else can be done with this node (M)')}
                    onClick={() => openMenu()}>
                    {t('More')}
                </button>
            </div>
            <CallFields content={node.content} path={path} mistakes={mistakes} />
            <Candidates node={node} skill={skill} mistakes={mistakes} />
            <details open={wasWrong.current || undefined}>
                <summary>{t('Again, and time-out')}</summary>
                {BOUNDS.map(([key, label, placeholder, hint]) => (
                    <Field
                        key={key}
                        label={t(label)}
                        value={asText(node.content[key])}
                        placeholder={t(placeholder)}
                        bad={badAt(mistakes, [...path, key])}
                        change={number(key)}
                        hint={t(hint)}
                    />
                ))}
                <Check
                    label={t('Reached by a jump only')}
                    hint={t('Nothing leads to it: a person jumps there while it runs.')}
                    value={node.content.manual === true}
                    change={(on) => it.docs.edit((text) => setField(text, [...path, 'manual'], on || undefined))}
                />
                <div className="row">
                    {!node.isStart && (
                        <button onClick={() => it.docs.edit((text) => set(text, ['start'], node.id))}>
                            {t('Begin the blueprint here')}
                        </button>
                    )}
                    {node.place && (
                        <button onClick={() => it.docs.edit((text) => remove(text, ['view', node.id]))}>
                            {t('Place it by itself')}
                        </button>
                    )}
                </div>
            </details>
            {skill && skill.outputs.length > 0 && (
                <section>
                    <h3>{t('Gives')}</h3>
                    <ul className="plain">
                        {skill.outputs.map((output) => (
                            <li key={output.name}>
                                <code>
                                    ${node.id}.{output.name}
                                </code>{' '}
                                <span className="quiet">{output.unit}</span>
                            </li>
                        ))}
                    </ul>
                </section>
            )}
            {outputs.length > 0 && (
                <section>
                    <h3>{t('Last values')}</h3>
                    <ul className="plain">
                        {outputs.map(([name, value]) => (
                            <li key={name}>
                                <code>{name}</code> = {JSON.stringify(value)}
                            </li>
                        ))}
                    </ul>
                </section>
            )}
        </div>
    );
}

function resultsOf(node: GraphNode, skill: SkillInfo | undefined): [string, string][] {
    const named = skill
        ? [...skill.results, ...skill.failures]
        : (resultsIn(kindNamed(node.kind), node.content) ?? ['done']);
    const standard = ['done', 'failed', 'timeout', 'cancelled'].filter((each) => !named.includes(each));
    return [
        ['success', t('any success')],
        ['failure', t('any failure')],
        ['any', t('whatever happened')],
        ...[...named, ...standard].map((each): [string, string] => [each, shownResult(node, each)]),
    ];
}

function Candidates({ node, skill, mistakes }: { node: GraphNode; skill: SkillInfo | undefined; mistakes: Mistake[] }) {
    const it = useStore();
    const graph = it.docs.doc?.graph;
    if (!graph) return null;
    const own = Object.keys(isRecord(graph.content.results) ? graph.content.results : {});
    const targets: [string, string][] = [
        ...graph.nodes.map((each): [string, string] => [`go ${each.id}`, shownName(each)]),
        ...['done', 'failed', ...own].map((each): [string, string] => [`end ${each}`, t('ends: {end}', { end: each })]),
    ];
    return (
        <section>
            <h3>{t('What follows')}</h3>
            {node.candidates.length === 0 && <p className="quiet">{t('Nothing: the path ends here as done.')}</p>}
            {node.candidates.map((candidate) => (
                <CandidateForm
                    key={candidate.index}
                    node={node}
                    candidate={candidate}
                    results={resultsOf(node, skill)}
                    targets={targets}
                    mistakes={mistakesAt(mistakes, ['nodes', node.id, 'then', candidate.index])}
                    chosen={it.docs.doc?.link?.index === candidate.index}
                />
            ))}
            <button
                onClick={() => it.docs.edit((text) => addCandidate(text, node.id, { on: ['success'], end: 'done' }))}>
                {t('Add what follows')}
            </button>
        </section>
    );
}

function CandidateForm({
    node,
    candidate,
    results,
    targets,
    mistakes,
    chosen,
}: {
    node: GraphNode;
    candidate: Candidate;
    results: [string, string][];
    targets: [string, string][];
    mistakes: Mistake[];
    chosen: boolean;
}) {
    const it = useStore();
    const at = candidate.index;
    const change = (fields: Parameters<typeof changeCandidate>[3], mark = ''): void =>
        it.docs.edit((text) => changeCandidate(text, node.id, at, fields), mark);
    return (
        <div className={chosen ? 'candidate chosen' : 'candidate'}>
            <div className="candidate-row">
                <Choice
                    hidden
                    label={t('Result {number}', { number: at + 1 })}
                    value={candidate.on.join(', ')}
                    options={results}
                    change={(on) => change({ on: on.split(', ') })}
                />
                <span aria-hidden="true">→</span>
                <Choice
                    hidden
                    label={t('Goes to {number}', { number: at + 1 })}
                    value={candidate.go ? `go ${candidate.go}` : `end ${candidate.end}`}
                    options={targets}
                    change={(to) => {
                        const name = to.slice(to.indexOf(' ') + 1);
                        change(to.startsWith('go ') ? { go: name, end: '' } : { go: '', end: name });
                    }}
                />
            </div>
            <General mistakes={mistakes.filter((mistake) => mistake.place[4] !== 'when')} />
            <Expression
                unseen
                label={t('Condition {number}', { number: at + 1 })}
                value={candidate.when}
                placeholder={t('always; or a condition: battery.level < 0.2')}
                bad={badAt(mistakes, ['nodes', node.id, 'then', at, 'when'])}
                change={(when) => change({ when }, `when ${node.id} ${at}`)}
            />
            <div className="candidate-tools">
                <button
                    className="small"
                    aria-label={t('Judge {number} earlier', { number: at + 1 })}
                    disabled={at === 0}
                    onClick={() => it.docs.edit((text) => moveCandidate(text, node.id, at, at - 1))}>
                    ↑
                </button>
                <button
                    className="small"
                    aria-label={t('Judge {number} later', { number: at + 1 })}
                    disabled={at >= node.candidates.length - 1}
                    onClick={() => it.docs.edit((text) => moveCandidate(text, node.id, at, at + 1))}>
                    ↓
                </button>
                <button
                    className="small"
                    aria-label={t('Remove {name}', { name: at + 1 })}
                    onClick={() => it.docs.edit((text) => disconnect(text, node.id, at))}>
                    ×
                </button>
            </div>
        </div>
    );
}

// --- the skill itself -------------------------------------------------------------------------------

const LEVELS = ['capability', 'meta_skill', 'motion_skill', 'behavior_skill', 'blueprint'];

/** Whether the form of the skill shows a mistake at its field. */
function isOfForm(mistake: Mistake): boolean {
    const [key] = mistake.place;
    if (key === 'reactions') return true;
    const shown = ['commands', 'roles', 'outputs', 'parameters', 'values'];
    return !mistake.warning && mistake.place.length > 1 && shown.includes(String(key));
}

function SkillForm() {
    const it = useStore();
    const doc = it.docs.doc;
    const graph = doc?.graph;
    if (!doc || !graph) return null;
    const content = graph.content;
    const put = (path: Path, value: Value | undefined, mark = ''): void =>
        it.docs.edit((text) => setField(text, path, value), mark);
    const general = doc.mistakes.filter((mistake) => mistake.node === '' && !isOfForm(mistake));
    return (
        <div>
            <div className="form-head">
                <h2>{graph.title || graph.name || t('Blueprint')}</h2>
                <span className={`chip level-${graph.level}`}>{levelName(graph.level)}</span>
            </div>
            {general.map((mistake) => (
                <p key={`${mistake.line}${mistake.text}`} className={mistake.warning ? 'warning' : 'bad-hint'}>
                    {mistake.line > 0 && t('Line {line}: ', { line: mistake.line })}
                    {mistake.text}
                </p>
            ))}
            <NameField
                label={t('Name')}
                value={graph.title || graph.name}
                hint={graph.title === '' ? undefined : t('In texts and links: {name}', { name: graph.name })}
                change={(typed) => it.docs.edit((text) => nameSkill(text, typed, it.library.names))}
            />
            <Choice
                label={t('Level')}
                value={graph.level}
                options={LEVELS.map((level) => [level, levelName(level)])}
                change={(level) => put(['level'], level)}
            />
            <Field
                label={t('Description')}
                value={asText(content.description)}
                change={(value) => put(['description'], value === '' ? undefined : value, 'description')}
            />
            <Field
                label={t('Value skill for')}
                value={texts(content.scenarios).join(', ')}
                placeholder={t('welcome, service')}
                hint={t('Scenarios')}
                change={(value) => {
                    const list = wordsOf(value).filter((each) => NAME.test(each));
                    put(['scenarios'], list.length === 0 ? undefined : list, 'scenarios');
                }}
            />
            <StartForms content={content} mistakes={doc.mistakes} />
            <RoleForms content={content} mistakes={doc.mistakes} />
            <Declared kind="parameters" title={t('Parameters')} content={content} />
            <Declared kind="values" title={t('Values')} content={content} />
            <Results content={content} />
            <OutputForms content={content} mistakes={doc.mistakes} />
            <Reactions />
            <Folds />
        </div>
    );
}

function Declared({ kind, title, content }: { kind: string; title: string; content: Json }) {
    const it = useStore();
    const declared = isRecord(content[kind]) ? (content[kind] as Json) : {};
    const names = Object.keys(declared);
    return (
        <details open={names.length > 0}>
            <summary>
                {title} <span className="quiet">{names.length}</span>
            </summary>
            {names.map((name) => {
                const one = isRecord(declared[name]) ? (declared[name] as Json) : {};
                const type = asText(one.type) || 'float';
                return (
                    <div className="candidate" key={name}>
                        <div className="candidate-row">
                            <strong>{name}</strong>
                            <Choice
                                hidden
                                label={t('Type of {name}', { name })}
                                value={type}
                                options={[
                                    ['float', t('number')],
                                    ['int', t('whole number')],
                                    ['bool', t('yes or no')],
                                    ['text', t('text')],
                                ]}
                                change={(value) => it.docs.edit((text) => set(text, [kind, name, 'type'], value))}
                            />
                            <button
                                className="small"
                                aria-label={t('Remove {name}', { name })}
                                onClick={() => it.docs.edit((text) => remove(text, [kind, name]))}>
                                ×
                            </button>
                        </div>
                        <Field
                            label={t('First value')}
                            value={textAt([kind, name, 'default'], one.default)}
                            placeholder={t('must be given')}
                            change={(value) =>
                                it.docs.edit(
                                    (text) =>
                                        setField(
                                            text,
                                            [kind, name, 'default'],
                                            value === '' ? undefined : typed(value, type),
                                        ),
                                    `default ${name}`,
                                )
                            }
                        />
                        <Field
                            label={t('Unit')}
                            value={asText(one.unit)}
                            placeholder={t('none')}
                            change={(value) =>
                                it.docs.edit(
                                    (text) => setField(text, [kind, name, 'unit'], value === '' ? undefined : value),
                                    `unit ${name}`,
                                )
                            }
                        />
                        <Limits kind={kind} name={name} one={one} mistakes={it.docs.doc?.mistakes ?? []} />
                    </div>
                );
            })}
            <Adder
                label={t(kind === 'values' ? 'New value' : 'New parameter')}
                add={(name) =>
                    it.docs.edit((text) =>
                        set(text, [kind, name], kind === 'values' ? { default: new Raw('0.0') } : {}),
                    )
                }
            />
        </details>
    );
}

function Results({ content }: { content: Json }) {
    const it = useStore();
    const results = isRecord(content.results) ? content.results : {};
    return (
        <details open={Object.keys(results).length > 0}>
            <summary>
                {t('Results')} <span className="quiet">{Object.keys(results).length}</span>
            </summary>
            {Object.entries(results).map(([name, value]) => {
                const failure = isRecord(value) && value.failure === true;
                return (
                    <div className="row" key={name}>
                        <strong>{name}</strong>
                        <Choice
                            hidden
                            label={t('Kind of {name}', { name })}
                            value={failure ? 'failure' : 'success'}
                            options={[
                                ['success', t('success')],
                                ['failure', t('failure')],
                            ]}
                            change={(kind) =>
                                it.docs.edit((text) =>
                                    set(text, ['results', name], kind === 'failure' ? { failure: true } : {}),
                                )
                            }
                        />
                        <button
                            className="small"
                            aria-label={t('Remove {name}', { name })}
                            onClick={() => it.docs.edit((text) => remove(text, ['results', name]))}>
                            ×
                        </button>
                    </div>
                );
            })}
            <Adder label={t('New result')} add={(name) => it.docs.edit((text) => set(text, ['results', name], {}))} />
        </details>
    );
}

function Folds() {
    const it = useStore();
    const folds = it.docs.doc ? foldsOf(it.docs.doc.graph) : [];
    if (folds.length === 0) return null;
    return (
        <details>
            <summary>
                {t('Folded boxes')} <span className="quiet">{folds.length}</span>
            </summary>
            {folds.map((fold) => (
                <div className="row" key={fold.name}>
                    <strong>{fold.name}</strong> <span className="quiet">{fold.nodes.join(', ')}</span>
                    <button
                        onClick={() => {
                            it.docs.select(fold.nodes);
                            it.building.foldOrUnfold();
                        }}>
                        {t(fold.open ? 'Fold' : 'Unfold')}
                    </button>
                </div>
            ))}
        </details>
    );
}

function Reactions() {
    const it = useStore();
    const graph = it.docs.doc?.graph;
    const mistakes = it.docs.doc?.mistakes ?? [];
    if (!graph) return null;
    const nodes = graph.nodes.map((node): [string, string] => [node.id, shownName(node)]);
    return (
        <details open={graph.reactions.length > 0}>
            <summary>
                {t('Reactions, in any node')} <span className="quiet">{graph.reactions.length}</span>
            </summary>
            {graph.reactions.map((reaction) => {
                const path = ['reactions', reaction.index];
                return (
                    <div className="candidate" key={reaction.index}>
                        <Expression
                            unseen
                            label={t('Reaction {number}', { number: reaction.index + 1 })}
                            value={reaction.when}
                            bad={badAt(mistakes, [...path, 'when'])}
                            change={(when) =>
                                it.docs.edit((text) => set(text, [...path, 'when'], when), `reaction ${reaction.index}`)
                            }
                        />
                        <div className="candidate-row">
                            <Choice
                                hidden
                                label={t('When')}
                                value={reaction.at}
                                options={[
                                    ['once', t('at once')],
                                    ['end', t('after the node')],
                                ]}
                                change={(value) => it.docs.edit((text) => set(text, [...path, 'at'], value))}
                            />
                            <span aria-hidden="true">→</span>
                            <Choice
                                hidden
                                label={t('Goes to')}
                                value={reaction.go}
                                options={nodes}
                                change={(value) => it.docs.edit((text) => set(text, [...path, 'go'], value))}
                            />
                            <button
                                className="small"
                                aria-label={t('Remove reaction {number}', { number: reaction.index + 1 })}
                                onClick={() => it.docs.edit((text) => remove(text, path))}>
                                ×
                            </button>
                        </div>
                        <General
                            mistakes={mistakesAt(mistakes, path).filter((mistake) => mistake.place[2] !== 'when')}
                        />
                    </div>
                );
            })}
            <button
                disabled={nodes.length === 0}
                onClick={() =>
                    it.docs.edit((text) => {
                        const value = { when: 'false', go: nodes[0]?.[0] ?? '', at: 'once' };
                        return graph.reactions.length > 0
                            ? set(text, ['reactions', graph.reactions.length], value)
                            : set(text, ['reactions'], [value]);
                    })
                }>
                {t('Add a reaction')}
            </button>
        </details>
    );
}

export function Adder({ label, add }: { label: string; add: (name: string) => void }) {
    return (
        <form
            className="row adder"
            onSubmit={(event) => {
                event.preventDefault();
                const input = event.currentTarget.elements.namedItem('name') as HTMLInputElement;
                if (!NAME.test(input.value)) return store.talk.say(t(BAD_NAME), true);
                add(input.value);
                input.value = '';
            }}>
            <input name="name" aria-label={label} placeholder={label} />
            <button>{t('Add')}</button>
        </form>
    );
}
