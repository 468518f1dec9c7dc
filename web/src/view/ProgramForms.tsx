// Forms of a program, made from what its actions declare: a state, its reactions, and the program itself.

import { useState } from 'react';
import { t } from '../language/language.ts';
import type { Mistake } from '../store/mistakes.ts';
import { lastOf } from '../store/program_live.ts';
import { usersOf } from '../store/program_shelf.ts';
import { useStore } from '../store/store.ts';
import { setField, typed } from '../text/blueprint_edits.ts';
import { type GraphNode, isRecord, type Json, texts, wordsOf } from '../text/graph.ts';
import { commandOfMistake, strategyOfMistake } from '../text/motion_edits.ts';
import { BAD_NAME, NAME } from '../text/names.ts';
import { arrange } from '../text/places.ts';
import {
    addReaction,
    moveReaction,
    partsOf,
    placeOfLine,
    reactionsOf,
    removeReaction,
    renameParameter,
    renameState,
    type Slot,
    setExit,
    setPart,
    setReaction,
    setStart,
    setTargets,
} from '../text/program_edits.ts';
import { endsOf } from '../text/program_graph.ts';
import { type Path, remove, set, type Value } from '../text/yaml_edit.ts';
import { Check } from './Check.tsx';
import { Choice, Expression, Field, NameField } from './fields.tsx';
import { Adder, asText, Parameters, textAt } from './Inspector.tsx';
import { CommandForms, StrategyForms } from './MotionForms.tsx';
import { RoleForms } from './RoleForms.tsx';

/** Several states: those that are chosen, and one more. */
function Targets({ label, chosen, change }: { label: string; chosen: string[]; change: (targets: string[]) => void }) {
    const it = useStore();
    const states = it.docs.doc?.graph.nodes.map((node) => node.id) ?? [];
    const free = states.filter((each) => !chosen.includes(each));
    return (
        <div className="targets">
            <span>{t('starts')}</span>
            {chosen.length <= 1 ? (
                <Choice
                    hidden
                    label={label}
                    value={chosen[0] ?? ''}
                    options={[['', t('nothing')], ...states.map((each): [string, string] => [each, each])]}
                    change={(go) => change(go === '' ? [] : [go])}
                />
            ) : (
                chosen.map((each) => (
                    <span key={each} className="chip">
                        {each}
                        <button
                            aria-label={t('{label}: not {name}', { label, name: each })}
                            onClick={() => change(chosen.filter((one) => one !== each))}>
                            ×
                        </button>
                    </span>
                ))
            )}
            {chosen.length > 0 && free.length > 0 && (
                <Choice
                    hidden
                    label={t('{label}, also', { label })}
                    value=""
                    options={[['', '+'], ...free.map((each): [string, string] => [each, each])]}
                    change={(go) => go && change([...chosen, go])}
                />
            )}
        </div>
    );
}

