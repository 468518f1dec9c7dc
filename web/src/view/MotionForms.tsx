// Forms of a state's motion commands and strategies, made from what the package and the laws declare.

import { useState } from 'react';
import { later, t } from '../language/language.ts';
import { type Kind, Take } from '../operate/Take.tsx';
import type { Mistake } from '../store/mistakes.ts';
import { jointsOf } from '../store/program_shelf.ts';
import { useStore } from '../store/store.ts';
import { typed } from '../text/blueprint_edits.ts';
import { type GraphNode, isRecord, type Json, texts, wordsOf } from '../text/graph.ts';
import {
    addCommand,
    addStrategy,
    commandOfMistake,
    commandsOf,
    fieldOfStrategy,
    keyOfMistake,
    moveCommand,
    moveStrategy,
    removeCommand,
    removeStrategy,
    setCommand,
    setLaw,
    setStrategy,
    setTarget,
    strategiesOf,
    strategyOfMistake,
    TARGETS,
    targetOf,
} from '../text/motion_edits.ts';
import { BAD_NAME, NAME } from '../text/names.ts';
import type { Path, Value } from '../text/yaml_edit.ts';
import type { ActionType, ParameterInfo } from '../wire.ts';
import { Choice, Expression, Field, NameField } from './fields.tsx';
import { asText, Parameters, textAt } from './Inspector.tsx';

/** Earlier, later, away. */
function Order({
    what,
    n,
    count,
    move,
    remove,
}: {
    what: string;
    n: number;
    count: number;
    move: (to: number) => void;
    remove: () => void;
}) {
    return (
        <>
            <button
                className="small"
                aria-label={t('{what} earlier', { what })}
                disabled={n === 0}
                onClick={() => move(n - 1)}>
                ↑
            </button>
            <button
                className="small"
                aria-label={t('{what} later', { what })}
                disabled={n >= count - 1}
                onClick={() => move(n + 1)}>
                ↓
            </button>
            <button className="small" aria-label={t('Remove {name}', { name: what })} onClick={remove}>
                ×
            </button>
        </>
    );
}

function Wrong({ mistakes }: { mistakes: Mistake[] }) {
    return (
        <>
            {mistakes.map((mistake) => (
                <p key={mistake.text} className={mistake.warning ? 'warning' : 'bad-hint'} role="alert">
                    {mistake.text}
                </p>
            ))}
        </>
    );
}

/** Parts and roles of some kinds. */
function usePartOptions(kinds: readonly string[]): [string, string][] {
    const it = useStore();
    const roles = isRecord(it.docs.doc?.graph.content.roles) ? it.docs.doc.graph.content.roles : {};
    const fits = (of: string[]): boolean =>
        kinds.length === 0 || of.length === 0 || of.some((kind) => kinds.includes(kind));
    return [
        ...Object.entries(roles)
            .filter(([, role]) => fits(texts(isRecord(role) ? role.kinds : undefined)))
            .map(([role]): [string, string] => [role, t('{name} (role)', { name: role })]),
        ...it.library.parts.filter((part) => fits([part.kind])).map((part): [string, string] => [part.name, part.name]),
    ];
}

// --- motion commands --------------------------------------------------------------------------------

const TARGET_NAMES: [string, string][] = [
    ['position', later('a position of its joints')],
    ['pose', later('a pose of its tool')],
    ['velocity', later('a velocity for a time')],
    ['trajectory', later('points in time')],
];

/** What of a part's present pose a key takes. */
const TAKEN: Record<string, Kind> = {
    position: 'joints',
    start: 'joints',
    'pose.position': 'position',
    'pose.orientation': 'orientation',
};

/** The motion commands of a motion group. Each part carries its own out in their order. */
export function CommandForms({
    node,
    type,
    mistakes,
}: {
    node: GraphNode;
    type: ActionType | undefined;
    mistakes: Mistake[];
}) {
    const it = useStore();
    const doc = it.docs.doc;
    const parts = usePartOptions((type?.slots[0]?.kinds ?? []).filter((kind) => kind !== 'axis'));
    if (!doc) return null;
    const commands = commandsOf(doc.graph, node.id);
    const last = texts(commands[commands.length - 1]?.part)[0] ?? parts[0]?.[0] ?? '';
    return (
        <section>
            <h3>{t('Motion commands')}</h3>
            {commands.length === 0 && <p className="quiet">{t('None yet: nothing moves.')}</p>}
            {commands.map((command, n) => (
                <CommandForm
                    key={n}
                    node={node}
                    command={command}
                    n={n}
                    count={commands.length}
                    parts={parts}
                    mistakes={mistakes.filter((mistake) => commandOfMistake(doc.checked, node.id, mistake) === n)}
                />
            ))}
            <button
                onClick={() =>
                    it.docs.edit((text) => addCommand(text, node.id, last, jointsOf(last, it.library.around)))
                }>
                {t('Add a motion command')}
            </button>
        </section>
    );
}

