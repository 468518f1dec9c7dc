// What starts a blueprint: sentences, gestures, what sensors measure, and messages of other nodes.

import type { Mistake } from '../store/mistakes.ts';
import { useStore } from '../store/store.ts';
import { setField, typed } from '../text/blueprint_edits.ts';
import { isRecord, type Json, texts } from '../text/graph.ts';
import { isUnder, mistakesAt } from '../text/mistake_place.ts';
import { addStart, removeStart, renameEntry, START_KINDS, type StartKind, startsOf } from '../text/starts.ts';
import type { Path, Step, Value } from '../text/yaml_edit.ts';
import { badAt, General } from './CallForm.tsx';
import { Check } from './Check.tsx';
import { Choice, Expression, Field, NameField } from './fields.tsx';
import { asText, textAt } from './Inspector.tsx';

const KINDS: Record<StartKind, string> = {
    say: 'a sentence',
    gesture: 'a gesture',
    when: 'a sensor',
    topic: 'a message of another node',
};
const TYPES = [
    'std_msgs/msg/String',
    'std_msgs/msg/Bool',
    'std_msgs/msg/Int32',
    'std_msgs/msg/Float64',
    'vision_msgs/msg/Detection2DArray',
    'diagnostic_msgs/msg/DiagnosticArray',
];

/** Words with a separator between them. */
export function wordsOf(text: string, separator: string): string[] {
    return text
        .split(separator)
        .map((each) => each.trim())
        .filter(Boolean);
}

export function StartForms({ content, mistakes }: { content: Json; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const starts = startsOf(content);
    return (
        <details open={starts.length > 0}>
            <summary>
                What starts it <span className="quiet">{starts.length}</span>
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
                    <fieldset className="candidate" key={index} aria-label={`Start ${n}`}>
                        <div className="candidate-row">
                            <strong>{kinds.map((kind) => KINDS[kind]).join(', ') || 'nothing'}</strong>
                            <span className="gap" />
                            <button
                                className="small"
                                aria-label={`Remove start ${n}`}
                                onClick={() => it.docs.edit((text) => removeStart(text, index))}>
                                ×
                            </button>
                        </div>
                        <General mistakes={own.filter((mistake) => mistake.place.length < 3)} />
                        {kinds.includes('say') && (
                            <Field
                                label={`Sentences of start ${n}`}
                                value={texts(one.say).join('; ')}
                                placeholder="welcome the guest; receive {guest}"
                                bad={badAt(own, [...path, 'say'])}
                                change={(value) => put(['say'], wordsOf(value, ';'))}
                            />
                        )}
                        {kinds.includes('gesture') && (
                            <Field
                                label={`Gestures of start ${n}`}
                                value={texts(one.gesture).join(', ')}
                                placeholder="wave, thumbs_up"
                                hint="Labels on the topic gestures, with commas between them."
                                bad={badAt(own, [...path, 'gesture'])}
                                change={(value) => put(['gesture'], wordsOf(value, ','))}
                            />
                        )}
                        {kinds.includes('when') && (
                            <Expression
                                label={`Condition of start ${n}`}
                                value={asText(one.when)}
                                placeholder="below.distance < 0.5"
                                hint="What sensors measure, while they are armed."
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
                                label={`Not again for [s], start ${n}`}
                                value={textAt([...path, 'cooldown'], one.cooldown)}
                                placeholder="0"
                                bad={badAt(own, [...path, 'cooldown'])}
                                change={(value) => put(['cooldown'], numberOf(value))}
                            />
                        )}
                        <Choice
                            label={`While its parts are taken, start ${n}`}
                            value={asText(one.busy)}
                            options={[
                                ['', 'refuse'],
                                ['wait', 'wait for them'],
                                ['replace', 'replace the run that has them'],
                            ]}
                            bad={badAt(own, [...path, 'busy'])}
                            change={(value) => put(['busy'], value === '' || value === 'refuse' ? undefined : value)}
                        />
                    </fieldset>
                );
            })}
            <Choice
                label="Add a start"
                value=""
                options={[
                    ['', 'choose what starts it'],
                    ...START_KINDS.map((kind): [string, string] => [kind, KINDS[kind]]),
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
    const of = `, start ${index + 1}`;
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
                label={`Topic${of}`}
                value={asText(topic.name)}
                placeholder="/door/face"
                bad={bad('name')}
                change={(value) => put(['topic', 'name'], value)}
            />
            <Field
                label={`Message type${of}`}
                value={asText(topic.type)}
                list={TYPES}
                bad={bad('type')}
                change={(value) => put(['topic', 'type'], value.trim())}
            />
            {Object.entries(wanted).map(([field, words], n) => (
                // By its place: a field that is renamed keeps the focus.
                <div className="candidate-row" key={n}>
                    <NameField
                        label={`Field of text ${n + 1}${of}`}
                        value={field}
                        change={(to) => it.docs.edit((text) => renameEntry(text, index, 'texts', field, to))}
                    />
                    <Field
                        label={`Is one of ${n + 1}${of}`}
                        value={texts(words).join(', ')}
                        bad={bad('texts', field)}
                        change={(value) => put(['topic', 'texts', field], wordsOf(value, ','))}
                    />
                    <button
                        className="small"
                        aria-label={`Remove field of text ${n + 1}${of}`}
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
                title="A field of the message that has one of some texts">
                Add a field of text
            </button>
            <Field
                label={`Condition over its numbers${of}`}
                value={asText(topic.when)}
                placeholder="score > 0.8"
                hint="Fields of the message: numbers, and yes or no."
                bad={bad('when')}
                change={(value) => put(['topic', 'when'], value.trim() === '' ? undefined : value)}
            />
            {Object.entries(filled).map(([name, field]) => (
                <div className="candidate-row" key={name}>
                    <Field
                        label={`${name} gets the field${of}`}
                        value={asText(field)}
                        bad={bad('parameters', name)}
                        change={(value) => put(['topic', 'parameters', name], value)}
                    />
                    <button
                        className="small"
                        aria-label={`Do not fill ${name}${of}`}
                        onClick={() => put(['topic', 'parameters', name], undefined)}>
                        ×
                    </button>
                </div>
            ))}
            {free.length > 0 && (
                <Choice
                    label={`Fill a parameter${of}`}
                    value=""
                    options={[['', 'none'], ...free.map((name): [string, string] => [name, name])]}
                    change={(name) => name !== '' && put(['topic', 'parameters', name], 'data')}
                />
            )}
            <div className="candidate-row">
                <Field
                    label={`For [s]${of}`}
                    value={textAt([...path, 'hold'], topic.hold)}
                    placeholder="0: the first one"
                    bad={bad('hold')}
                    change={(value) => put(['topic', 'hold'], numberOf(value))}
                />
                <Field
                    label={`Gone after [s]${of}`}
                    value={textAt([...path, 'gap'], topic.gap)}
                    placeholder="1"
                    bad={bad('gap')}
                    change={(value) => put(['topic', 'gap'], numberOf(value))}
                />
            </div>
            <Check
                label="One that was published before counts"
                value={topic.latched === true}
                change={(on) => put(['topic', 'latched'], on || undefined)}
            />
            <Check
                label="Lose none"
                hint="A publisher that is not reliable is not heard then."
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
