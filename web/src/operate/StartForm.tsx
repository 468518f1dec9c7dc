import { useState } from 'react';
import { later, t } from '../language/language.ts';
import { usePage } from '../store/page.ts';
import { Choice, Field } from '../view/plain_fields.tsx';
import type { ActionType, Answer, ParameterInfo, PartInfo } from '../wire.ts';

type Texts = Record<string, string>;

const STATES: Texts = {
    starts: later('starts'),
    runs: later('runs'),
    done: later('done'),
    failed: later('failed'),
    cancelled: later('cancelled'),
};

/** Laws of strategies run in an action, not by themselves; nobody here writes streams. */
function isAction(type: ActionType): boolean {
    if ((type.streams ?? []).some((stream) => !stream.is_output)) return false;
    return type.slots.length > 0 && !type.slots.some((slot) => slot.kinds.every((kind) => kind === 'axis'));
}

/** What a parameter may be, in words. */
function rangeOf(info: ParameterInfo): string {
    const { minimum, maximum } = info;
    const isLow = minimum !== null && minimum !== undefined && Number.isFinite(minimum);
    const isHigh = maximum !== null && maximum !== undefined && Number.isFinite(maximum);
    if (isLow && isHigh) return t('{low} to {high}', { low: minimum, high: maximum });
    return isLow ? t('at least {value}', { value: minimum }) : isHigh ? t('at most {value}', { value: maximum }) : '';
}

function lengthOf(info: ParameterInfo): string {
    if (info.length === '1' || info.type === 'text') return '';
    return info.length === 'dof'
        ? t('one for each joint')
        : info.length === 'any'
          ? t('a list')
          : t('{n} numbers', { n: info.length });
}

/** Starts an action in a session of its own, and shows what has become of those that were started. */
export function StartForm({ parts, types }: { parts: PartInfo[]; types: ActionType[] }) {
    const it = usePage();
    const [name, setName] = useState('');
    const [slots, setSlots] = useState<Texts>({});
    const [values, setValues] = useState<Texts>({});
    const [until, setUntil] = useState('');
    const [limit, setLimit] = useState('');
    const [bad, setBad] = useState<Texts>({});
    const [general, setGeneral] = useState('');
    const [isBusy, setBusy] = useState(false);
    const type = types.find((each) => each.name === name);
    const fitting = (kinds: string[]): string[] =>
        parts.filter((part) => kinds.length === 0 || kinds.includes(part.kind)).map((part) => part.name);
    const choose = (next: string): void => {
        setName(next);
        setValues({});
        setSlots({});
        setBad({});
        setGeneral('');
    };
    const start = async (of: ActionType): Promise<void> => {
        const seconds = Number(limit || 0);
        if (!Number.isFinite(seconds)) return setBad({ limit: t('A number of seconds is expected.') });
        setBusy(true);
        const answer = await it.me.do<Answer & { fields?: Texts }>('start_action', {
            type: of.name,
            parts: Object.fromEntries(
                of.slots.map((slot) => [slot.name, slots[slot.name] ?? fitting(slot.kinds)[0] ?? '']),
            ),
            values: Object.fromEntries(Object.entries(values).filter(([, text]) => text.trim() !== '')),
            until,
            limit: seconds,
        });
        setBusy(false);
        setBad(answer.fields ?? {});
        const shown = (): void =>
            document.querySelector('.operate [aria-invalid=true]')?.scrollIntoView({ block: 'center' });
        if (!answer.success) setTimeout(shown);
        setGeneral(answer.success || Object.keys(answer.fields ?? {}).length > 0 ? '' : answer.message);
    };
    return (
        <>
            {it.me.mayOperate && (
                <>
                    <h3>{t('Start an action')}</h3>
                    <Choice
                        label={t('Action')}
                        value={name}
                        options={[
                            ['', t('choose one')],
                            ...types.filter(isAction).map((each): [string, string] => [each.name, each.name]),
                        ]}
                        change={choose}
                    />
                    {type && (
                        <form
                            aria-label={t('Start {name}', { name: type.name })}
                            onSubmit={(event) => {
                                event.preventDefault();
                                void start(type);
                            }}>
                            <p className="hint">{type.description}</p>
                            {type.slots.map((slot) => (
                                <Choice
                                    key={slot.name}
                                    label={t('{slot} (part)', { slot: slot.name })}
                                    value={slots[slot.name] ?? fitting(slot.kinds)[0] ?? ''}
                                    options={fitting(slot.kinds).map((each): [string, string] => [each, each])}
                                    bad={bad[slot.name] ?? ''}
                                    change={(part) => setSlots((before) => ({ ...before, [slot.name]: part }))}
                                />
                            ))}
                            {type.parameters.map((info) => (
                                <Parameter
                                    key={info.name}
                                    info={info}
                                    value={values[info.name] ?? ''}
                                    bad={bad[info.name] ?? ''}
                                    change={(text) => setValues((before) => ({ ...before, [info.name]: text }))}
                                />
                            ))}
                            <Field
                                label={t('Until')}
                                value={until}
                                placeholder="is_done"
                                hint={t('The condition that ends it')}
                                bad={bad.until ?? ''}
                                change={setUntil}
                            />
                            <Field
                                label={t('At most [s]')}
                                value={limit}
                                placeholder={t('no limit')}
                                bad={bad.limit ?? ''}
                                change={setLimit}
                            />
                            {general !== '' && (
                                <p className="bad-hint" role="alert">
                                    {general}
                                </p>
                            )}
                            <button className="primary wide" disabled={!it.me.operates || isBusy}>
                                ▶ {t('Start {name}', { name: type.name })}
                            </button>
                            {!it.me.operates && (
                                <p className="hint">{t('Who operates can start it: take over first.')}</p>
                            )}
                        </form>
                    )}
                </>
            )}
            <StartedList />
        </>
    );
}