function CommandForm({
    node,
    command,
    n,
    count,
    parts,
    mistakes,
}: {
    node: GraphNode;
    command: Json;
    n: number;
    count: number;
    parts: [string, string][];
    mistakes: Mistake[];
}) {
    const it = useStore();
    const target = targetOf(command);
    const mine = (TARGETS[target] ?? []).flatMap((key) =>
        it.library.motionKeys.filter((info) => info.name === key || info.name.startsWith(`${key}.`)),
    );
    const others = new Set(Object.values(TARGETS).flat());
    const limits = it.library.motionKeys.filter((info) => !others.has(info.name.split('.')[0] ?? ''));
    const keys = [...mine, ...limits].map((info) => info.name);
    const bad = (key: string): string | undefined =>
        mistakes
            .filter((mistake) => keyOfMistake(mistake, keys) === key)
            .map((mistake) => mistake.text)
            .join('\n') || undefined;
    const what = t('Command {number}', { number: n + 1 });
    const field = (info: ParameterInfo) => {
        const value = info.name
            .split('.')
            .reduce((found: unknown, key) => (isRecord(found) ? found[key] : undefined), command);
        const many = info.length === 'points' ? t('a list of lists') : info.length === 'any' ? t('a list') : '';
        const change = (entered: string): void =>
            it.docs.edit(
                (text) =>
                    setCommand(
                        text,
                        node.id,
                        n,
                        info.name,
                        entered.trim() === '' ? undefined : typed(entered, 'float'),
                    ),
                `command ${node.id} ${n} ${info.name}`,
            );
        const kind = TAKEN[info.name];
        return (
            <div key={info.name}>
                <Expression
                    label={`${info.name}${info.unit ? ` [${info.unit}]` : ''}`}
                    isCondition={false}
                    bad={bad(info.name)}
                    value={textAt(['actions', node.id, 'commands', n, ...info.name.split('.')], value)}
                    placeholder={info.default_value || many}
                    hint={info.description}
                    change={change}
                />
                {kind && <Take kind={kind} parts={it.library.parts} named={texts(command.part)} change={change} />}
            </div>
        );
    };
    const isGiven = limits.some((info) => command[info.name] !== undefined || bad(info.name) !== undefined);
    return (
        <div className="candidate" role="group" aria-label={what}>
            <div className="candidate-row">
                <strong>{n + 1}.</strong>
                <Choice
                    hidden
                    label={t('{what}: part', { what })}
                    value={texts(command.part)[0] ?? ''}
                    options={parts}
                    change={(part) => it.docs.edit((text) => setCommand(text, node.id, n, 'part', part))}
                />
                <Order
                    what={what}
                    n={n}
                    count={count}
                    move={(to) => it.docs.edit((text) => moveCommand(text, node.id, n, to))}
                    remove={() => it.docs.edit((text) => removeCommand(text, node.id, n))}
                />
            </div>
            <Wrong mistakes={mistakes.filter((mistake) => keyOfMistake(mistake, keys) === '')} />
            <Choice
                label={t('It goes to')}
                value={target}
                options={[
                    ...(target === '' ? [['', t('choose')] as [string, string]] : []),
                    ...TARGET_NAMES.map(([key, text]): [string, string] => [key, t(text)]),
                ]}
                change={(next) =>
                    it.docs.edit((text) =>
                        setTarget(text, node.id, n, next, jointsOf(texts(command.part)[0] ?? '', it.library.around)),
                    )
                }
            />
            {target === 'trajectory' && (
                <p className="hint">
                    {t('Its times and points are written in the text (Ctrl+E). It needs the profile async.')}
                </p>
            )}
            {mine.map(field)}
            <details open={isGiven}>
                <summary>{t('How fast and how smoothly, ways between')}</summary>
                {limits.map(field)}
            </details>
        </div>
    );
}

// --- strategies -------------------------------------------------------------------------------------

/** Laws that a state's degrees of freedom can have: those of joints, or of declared ones. */
export function lawsOf(types: Iterable<ActionType>, isDeclared: boolean): ActionType[] {
    return [...types].filter((type) => {
        const kinds = type.slots[0]?.kinds ?? [];
        return (
            kinds.includes('axis') &&
            type.slots.filter((slot) => slot.moves).length === 1 &&
            (type.streams ?? []).length === 0 &&
            type.name !== 'motion_group' &&
            (!isDeclared || kinds.length === 1)
        );
    });
}

