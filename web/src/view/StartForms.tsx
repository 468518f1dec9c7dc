// What starts a blueprint: sentences, gestures, what sensors measure, and messages of other nodes.

import { later, t } from '../language/language.ts';
import type { Mistake } from '../store/mistakes.ts';
import { useStore } from '../store/store.ts';
import { setField, typed } from '../text/blueprint_edits.ts';
import { isRecord, type Json, texts, wordsOf } from '../text/graph.ts';
import { isUnder, mistakesAt } from '../text/mistake_place.ts';
import { addStart, removeStart, renameEntry, START_KINDS, type StartKind, startsOf } from '../text/starts.ts';
import type { Path, Step, Value } from '../text/yaml_edit.ts';
import { badAt, General } from './CallForm.tsx';
import { Check } from './Check.tsx';
import { Choice, Expression, Field, NameField } from './fields.tsx';
import { asText, textAt } from './Inspector.tsx';

const KINDS: Record<StartKind, string> = {
    say: later('a sentence'),
    gesture: later('a gesture'),
    when: later('a sensor'),
    topic: later('a message of another node'),
};
const TYPES = [
    'std_msgs/msg/String',
    'std_msgs/msg/Bool',
    'std_msgs/msg/Int32',
    'std_msgs/msg/Float64',
    'vision_msgs/msg/Detection2DArray',
    'diagnostic_msgs/msg/DiagnosticArray',
];