function Parameter({
    info,
    value,
    bad,
    change,
}: {
    info: ParameterInfo;
    value: string;
    bad: string;
    change: (text: string) => void;
}) {
    const label = info.unit ? `${info.name} [${info.unit}]` : info.name;
    const usual = info.required ? t('must be given') : info.default_value || t('may be left out');
    const given = info.type === 'bool' ? ['true', 'false'] : info.choices;
    if (given.length > 0) {
        const options: [string, string][] = [
            ['', info.required ? t('choose') : t('{value} (usual)', { value: usual })],
            ...given.map((each): [string, string] => [each, each]),
        ];
        return <Choice label={label} value={value} options={options} bad={bad} change={change} />;
    }
    const hint = [info.description, lengthOf(info), rangeOf(info)].filter(Boolean).join(' · ');
    return <Field label={label} value={value} placeholder={usual} hint={hint} bad={bad} change={change} />;
}

/** Actions that were started here, with how they ended. */
function StartedList() {
    const it = usePage();
    const { starts } = it.link.live;
    if (starts.length === 0) return null;
    return (
        <>
            <h3>{t('Started here')}</h3>
            <ul className="plain" aria-label={t('Started here')}>
                {starts.map((each) => {
                    const runs = each.state === 'runs' || each.state === 'starts';
                    const chip = each.state === 'failed' ? 'chip bad' : each.state === 'done' ? 'chip good' : 'chip';
                    return (
                        <li key={each.id}>
                            <div className="row">
                                <b>{each.type}</b>
                                <span className={chip}>{t(STATES[each.state] ?? each.state)}</span>
                                <span className="quiet">
                                    {t('{parts}, by {who}', { parts: each.parts.join(', '), who: each.who })}
                                </span>
                                {runs && it.me.mayOperate && (
                                    <button
                                        className="danger"
                                        aria-label={t('End {name}', { name: each.type })}
                                        disabled={!it.me.operates}
                                        onClick={() => void it.me.do('end_action', { start: each.id })}>
                                        {t('End')}
                                    </button>
                                )}
                            </div>
                            {each.message !== '' && (
                                <p className={each.state === 'failed' ? 'bad-hint' : 'hint'}>{each.message}</p>
                            )}
                        </li>
                    );
                })}
            </ul>
        </>
    );
}