/** Degrees of freedom that a state can govern: declared ones, or the joints of its parts. */
function useDegrees(type: ActionType, node: GraphNode): string[] {
    const it = useStore();
    if (type.degrees_of_freedom.length > 0) return type.degrees_of_freedom;
    const names = isRecord(node.content.parts)
        ? Object.values(node.content.parts).map(String)
        : texts(node.content.parts);
    return names.flatMap((name) => {
        const known = it.library.parts.find((part) => part.name === name)?.joint_names;
        const joints = known ?? [...Array(jointsOf(name, it.library.around)).keys()].map((index) => `joint[${index}]`);
        return joints.map((joint) => (names.length > 1 ? `${name}.${joint}` : joint));
    });
}

/** Ordered laws for each degree of freedom: the first one whose condition holds governs. */
export function StrategyForms({ node, type, mistakes }: { node: GraphNode; type: ActionType; mistakes: Mistake[] }) {
    const it = useStore();
    const [axis, setAxis] = useState('');
    const degrees = useDegrees(type, node);
    const doc = it.docs.doc;
    if (!doc) return null;
    const laws = lawsOf(it.library.types.values(), type.degrees_of_freedom.length > 0);
    const found = strategiesOf(doc.graph, node.id);
    const free = degrees.filter((degree) => !found.some(([each]) => each === degree));
    const first = laws.find((law) => law.inputs.length === 0) ?? laws[0];
    const placed = mistakes.map((mistake) => ({ mistake, at: strategyOfMistake(doc.checked, node.id, mistake) }));
    const wanted = axis.trim() || free[0] || '';
    if (laws.length === 0 || first === undefined) return null;
    return (
        <details open={found.length > 0 || type.degrees_of_freedom.length > 0}>
            <summary>
                {t('Strategies')} <span className="quiet">{found.length}</span>
            </summary>
            <p className="hint">
                {t(
                    'For each degree of freedom, the first law whose condition holds governs. ' +
                        'Those without a list do what the action does.',
                )}
            </p>
            {found.map(([each, list]) => (
                <div key={each} role="group" aria-label={t('Strategies of {axis}', { axis: each })}>
                    <h3>{each}</h3>
                    <Wrong
                        mistakes={placed
                            .filter(({ at }) => at?.axis === each && at.index < 0)
                            .map(({ mistake }) => mistake)}
                    />
                    {list.map((strategy, n) => (
                        <StrategyForm
                            key={n}
                            node={node}
                            axis={each}
                            strategy={strategy}
                            n={n}
                            count={list.length}
                            laws={laws}
                            mistakes={placed
                                .filter(({ at }) => at?.axis === each && at.index === n)
                                .map(({ mistake }) => mistake)}
                        />
                    ))}
                    <button
                        aria-label={t('Add a strategy of {axis}', { axis: each })}
                        onClick={() => it.docs.edit((text) => addStrategy(text, node.id, each, first.name))}>
                        {t('Add a strategy')}
                    </button>
                </div>
            ))}
            {(free.length > 0 || degrees.length === 0) && (
                <div className="candidate-row">
                    {free.length > 0 ? (
                        <Choice
                            hidden
                            label={t('Degree of freedom')}
                            value={wanted}
                            options={free.map((degree): [string, string] => [degree, degree])}
                            change={setAxis}
                        />
                    ) : (
                        <Field label={t('Degree of freedom')} value={axis} placeholder="joint[0]" change={setAxis} />
                    )}
                    <button
                        disabled={wanted === ''}
                        onClick={() => {
                            it.docs.edit((text) => addStrategy(text, node.id, wanted, first.name));
                            setAxis('');
                        }}>
                        {t('Govern it')}
                    </button>
                </div>
            )}
        </details>
    );
}