/** Reactions, judged in their order. owner '': those of every state. */
function ReactionForms({
    owner,
    signals,
    mistakes,
}: {
    owner: string;
    signals: string[];
    mistakes: (index: number) => Mistake[];
}) {
    const it = useStore();
    const doc = it.docs.doc;
    if (!doc) return null;
    const reactions = reactionsOf(doc.graph, owner);
    const name = owner || 'any';
    return (
        <section>
            <h3>{t(owner === '' ? 'Reactions in every state' : 'Reactions')}</h3>
            {reactions.length === 0 && <p className="quiet">{t(owner === '' ? 'None.' : 'None: the state stays.')}</p>}
            {reactions.map((reaction, n) => {
                const put = (key: string, value: Value | undefined, mark = ''): void =>
                    it.docs.edit((text) => setReaction(text, owner, n, key, value), mark && `${mark} ${name} ${n}`);
                const wrong = mistakes(n);
                const rest = ['signal', 'name', 'capture', 'fire_once', 'keep_owner'].filter(
                    (key) => reaction[key] !== undefined,
                );
                const isChosen = owner !== '' && doc.link?.node === owner && doc.link.index === n;
                return (
                    <div className={isChosen ? 'candidate chosen' : 'candidate'} key={n}>
                        <Expression
                            unseen
                            label={t('Condition {number}', { number: n + 1 })}
                            value={asText(reaction.when)}
                            change={(when) =>
                                it.docs.edit(
                                    (text) =>
                                        set(
                                            text,
                                            [
                                                ...(owner === '' ? ['reactions'] : ['actions', owner, 'reactions']),
                                                n,
                                                'when',
                                            ],
                                            when,
                                        ),
                                    `when ${name} ${n}`,
                                )
                            }
                            placeholder="wrist.force.z > 5"
                            bad={wrong.map((each) => each.text).join('\n') || undefined}
                        />
                        <Targets
                            label={t('Starts {number}', { number: n + 1 })}
                            chosen={texts(reaction.start)}
                            change={(targets) => it.docs.edit((text) => setTargets(text, owner, n, targets))}
                        />
                        <div className="candidate-tools">
                            <Check
                                label={t(owner === '' ? 'stops all' : 'stops')}
                                value={reaction.stop === true}
                                change={(stop) => put('stop', stop)}
                                hint={t(owner === '' ? 'Stops all actions' : 'Stops this state')}
                            />
                            <span className="gap" />
                            <button
                                className="small"
                                aria-label={t('Judge reaction {number} earlier', { number: n + 1 })}
                                disabled={n === 0}
                                onClick={() => it.docs.edit((text) => moveReaction(text, owner, n, n - 1))}>
                                ↑
                            </button>
                            <button
                                className="small"
                                aria-label={t('Judge reaction {number} later', { number: n + 1 })}
                                disabled={n >= reactions.length - 1}
                                onClick={() => it.docs.edit((text) => moveReaction(text, owner, n, n + 1))}>
                                ↓
                            </button>
                            <button
                                className="small"
                                aria-label={t('Remove reaction {number}', { number: n + 1 })}
                                onClick={() => it.docs.edit((text) => removeReaction(text, owner, n))}>
                                ×
                            </button>
                        </div>
                        <Field
                            label={t('Event')}
                            value={asText(reaction.event)}
                            placeholder={t('none')}
                            change={(event) => put('event', event.trim(), 'event')}
                        />
                        <details open={rest.length > 0}>
                            <summary>{t('More')}</summary>
                            <Field
                                label={t('Name')}
                                value={asText(reaction.name)}
                                placeholder={t('none')}
                                hint={t('As events name it.')}
                                change={(value) => put('name', value.trim(), 'name')}
                            />
                            {signals.length > 0 && (
                                <Choice
                                    label={t('Raises the signal')}
                                    value={asText(reaction.signal)}
                                    options={[
                                        ['', t('none')],
                                        ...signals.map((each): [string, string] => [each, each]),
                                    ]}
                                    change={(signal) => put('signal', signal)}
                                />
                            )}
                            <Field
                                label={t('The event carries')}
                                value={texts(reaction.capture).join(', ')}
                                placeholder="wrist.force.z"
                                hint={t('State variables, with commas between them.')}
                                change={(value) => put('capture', wordsOf(value), 'capture')}
                            />
                            <Check
                                label={t('At most once in each activation')}
                                value={reaction.fire_once === true}
                                change={(value) => put('fire_once', value)}
                            />
                            <Check
                                label={t('This state goes on')}
                                value={reaction.keep_owner === true}
                                change={(value) => put('keep_owner', value)}
                                hint={t('The started states must use other parts')}
                            />
                        </details>
                    </div>
                );
            })}
            <button
                onClick={() =>
                    it.docs.edit((text) =>
                        addReaction(
                            text,
                            owner,
                            owner === '' ? { when: 'false', stop: true } : { when: 'is_done', stop: true },
                        ),
                    )
                }>
                {t('Add a reaction')}
            </button>
        </section>
    );
}

/** Parts for slots or roles: those that fit, and roles of this program. */
function PartChoices({
    slots,
    given,
    change,
}: {
    slots: (Slot & { hint: string })[];
    given: Record<string, string>;
    change: (slot: string, part: string) => void;
}) {
    const it = useStore();
    if (slots.length === 0) return null;
    const roles = isRecord(it.docs.doc?.graph.content.roles) ? it.docs.doc.graph.content.roles : {};
    return (
        <section>
            <h3>{t('Parts')}</h3>
            {slots.map((slot) => {
                const fits = (kinds: string[]): boolean =>
                    kinds.length === 0 || slot.kinds.length === 0 || kinds.some((kind) => slot.kinds.includes(kind));
                const options: [string, string][] = [
                    ['', t('choose a part')],
                    ...Object.entries(roles)
                        .filter(([, role]) => fits(texts(isRecord(role) ? role.kinds : undefined)))
                        .map(([role]): [string, string] => [role, t('{name} (role)', { name: role })]),
                    ...it.library.parts
                        .filter((part) => fits([part.kind]))
                        .map((part): [string, string] => [part.name, part.name]),
                ];
                return (
                    <Choice
                        key={slot.name}
                        label={`${slot.name}${slot.kinds.length > 0 ? `: ${slot.kinds.join(t(' or '))}` : ''}`}
                        value={given[slot.name] ?? ''}
                        options={options}
                        change={(part) => change(slot.name, part)}
                    />
                );
            })}
        </section>
    );
}