export function StartForms({ content, mistakes }: { content: Json; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const starts = startsOf(content);
    return (
        <details open={starts.length > 0}>
            <summary>
                {t('What starts it')} <span className="quiet">{starts.length}</span>
            </summary>
            {starts.map(({ index, content: one, kinds }) => {
                const path: Path = ['commands', index];
                const put = (steps: Step[], value: Value | undefined): void =>
                    it.docs.edit(
                        (text) => setField(text, [...path, ...steps], value),
                        `start ${index} ${steps.join('.')}`,
                    );
                const own = mistakesAt(mistakes, path);
                const n = index + 1;
                const bySelf = kinds.includes('when') || kinds.includes('topic');
                return (
                    <fieldset className="candidate" key={index} aria-label={t('Start number {n}', { n })}>
                        <div className="candidate-row">
                            <strong>{kinds.map((kind) => t(KINDS[kind])).join(', ') || t('nothing')}</strong>
                            <span className="gap" />
                            <button
                                className="small"
                                aria-label={t('Remove start {n}', { n })}
                                onClick={() => it.docs.edit((text) => removeStart(text, index))}>
                                ×
                            </button>
                        </div>
                        <General mistakes={own.filter((mistake) => mistake.place.length < 3)} />
                        {kinds.includes('say') && (
                            <Field
                                label={t('Sentences of start {n}', { n })}
                                value={texts(one.say).join('; ')}
                                placeholder={t('welcome the guest; receive {guest}')}
                                hint={t('With semicolons between them; {name} fills a parameter.')}
                                bad={badAt(own, [...path, 'say'])}
                                change={(value) => put(['say'], wordsOf(value, ';'))}
                            />
                        )}
                        {kinds.includes('gesture') && (
                            <Field
                                label={t('Gestures of start {n}', { n })}
                                value={texts(one.gesture).join(', ')}
                                placeholder={t('wave, thumbs_up')}
                                hint={t('Labels on the topic gestures, with commas between them.')}
                                bad={badAt(own, [...path, 'gesture'])}
                                change={(value) => put(['gesture'], wordsOf(value))}
                            />
                        )}
                        {kinds.includes('when') && (
                            <Expression
                                label={t('Condition of start {n}', { n })}
                                value={asText(one.when)}
                                placeholder="below.distance < 0.5"
                                hint={t('What sensors measure, while they are armed.')}
                                bad={badAt(own, [...path, 'when'])}
                                change={(value) => put(['when'], value)}
                            />
                        )}
                        {kinds.includes('topic') && (
                            <TopicForm
                                index={index}
                                topic={isRecord(one.topic) ? one.topic : {}}
                                parameters={Object.keys(isRecord(content.parameters) ? content.parameters : {})}
                                mistakes={own}
                                put={put}
                            />
                        )}
                        {bySelf && (
                            <Field
                                label={t('Not again for [s], start {n}', { n })}
                                value={textAt([...path, 'cooldown'], one.cooldown)}
                                placeholder="0"
                                bad={badAt(own, [...path, 'cooldown'])}
                                change={(value) => put(['cooldown'], numberOf(value))}
                            />
                        )}
                        <Choice
                            label={t('While its parts are taken, start {n}', { n })}
                            value={asText(one.busy)}
                            options={[
                                ['', t('refuse')],
                                ['wait', t('wait for them')],
                                ['replace', t('replace the run that has them')],
                            ]}
                            bad={badAt(own, [...path, 'busy'])}
                            change={(value) => put(['busy'], value === '' || value === 'refuse' ? undefined : value)}
                        />
                    </fieldset>
                );
            })}
            <Choice
                label={t('Add a start')}
                value=""
                options={[
                    ['', t('choose what starts it')],
                    ...START_KINDS.map((kind): [string, string] => [kind, t(KINDS[kind])]),
                ]}
                change={(kind) => kind !== '' && it.docs.edit((text) => addStart(text, kind as StartKind))}
            />
        </details>
    );
}

function numberOf(entered: string): Value | undefined {
    return entered.trim() === '' ? undefined : typed(entered, 'float');
}

/** Messages of another node: which, and what the run gets of them. */
function TopicForm({
    index,
    topic,
    parameters,
    mistakes,
    put,
}: {
    index: number;
    topic: Json;
    parameters: string[];
    mistakes: readonly Mistake[];
    put: (steps: Step[], value: Value | undefined) => void;
}) {
    const it = useStore();
    const path: Path = ['commands', index, 'topic'];
    const bad = (...steps: Step[]): string | undefined => badAt(mistakes, [...path, ...steps]);
    const of = index + 1;
    const filled = isRecord(topic.parameters) ? topic.parameters : {};
    const free = parameters.filter((name) => !(name in filled));
    const wanted = isRecord(topic.texts) ? topic.texts : {};
    const shown = ['name', 'type', 'when', 'texts', 'parameters', 'hold', 'gap', 'latched', 'reliable'];
    return (
        <>
            <General
                mistakes={mistakes.filter(
                    (mistake) => isUnder(mistake.place, path) && !shown.includes(String(mistake.place[3])),
                )}
            />
            <Field
                label={t('Topic, start {of}', { of })}
                value={asText(topic.name)}
                placeholder="/door/face"
                bad={bad('name')}
                change={(value) => put(['topic', 'name'], value)}
            />
            <Field
                label={t('Message type, start {of}', { of })}
                value={asText(topic.type)}
                list={TYPES}
                bad={bad('type')}
                change={(value) => put(['topic', 'type'], value.trim())}
            />
            {Object.entries(wanted).map(([field, words], n) => (
                // By its place: a field that is renamed keeps the focus.
                <div className="candidate-row" key={n}>
                    <NameField
                        label={t('Field of text {n}, start {of}', { n: n + 1, of })}
                        value={field}
                        change={(to) => it.docs.edit((text) => renameEntry(text, index, 'texts', field, to))}
                    />
                    <Field
                        label={t('Is one of {n}, start {of}', { n: n + 1, of })}
                        value={texts(words).join(', ')}
                        bad={bad('texts', field)}
                        change={(value) => put(['topic', 'texts', field], wordsOf(value))}
                    />
                    <button
                        className="small"
                        aria-label={t('Remove field of text {n}, start {of}', { n: n + 1, of })}
                        onClick={() => put(['topic', 'texts', field], undefined)}>
                        ×
                    </button>
                </div>
            ))}
            {bad('texts') !== undefined && Object.keys(wanted).every((field) => bad('texts', field) === undefined) && (
                <p className="bad-hint" role="alert">
                    {bad('texts')}
                </p>
            )}
            <button
                onClick={() => put(['topic', 'texts', freeField(wanted)], [])}
                title={t('A field of the message that has one of some texts')}>
                {t('Add a field of text')}
            </button>
            <Field
                label={t('Condition over its numbers, start {of}', { of })}
                value={asText(topic.when)}
                placeholder="score > 0.8"
                hint={t('Fields of the message: numbers, and yes or no.')}
                bad={bad('when')}
                change={(value) => put(['topic', 'when'], value.trim() === '' ? undefined : value)}
            />
            {Object.entries(filled).map(([name, field]) => (
                <div className="candidate-row" key={name}>
                    <Field
                        label={t('{name} gets the field, start {of}', { name, of })}
                        value={asText(field)}
                        bad={bad('parameters', name)}
                        change={(value) => put(['topic', 'parameters', name], value)}
                    />
                    <button
                        className="small"
                        aria-label={t('Do not fill {name}, start {of}', { name, of })}
                        onClick={() => put(['topic', 'parameters', name], undefined)}>
                        ×
                    </button>
                </div>
            ))}
            {free.length > 0 && (
                <Choice
                    label={t('Fill a parameter, start {of}', { of })}
                    value=""
                    options={[['', t('none')], ...free.map((name): [string, string] => [name, name])]}
                    change={(name) => name !== '' && put(['topic', 'parameters', name], 'data')}
                />
            )}
            <div className="candidate-row">
                <Field
                    label={t('For [s], start {of}', { of })}
                    value={textAt([...path, 'hold'], topic.hold)}
                    placeholder={t('0: the first one')}
                    bad={bad('hold')}
                    change={(value) => put(['topic', 'hold'], numberOf(value))}
                />
                <Field
                    label={t('Gone after [s], start {of}', { of })}
                    value={textAt([...path, 'gap'], topic.gap)}
                    placeholder="1"
                    bad={bad('gap')}
                    change={(value) => put(['topic', 'gap'], numberOf(value))}
                />
            </div>
            <Check
                label={t('One that was published before counts')}
                value={topic.latched === true}
                change={(on) => put(['topic', 'latched'], on || undefined)}
            />
            <Check
                label={t('Lose none')}
                hint={t('A publisher that is not reliable is not heard then.')}
                value={topic.reliable === true}
                change={(on) => put(['topic', 'reliable'], on || undefined)}
            />
        </>
    );
}

/** A field that has no row yet. */
function freeField(wanted: Json): string {
    for (let n = 1; ; n += 1) {
        const name = n === 1 ? 'data' : `data${n}`;
        if (!(name in wanted)) return name;
    }
}
