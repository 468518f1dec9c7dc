// What a skill gives to those who call it, and what its values may be.

import { t } from '../language/language.ts';
import type { Mistake } from '../store/mistakes.ts';
import { useStore } from '../store/store.ts';
import { setField, typed } from '../text/blueprint_edits.ts';
import { isRecord, type Json, texts, wordsOf } from '../text/graph.ts';
import { remove, set, type Value } from '../text/yaml_edit.ts';
import { badAt } from './CallForm.tsx';
import { Choice, Expression, Field } from './fields.tsx';
import { Adder, asText, textAt } from './Inspector.tsx';

/** Outputs, each with where it comes from. */
export function OutputForms({ content, mistakes }: { content: Json; mistakes: readonly Mistake[] }) {
    const it = useStore();
    const outputs = isRecord(content.outputs) ? content.outputs : {};
    return (
        <details open={Object.keys(outputs).length > 0}>
            <summary>
                {t('Outputs: what it gives')} <span className="quiet">{Object.keys(outputs).length}</span>
            </summary>
            {Object.entries(outputs).map(([name, declared]) => {
                const one = isRecord(declared) ? declared : {};
                const type = asText(one.type) || 'float';
                const put = (key: string, value: Value | undefined): void =>
                    it.docs.edit((text) => setField(text, ['outputs', name, key], value), `output ${name} ${key}`);
                return (
                    <div className="candidate" key={name}>
                        <div className="candidate-row">
                            <strong>{name}</strong>
                            <Choice
                                hidden
                                label={t('Type of output {name}', { name })}
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
                                aria-label={t('Remove output {name}', { name })}
                                onClick={() => it.docs.edit((text) => remove(text, ['outputs', name]))}>
                                ×
                            </button>
                        </div>
                        <Expression
                            label={t('Where {name} comes from', { name })}
                            value={textAt(['outputs', name, 'value'], one.value)}
                            isCondition={false}
                            placeholder={t('$seat.wish; or below.distance')}
                            bad={badAt(mistakes, ['outputs', name])}
                            change={(value) => put('value', value.trim() === '' ? undefined : typed(value, type))}
                        />
                        {(type === 'float' || type === 'int') && (
                            <Field
                                label={t('Unit of {name}', { name })}
                                value={asText(one.unit)}
                                placeholder={t('none')}
                                change={(value) => put('unit', value === '' ? undefined : value)}
                            />
                        )}
                    </div>
                );
            })}
            <Adder label={t('New output')} add={(name) => it.docs.edit((text) => set(text, ['outputs', name], {}))} />
        </details>
    );
}

/** Within which a parameter or value must be. */
export function Limits({
    kind,
    name,
    one,
    mistakes,
}: {
    kind: string;
    name: string;
    one: Json;
    mistakes: readonly Mistake[];
}) {
    const it = useStore();
    const type = asText(one.type) || 'float';
    const put = (key: string, value: Value | undefined): void =>
        it.docs.edit((text) => setField(text, [kind, name, key], value), `${key} ${name}`);
    const bad = badAt(mistakes, [kind, name]);
    const wrong = bad !== undefined && (
        <div className="bad-hint" role="alert">
            {bad}
        </div>
    );
    if (type === 'bool') return wrong || null;
    if (type === 'text')
        return (
            <>
                <Field
                    label={t('Choices of {name}', { name })}
                    value={texts(one.choices).join(', ')}
                    placeholder={t('any text')}
                    change={(value) => put('choices', wordsOf(value).length > 0 ? wordsOf(value) : undefined)}
                />
                {wrong}
            </>
        );
    return (
        <>
            <div className="candidate-row">
                {(['minimum', 'maximum'] as const).map((key) => (
                    <Field
                        key={key}
                        label={key === 'minimum' ? t('At least, {name}', { name }) : t('At most, {name}', { name })}
                        value={textAt([kind, name, key], one[key])}
                        placeholder={t('no limit')}
                        change={(value) => put(key, value.trim() === '' ? undefined : typed(value, type))}
                    />
                ))}
            </div>
            {wrong}
        </>
    );
}