export function StateForm({ node }: { node: GraphNode }) {
    const it = useStore();
    const doc = it.docs.doc;
    if (!doc) return null;
    const content = node.content;
    const path: Path = ['actions', node.id];
    const type = it.library.types.get(node.skill);
    const isUse = content.use !== undefined;
    const program = isUse ? it.library.programs.find((each) => each.name === node.skill.split('@')[0]) : undefined;
    const infos = (isUse ? program?.parameters : type?.parameters) ?? it.library.skill(node.skill)?.parameters ?? [];
    const mine = doc.mistakes.filter((mistake) => mistake.node === node.id);
    const text = doc.checked;
    const inReaction = (index: number): Mistake[] =>
        mine.filter((mistake) => placeOfLine(text, mistake.line).reaction === index);
    const isGroup = content.type === 'motion_group';
    const inMotion = mine.filter((mistake) =>
        isGroup
            ? commandOfMistake(text, node.id, mistake) >= 0
            : strategyOfMistake(text, node.id, mistake) !== undefined,
    );
    const general = mine.filter(
        (mistake) =>
            !inMotion.includes(mistake) &&
            placeOfLine(text, mistake.line).reaction < 0 &&
            !infos.some((info) => mistake.text.includes(`parameter '${info.name}'`)),
    );
    const slots = (type?.slots ?? []).map((slot) => ({
        name: slot.name,
        kinds: slot.kinds.filter((kind) => kind !== 'axis'),
        hint: slot.description,
    }));
    const roles = (program?.parts ?? []).map((role) => ({ name: role.split(':')[0] ?? role, kinds: [], hint: '' }));
    const used = isUse ? it.library.skill(node.skill) : undefined;
    const exits = isUse
        ? [
              ...new Set([
                  ...(used?.results ?? []),
                  ...(used?.failures ?? []),
                  ...Object.keys(isRecord(content.exits) ? content.exits : {}),
              ]),
          ]
        : [];
    return (
        <div>
            <div className="form-head">
                <h2>{node.skill || t('state')}</h2>
                <span className="chip">{t(isUse ? 'a program as a state' : 'state')}</span>
            </div>
            <p className="quiet">{(isUse ? program?.description : type?.description) ?? ''}</p>
            {general.map((mistake) => (
                <p key={mistake.text} className={mistake.warning ? 'warning' : 'bad-hint'} role="alert">
                    {mistake.text}
                </p>
            ))}
            <NameField
                label={t('Name of the state')}
                value={node.id}
                change={(id) => {
                    if (!NAME.test(id)) return it.talk.say(t(BAD_NAME), true);
                    if (doc.graph.nodes.some((each) => each.id === id))
                        return it.talk.say(t('There is a state {name} already.', { name: id }), true);
                    it.docs.edit((t) => renameState(t, node.id, id));
                    it.docs.select([id]);
                }}
            />
            <div className="row">
                {isUse && (
                    <button onClick={() => void it.versions.openProgram(node.skill)}>
                        {t('Open {name}', { name: node.skill })}
                    </button>
                )}
                {node.place && (
                    <button onClick={() => it.docs.edit((t) => arrange(t, [node.id]))}>
                        {t('Place it by itself')}
                    </button>
                )}
            </div>
            <Check
                label={t('The program starts with it')}
                value={node.isStart}
                change={(begins) => it.docs.edit((t) => setStart(t, node.id, begins))}
            />
            <Check
                label={t('The program may end here')}
                value={content.final === true}
                change={(final) => it.docs.edit((t) => setField(t, [...path, 'final'], final ? true : undefined))}
            />
            {isUse ? (
                <PartChoices
                    slots={roles}
                    given={isRecord(content.parts) ? (content.parts as Record<string, string>) : {}}
                    change={(role, part) =>
                        it.docs.edit((t) => setField(t, [...path, 'parts', role], part === '' ? undefined : part))
                    }
                />
            ) : (
                !isGroup && (
                    <PartChoices
                        slots={slots}
                        given={partsOf(content, slots)}
                        change={(slot, part) => it.docs.edit((t) => setPart(t, node.id, slots, slot, part))}
                    />
                )
            )}
            <Parameters
                infos={infos}
                path={[...path, 'parameters']}
                given={isRecord(content.parameters) ? content.parameters : {}}
                mistakes={mine.filter((mistake) => !inMotion.includes(mistake))}
                parts={isRecord(content.parts) ? Object.values(content.parts).map(String) : texts(content.parts)}
            />
            {isGroup && (
                <Field
                    label={t('Its parts')}
                    value={texts(content.parts).join(', ')}
                    placeholder={t('those of its commands')}
                    change={(value) =>
                        it.docs.edit(
                            (t) =>
                                setField(t, [...path, 'parts'], wordsOf(value).length > 0 ? wordsOf(value) : undefined),
                            `parts ${node.id}`,
                        )
                    }
                />
            )}
            {isGroup && <CommandForms node={node} type={type} mistakes={inMotion} />}
            {type && !isGroup && type.slots.some((slot) => slot.moves) && (
                <StrategyForms node={node} type={type} mistakes={inMotion} />
            )}
            {isUse ? (
                <section>
                    <h3>{t('What follows its exits')}</h3>
                    {exits.map((exit) => (
                        <div key={exit} className="candidate">
                            <strong>{exit}</strong>
                            <Targets
                                label={t('After {exit}', { exit })}
                                chosen={isRecord(content.exits) ? texts(content.exits[exit]) : []}
                                change={(targets) => it.docs.edit((t) => setExit(t, node.id, exit, targets))}
                            />
                        </div>
                    ))}
                </section>
            ) : (
                <ReactionForms owner={node.id} signals={type?.signals ?? []} mistakes={inReaction} />
            )}
            {!isUse && (
                <details>
                    <summary>{t('Time limit, and by hand')}</summary>
                    <Expression
                        label={t('Time limit [s]')}
                        value={textAt([...path, 'time_limit'], content.time_limit)}
                        isCondition={false}
                        placeholder={t('none')}
                        change={(value) =>
                            it.docs.edit(
                                (t) =>
                                    setField(
                                        t,
                                        [...path, 'time_limit'],
                                        value.trim() === '' ? undefined : typed(value, 'float'),
                                    ),
                                `limit ${node.id}`,
                            )
                        }
                    />
                    <Check
                        label={t('A user starts it by hand')}
                        value={content.manual === true}
                        change={(manual) =>
                            it.docs.edit((t) => setField(t, [...path, 'manual'], manual ? true : undefined))
                        }
                    />
                </details>
            )}
            {type && type.state_variables.length > 0 && (
                <details>
                    <summary>
                        {t('It tells')} <span className="quiet">{type.state_variables.length}</span>
                    </summary>
                    <ul className="plain">
                        {type.state_variables.map((each) => (
                            <li key={each.name} title={each.description}>
                                <code>{each.name}</code> <span className="quiet">{each.unit}</span>
                            </li>
                        ))}
                    </ul>
                </details>
            )}
        </div>
    );
}