function StrategyForm({
    node,
    axis,
    strategy,
    n,
    count,
    laws,
    mistakes,
}: {
    node: GraphNode;
    axis: string;
    strategy: Json;
    n: number;
    count: number;
    laws: ActionType[];
    mistakes: Mistake[];
}) {
    const it = useStore();
    const name = asText(strategy.name);
    const law = it.library.types.get(asText(strategy.law));
    const path: Path = ['actions', node.id, 'strategies', axis, n];
    const given = (key: string): Json => (isRecord(strategy[key]) ? (strategy[key] as Json) : {});
    const mark = `strategy ${node.id} ${axis} ${n}`;
    const put = (key: Path, value: Value | undefined): void =>
        it.docs.edit((text) => setStrategy(text, node.id, axis, n, key, value), `${mark} ${key.join('.')}`);
    const bad = (field: string): string | undefined =>
        mistakes
            .filter((mistake) => fieldOfStrategy(mistake) === field)
            .map((mistake) => mistake.text)
            .join('\n') || undefined;
    const inputs = [...new Set([...(law?.inputs ?? []).map((each) => each.name), ...Object.keys(given('inputs'))])];
    const slots = (law?.slots ?? []).slice(1);
    const shown = new Set([
        'when',
        'capture',
        ...inputs.map((input) => `inputs.${input}`),
        ...(law?.parameters ?? []).map((info) => `parameters.${info.name}`),
    ]);
    const general = mistakes.filter((mistake) => !shown.has(fieldOfStrategy(mistake)));
    const isLast = n === count - 1;
    const isWanted =
        (law?.inputs ?? []).length > 0 ||
        slots.length > 0 ||
        Object.keys(given('parameters')).length > 0 ||
        mistakes.some((mistake) => !['', 'when'].includes(fieldOfStrategy(mistake)));
    return (
        <div className="candidate" role="group" aria-label={t('Strategy {number} of {axis}', { number: n + 1, axis })}>
            <div className="candidate-row">
                <Choice
                    hidden
                    label={t('Law {number} of {axis}', { number: n + 1, axis })}
                    value={asText(strategy.law)}
                    options={laws.map((each): [string, string] => [each.name, each.name])}
                    change={(next) => {
                        const chosen = it.library.types.get(next);
                        it.docs.edit((text) =>
                            setLaw(text, node.id, axis, n, {
                                name: next,
                                parameters: (chosen?.parameters ?? []).map((each) => each.name),
                                inputs: (chosen?.inputs ?? []).map((each) => each.name),
                            }),
                        );
                    }}
                />
                <Order
                    what={t('Strategy {number} of {axis}', { number: n + 1, axis })}
                    n={n}
                    count={count}
                    move={(to) => it.docs.edit((text) => moveStrategy(text, node.id, axis, n, to))}
                    remove={() => it.docs.edit((text) => removeStrategy(text, node.id, axis, n))}
                />
            </div>
            <p className="quiet" title={law?.description}>
                {(law?.description ?? '').split(/\.\s/)[0]}
            </p>
            <Wrong mistakes={general} />
            <NameField
                label={t('Name of strategy {number} of {axis}', { number: n + 1, axis })}
                value={name}
                change={(next) => {
                    if (!NAME.test(next)) return it.talk.say(t(BAD_NAME), true);
                    put(['name'], next);
                }}
            />
            <Expression
                label={t('Condition of strategy {number} of {axis}', { number: n + 1, axis })}
                value={asText(strategy.when)}
                placeholder={isLast ? t('otherwise: always') : 'wrist.force.z > 5'}
                bad={bad('when')}
                change={(when) => put(['when'], when)}
            />
            <details open={isWanted}>
                <summary>{t('What it works on')}</summary>
                {inputs.map((input) => {
                    const info = law?.inputs.find((each) => each.name === input);
                    return (
                        <Expression
                            key={input}
                            label={`${t('Input {name}', { name: input })}${info?.unit ? ` [${info.unit}]` : ''}`}
                            value={asText(given('inputs')[input])}
                            placeholder={t('a state variable')}
                            hint={info?.description}
                            bad={bad(`inputs.${input}`)}
                            change={(variable) => put(['inputs', input], variable.trim())}
                        />
                    );
                })}
                {slots.map((slot, m) => (
                    <SlotChoice
                        key={slot.name}
                        slot={slot}
                        value={texts(strategy.parts)[m] ?? ''}
                        change={(part) =>
                            put(
                                ['parts'],
                                slots
                                    .map((_, k) => (k === m ? part : (texts(strategy.parts)[k] ?? '')))
                                    .filter(Boolean),
                            )
                        }
                    />
                ))}
                <Parameters
                    infos={law?.parameters ?? []}
                    path={[...path, 'parameters']}
                    given={given('parameters')}
                    mistakes={mistakes}
                />
                <Field
                    label={t('Its event carries')}
                    value={texts(strategy.capture).join(', ')}
                    placeholder={t('none')}
                    hint={t('State variables, with commas between them.')}
                    bad={bad('capture')}
                    change={(value) => put(['capture'], wordsOf(value))}
                />
            </details>
        </div>
    );
}

function SlotChoice({
    slot,
    value,
    change,
}: {
    slot: ActionType['slots'][number];
    value: string;
    change: (part: string) => void;
}) {
    const options = usePartOptions(slot.kinds);
    return (
        <Choice
            label={`${slot.name}: ${slot.kinds.join(t(' or '))}`}
            value={value}
            options={[['', t('choose a part')], ...options]}
            change={change}
        />
    );
}