/** The program itself: roles, parameters, exits, and what holds in every state. */
export function ProgramForm() {
    const it = useStore();
    const doc = it.docs.doc;
    if (!doc) return null;
    const graph = doc.graph;
    const content = graph.content;
    const general = doc.mistakes.filter((mistake) => mistake.node === '');
    const last = lastOf(graph.name, it.link.live.robot.programs ?? [], it.drawn.isShown);
    const section = (key: string): Json => (isRecord(content[key]) ? (content[key] as Json) : {});
    const put = (path: Path, value: Value | undefined, mark = ''): void =>
        it.docs.edit((text) => setField(text, path, value), mark);
    return (
        <div>
            <div className="form-head">
                <h2>{graph.name || t('Program')}</h2>
                <span className="chip level-meta_skill">{t('program')}</span>
            </div>
            {last !== '' && <p className="quiet">{t('It runs: {what}.', { what: last })}</p>}
            {general.map((mistake) => (
                <p key={`${mistake.line}${mistake.text}`} className={mistake.warning ? 'warning' : 'bad-hint'}>
                    {mistake.line > 0 && t('Line {line}: ', { line: mistake.line })}
                    {mistake.text}
                </p>
            ))}
            <NameField label={t('Name')} value={graph.name} change={(name) => put(['name'], name)} />
            <Field
                label={t('Description')}
                value={asText(content.description)}
                change={(value) => put(['description'], value === '' ? undefined : value, 'description')}
            />
            <Field
                label={t('Tags')}
                value={texts(content.tags).join(', ')}
                placeholder={t('contact, force')}
                hint={t('Words by which users find it.')}
                change={(value) => put(['tags'], wordsOf(value).length > 0 ? wordsOf(value) : undefined, 'tags')}
            />
            <RoleForms content={content} />
            <details open>
                <summary>
                    {t('Parameters')} <span className="quiet">{Object.keys(section('parameters')).length}</span>
                </summary>
                {Object.entries(section('parameters')).map(([name, declared]) => (
                    <Declaration key={name} name={name} one={isRecord(declared) ? declared : {}} />
                ))}
                <Adder
                    label={t('New parameter')}
                    add={(name) => it.docs.edit((text) => set(text, ['parameters', name], { default: 0 }))}
                />
            </details>
            <Field
                label={t('Parts that it moves')}
                value={texts(content.parts).join(', ')}
                placeholder={t('those of its states')}
                change={(value) => put(['parts'], wordsOf(value).length > 0 ? wordsOf(value) : undefined, 'parts')}
            />
            <section>
                <h3>{t('Starts with')}</h3>
                <div className="targets">
                    {graph.nodes
                        .filter((node) => node.isStart)
                        .map((node) => (
                            <span key={node.id} className="chip start-chip">
                                {node.id}
                                <button
                                    aria-label={t('Not start with {name}', { name: node.id })}
                                    onClick={() => it.docs.edit((text) => setStart(text, node.id, false))}>
                                    ×
                                </button>
                            </span>
                        ))}
                    <Choice
                        hidden
                        label={t('Starts also with')}
                        value=""
                        options={[
                            ['', '+'],
                            ...graph.nodes
                                .filter((node) => !node.isStart)
                                .map((node): [string, string] => [node.id, node.id]),
                        ]}
                        change={(id) => id && it.docs.edit((text) => setStart(text, id, true))}
                    />
                </div>
            </section>
            <section>
                <h3>{t('Exits')}</h3>
                {endsOf(graph).length === 0 && (
                    <p className="quiet">{t('None yet: mark a state where the program may end.')}</p>
                )}
                {endsOf(graph).map((exit) => {
                    const one = section('exits')[exit];
                    return (
                        <Choice
                            key={exit}
                            label={exit}
                            value={isRecord(one) && one.failure === true ? 'failure' : 'success'}
                            options={[
                                ['success', t('a success')],
                                ['failure', t('a failure')],
                            ]}
                            change={(kind) =>
                                it.docs.edit((text) => {
                                    // Where one is declared, all are.
                                    const all = endsOf(graph).filter(
                                        (each) => section('exits')[each] === undefined && each !== exit,
                                    );
                                    return set(
                                        all.reduce((found, each) => set(found, ['exits', each], {}), text),
                                        ['exits', exit],
                                        kind === 'failure' ? { failure: true } : {},
                                    );
                                })
                            }
                        />
                    );
                })}
            </section>
            <ReactionForms
                owner=""
                signals={[]}
                mistakes={(index) =>
                    general.filter((mistake) => placeOfLine(doc.checked, mistake.line).reaction === index)
                }
            />
        </div>
    );
}

function Declaration({ name, one }: { name: string; one: Json }) {
    const it = useStore();
    const type = asText(one.type) || 'float';
    const path: Path = ['parameters', name];
    const put = (key: string, value: Value | undefined): void =>
        it.docs.edit((text) => setField(text, [...path, key], value), `${key} ${name}`);
    const field = (key: string, label: string, placeholder = t('none'), kind = type) => (
        <Field
            label={label}
            value={textAt([...path, key], one[key])}
            placeholder={placeholder}
            change={(value) => put(key, value.trim() === '' ? undefined : typed(value, kind))}
        />
    );
    return (
        <div className="candidate">
            <div className="candidate-row">
                <NameField
                    label={t('Parameter')}
                    value={name}
                    change={(next) => NAME.test(next) && it.docs.edit((text) => renameParameter(text, name, next))}
                />
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
                    change={(value) => put('type', value === 'float' ? undefined : value)}
                />
                <button
                    className="small"
                    aria-label={t('Remove {name}', { name })}
                    onClick={() => it.docs.edit((text) => remove(text, path))}>
                    ×
                </button>
            </div>
            {field('default', t('Default'), t('must be given'))}
            {type !== 'text' && type !== 'bool' && field('unit', t('Unit'), t('none'), 'text')}
            {type !== 'text' && type !== 'bool' && (
                <div className="candidate-row">
                    {field('minimum', t('At least'))}
                    {field('maximum', t('At most'))}
                </div>
            )}
            {type === 'text' && (
                <Field
                    label={t('Choices')}
                    value={texts(one.choices).join(', ')}
                    placeholder={t('any text')}
                    change={(value) => put('choices', wordsOf(value).length > 0 ? wordsOf(value) : undefined)}
                />
            )}
            {field('description', t('Description'), t('none'), 'text')}
        </div>
    );
}

/** The index of programs: kept ones and the library's, found by words and tags. */
export function ProgramIndex() {
    const it = useStore();
    const [search, setSearch] = useState('');
    const [tag, setTag] = useState('');
    const tags = [...new Set(it.library.programs.flatMap((program) => program.tags))].sort();
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = it.library.programs.filter((program) => {
        const all = `${program.name} ${program.description} ${program.tags.join(' ')}`.toLowerCase();
        return words.every((word) => all.includes(word)) && (tag === '' || program.tags.includes(tag));
    });
    return (
        <section className="shelf">
            <h3>{t('Programs')}</h3>
            {!it.me.onlyWatches && (
                <button className="wide" onClick={() => it.talk.show({ kind: 'new_program' })}>
                    {t('New program')}
                </button>
            )}
            <input
                className="search"
                type="search"
                placeholder={t('Find a program')}
                aria-label={t('Find a program')}
                value={search}
                onChange={(event) => setSearch(event.target.value)}
            />
            {tags.length > 0 && (
                <Choice
                    hidden
                    label={t('Tag')}
                    value={tag}
                    options={[['', t('any tag')], ...tags.map((each): [string, string] => [each, each])]}
                    change={setTag}
                />
            )}
            {found.length === 0 && <p className="quiet">{t('None has these words.')}</p>}
            {found.map((program) => {
                const users = usersOf(program.name, it.library.skills, it.library.uses);
                const used = users.length > 0 ? t('used by {users}', { users: users.join(', ') }) : '';
                return (
                    <div key={program.name} className="skill-row level-meta_skill">
                        <button
                            className="skill-item"
                            onClick={() => void it.versions.openProgram(program.name)}
                            title={[program.description, program.tags.join(', '), used].filter(Boolean).join('\n')}>
                            <span className="skill-name">{program.name}</span>
                            <span className="skill-description">
                                {program.origin === 'library'
                                    ? t('of the library')
                                    : t('version {version}, kept', { version: program.version })}
                                {program.tags.length > 0 && `: ${program.tags.join(', ')}`}
                            </span>
                            {program.description !== '' && (
                                <span className="skill-description">{program.description}</span>
                            )}
                            {used !== '' && <span className="skill-description">{used}</span>}
                        </button>
                        {program.versions.length > 1 && (
                            <Choice
                                hidden
                                label={t('Version of {name}', { name: program.name })}
                                value=""
                                options={[
                                    ['', '@'],
                                    ...program.versions.map((version): [string, string] => [
                                        String(version),
                                        `@${version}`,
                                    ]),
                                ]}
                                change={(version) =>
                                    version && void it.versions.openProgram(`${program.name}@${version}`)
                                }
                            />
                        )}
                        {program.origin !== 'library' && it.me.mayOperate && (
                            <button
                                className="small"
                                aria-label={t('Delete {name}', { name: program.name })}
                                title={t('Delete all versions')}
                                onClick={() =>
                                    it.talk.confirm(
                                        t('Delete all versions of {name}?', { name: program.name }) +
                                            (used && ` (${used})`),
                                        t('Delete'),
                                        () => void it.shelf.deleteProgram(program.name),
                                    )
                                }>
                                ×
                            </button>
                        )}
                    </div>
                );
            })}
        </section>
    );
}
