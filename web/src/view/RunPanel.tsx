import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { later, t } from '../language/language.ts';
import { base, pathIn } from '../store/ran.ts';
import type { Replay as ReplayState } from '../store/runs.ts';
import { store, useStore } from '../store/store.ts';
import { isRecord, type Json, texts } from '../text/graph.ts';
import { shownName } from '../text/names.ts';
import { dateOf, durationOf, inWords, nameOfNode, namesIn, shownPath, skillOf } from '../way.ts';
import type { LiveNode, LogRecord } from '../wire.ts';
import { Choice, Expression, Field } from './fields.tsx';

const STATES: Record<string, string> = {
    runs: later('runs'),
    ends: later('is being cancelled'),
    before: later('stands before a node'),
    after: later('stands after a node'),
    cut: later('stands: a node was stopped'),
    ended: later('has ended'),
};

function stateOf(run: LiveNode): string {
    return run.state === 'ended' ? run.result : t(STATES[run.state] ?? run.state);
}

/** The run: what it does, its question, and all that one can tell it. */
export function RunPanel() {
    const it = useStore();
    const run = it.runs.run;
    const isOver = !run || run.state === 'ended';
    return (
        <div className="run-panel">
            {!it.runs.replay && it.runs.now.length > 1 && (
                <Choice
                    label={t('Runs')}
                    value={run?.run ?? ''}
                    options={it.runs.now.map((each): [string, string] => [
                        each.run,
                        `${it.library.shown(each.does)}: ${stateOf(each)}`,
                    ])}
                    change={(id) => {
                        it.runs.chosen = id;
                        it.changes.tell();
                    }}
                />
            )}
            {it.runs.replay && !it.runs.replay.seek ? <Replay /> : run && <Status />}
            {it.runs.replay?.seek && <PastRun />}
            {isOver && !it.runs.replay && !it.me.onlyWatches && <Start key={it.docs.doc?.key} />}
            {isOver && !run && !it.runs.replay && it.me.onlyWatches && <p className="quiet">{t('Nothing runs.')}</p>}
            {!it.runs.replay && !it.me.onlyWatches && <Commands />}
            {!it.runs.replay && <Log records={it.runs.log.records} />}
            <Variables />
        </div>
    );
}

function Status() {
    const it = useStore();
    const run = it.runs.run;
    if (!run) return null;
    const stands = ['before', 'after', 'cut'].includes(run.state);
    const isOver = run.state === 'ended';
    const question = it.runs.nodes.find((node) => node.question !== '');
    const inner = it.runs.nodes[it.runs.nodes.length - 1];
    const names = namesIn(it.runs.log.records);
    const answers = names.answers.get(question?.path ?? '') ?? {};
    const failed = ['failed', 'timeout', 'cancelled'].includes(run.result);
    const text = isOver
        ? `${run.result}${run.reason ? `: ${run.reason}` : ''}`
        : run.will_pause
          ? t('stands after this node')
          : t(STATES[run.state] ?? run.state);
    return (
        <section
            className={`run-status ${isOver ? (failed ? 'was-failure' : 'was-success') : stands ? 'stands' : 'runs'}`}
            aria-live="polite">
            <h2>
                {it.library.shown(run.does)}
                {run.rehearsed && ` (${t('rehearsed')})`}
            </h2>
            <p className="run-state" data-testid="run-state">
                {isOver ? t('Ended: {result}', { result: text }) : text}
            </p>
            {!isOver && inner && (
                <p className="quiet">
                    {it.runs.nodes
                        .map((node) => nameOfNode(shownPath(node.path, names), base(run.does)).split('/').pop())
                        .join(' › ')}
                    {inner.does && ` (${it.library.shown(inner.does)})`}
                    {inner.attempt > 1 && t(', attempt {n}', { n: inner.attempt })}
                    {inner.reason && `: ${inner.reason}`}
                </p>
            )}
            {run.has_to_be_said && (
                <p className="warning">{t('After the protective stop, say how to go on: again, next, or jump.')}</p>
            )}
            {run.jump !== '' && (
                <p className="warning">{t('Jumps to {node} after the present node.', { node: run.jump })}</p>
            )}
            {question && (
                <div className="question" role="alertdialog" aria-label={t('Question')}>
                    <p>{question.question}</p>
                    <div className="row">
                        {question.answers.map((answer) => (
                            <button
                                key={answer}
                                className="primary"
                                disabled={it.me.onlyWatches}
                                onClick={() => it.orders.control('answer', { value: answer, node: question.path })}>
                                {answers[answer] ?? answer}
                            </button>
                        ))}
                    </div>
                </div>
            )}
            {!isOver && (
                <div className="row run-buttons">
                    {it.me.onlyWatches ? null : stands ? (
                        <>
                            {!run.has_to_be_said && (
                                <button className="primary" onClick={() => it.orders.control('resume')}>
                                    {t('Resume')}
                                </button>
                            )}
                            <button onClick={() => it.orders.control('resume', { how: 'next' })}>{t('Next')}</button>
                            <button onClick={() => it.orders.control('resume', { how: 'again' })}>{t('Again')}</button>
                            <button onClick={() => it.orders.control('step')}>{t('Step')}</button>
                            <button onClick={() => it.orders.control('step', { into: true })}>{t('Step into')}</button>
                        </>
                    ) : (
                        <>
                            <button onClick={() => it.orders.control('pause')}>{t('Pause')}</button>
                            <button onClick={() => it.orders.control('pause', { now: true })}>{t('Pause now')}</button>
                            <button onClick={() => it.orders.control('skip', { value: 'done' })}>{t('Skip')}</button>
                        </>
                    )}
                    <button className="danger" onClick={() => it.orders.control('cancel')}>
                        {t('Cancel')}
                    </button>
                </div>
            )}
        </section>
    );
}

function Start() {
    const it = useStore();
    const doc = it.docs.doc;
    const [given, setGiven] = useState<Record<string, string>>({});
    const [chosen, setChosen] = useState<Record<string, string>>({});
    const [paused, setPaused] = useState(false);
    const [rehearse, setRehearse] = useState(false);
    const [watched, setWatched] = useState(false);
    const [at, setAt] = useState('');
    if (!doc) return null;
    const isProgram = doc.graph.isProgram;
    const roles = Object.entries(isRecord(doc.graph.content.roles) ? doc.graph.content.roles : {});
    const declared = isRecord(doc.graph.content.parameters) ? doc.graph.content.parameters : {};
    const names = Object.keys(declared);
    const bad = doc.mistakes.filter((mistake) => !mistake.warning).length;
    const start = (): void => {
        const parameters = names
            .filter((name) => (given[name] ?? '') !== '')
            .map((name) => {
                const text = given[name] ?? '';
                const one = isRecord(declared[name]) ? (declared[name] as Json) : {};
                if (one.type === 'text') return { name, values: [], text, unit: '' };
                const values = text
                    .replace(/[[\]]/g, '')
                    .split(',')
                    .map((each) => (each.trim() === 'true' ? 1 : each.trim() === 'false' ? 0 : Number(each)));
                return { name, values, text: '', unit: '' };
            });
        if (parameters.some((each) => each.values.some((value) => Number.isNaN(value))))
            return it.talk.say(t('A value is not a number.'), true);
        const parts = roles.flatMap(([role]) => (chosen[role] ? [`${role}=${chosen[role]}`] : []));
        void it.orders.start({ parameters, parts, paused, rehearse, start_at: at, stop_when_unwatched: watched });
    };
    return (
        <section className="start">
            <button
                className="primary wide start-button"
                disabled={bad > 0 || doc.graph.nodes.length + (doc.graph.is ? 1 : 0) === 0}
                onClick={start}>
                ▶ {t('Start {name}', { name: doc.graph.title || doc.graph.name })}
            </button>
            {bad > 0 && <p className="hint">{t('One mistake first.|{n} mistakes first.', { n: bad })}</p>}
            <details open={names.length + roles.length > 0}>
                <summary>{t('With values, and how')}</summary>
                {roles.map(([role, declaredRole]) => {
                    const one = isRecord(declaredRole) ? declaredRole : {};
                    const kinds = texts(one.kinds);
                    const usual = typeof one.default === 'string' ? one.default : '';
                    const fitting = it.library.parts.filter((part) => kinds.length === 0 || kinds.includes(part.kind));
                    return (
                        <Choice
                            key={role}
                            label={t('{slot} (part)', { slot: role })}
                            value={chosen[role] ?? ''}
                            options={[
                                ['', usual === '' ? t('must be given') : t('{value} (usual)', { value: usual })],
                                ...fitting.map((part): [string, string] => [part.name, part.name]),
                            ]}
                            change={(part) => setChosen((before) => ({ ...before, [role]: part }))}
                        />
                    );
                })}
                {names.map((name) => {
                    const one = isRecord(declared[name]) ? (declared[name] as Json) : {};
                    return (
                        <Field
                            key={name}
                            label={one.unit ? `${name} [${String(one.unit)}]` : name}
                            value={given[name] ?? ''}
                            placeholder={one.default === undefined ? t('must be given') : String(one.default)}
                            change={(value) => setGiven((before) => ({ ...before, [name]: value }))}
                        />
                    );
                })}
                {!isProgram && (
                    <>
                        <Choice
                            label={t('Begin at')}
                            value={at}
                            options={[
                                ['', t('its start')],
                                ...doc.graph.nodes.map((node): [string, string] => [node.id, shownName(node)]),
                            ]}
                            change={setAt}
                        />
                        <label className="check">
                            <input
                                type="checkbox"
                                checked={paused}
                                onChange={(event) => setPaused(event.target.checked)}
                            />
                            {` ${t('stand before the first node')}`}
                        </label>
                        <label className="check">
                            <input
                                type="checkbox"
                                checked={rehearse}
                                onChange={(event) => setRehearse(event.target.checked)}
                            />
                            {` ${t('rehearse: nothing moves')}`}
                        </label>
                    </>
                )}
                <label className="check">
                    <input type="checkbox" checked={watched} onChange={(event) => setWatched(event.target.checked)} />
                    {` ${t('cancel it when nobody watches')}`}
                </label>
            </details>
        </section>
    );
}

/** Sentences that start blueprints, and sensors that may. */
function Commands() {
    const it = useStore();
    const [said, setSaid] = useState('');
    const armed = it.link.live.blueprints.armed ?? 0;
    const phrases = it.library.skills.flatMap((skill) => skill.phrases);
    return (
        <details>
            <summary>
                {t('Commands')}
                {armed > 0 && (
                    <span className="chip good"> {t('sensors armed, {time} s', { time: Math.ceil(armed) })}</span>
                )}
            </summary>
            <form
                onSubmit={(event) => {
                    event.preventDefault();
                    if (said.trim() !== '') void it.me.do('give_command', { text: said });
                }}>
                <Field
                    label={t('Say a sentence')}
                    value={said}
                    change={setSaid}
                    placeholder={phrases[0] ?? t('welcome the guest')}
                    list={[...phrases, 'stop']}
                />
                <div className="row">
                    <button>{t('Say it')}</button>
                    <button type="button" onClick={() => it.orders.control('arm', { seconds: 600, run: '' })}>
                        {t('Arm sensors for 10 min')}
                    </button>
                    {armed > 0 && (
                        <button type="button" onClick={() => it.orders.control('disarm', { run: '' })}>
                            {t('Disarm')}
                        </button>
                    )}
                </div>
            </form>
            {(it.link.live.blueprints.waiting ?? []).length > 0 && (
                <p className="warning">
                    {t('Waiting for parts: {parts}', { parts: (it.link.live.blueprints.waiting ?? []).join(', ') })}
                </p>
            )}
        </details>
    );
}

const Log = memo(function Log({ records }: { records: readonly LogRecord[] }) {
    if (records.length === 0) return null;
    const skill = skillOf(records);
    const names = namesIn(records);
    const shown: number[] = [];
    for (let n = records.length - 1; n >= 0 && shown.length < 200; n -= 1)
        if (records[n]?.what !== 'decided' || records[n]?.go) shown.push(n);
    return (
        <section>
            <h3>{t('What happened')}</h3>
            <ol className="log" reversed tabIndex={0} aria-label={t('What happened, the latest first')}>
                {shown.map((n) => (
                    <Line
                        key={n}
                        time={(records[n] as LogRecord).time}
                        text={inWords(records[n] as LogRecord, skill, names)}
                    />
                ))}
            </ol>
        </section>
    );
});

const Line = memo(function Line({ time, text }: { time: number; text: string }) {
    return (
        <li>
            <time>{time.toFixed(2)}</time> {text}
        </li>
    );
});

/** The run at the moment of the past that is shown. */
function PastRun() {
    const it = useStore();
    const { replay } = it.runs;
    if (!replay?.seek) return null;
    const { seek, records, at } = replay;
    if (replay.run === '')
        return (
            <p className="quiet">
                {t(replay.isAwaited ? 'They are being read …' : 'No run had begun at the moment that is shown.')}
            </p>
        );
    const skill = skillOf(records);
    return (
        <section className="run-status replay past-run" aria-label={t('The run then')}>
            <h2>{t(replay.isWhatIf ? 'What if: {run}' : 'The past: {run}', { run: it.library.shown(skill) })}</h2>
            <Happened replay={replay} />
            {!replay.isWhatIf && pathIn(records, it.docs.doc?.shown.name ?? '') === null && (
                <button className="wide" onClick={() => void it.versions.openRan(records)}>
                    {t('Show what ran')}
                </button>
            )}
            <LogLines records={records} at={at} go={(n) => seek(records[n]?.tick ?? 0)} />
        </section>
    );
}

/** How far a replay is. */
function Happened({ replay: { records, at } }: { replay: ReplayState }) {
    const last = records[at - 1];
    return (
        <p className="quiet">
            {t('{at} of {all}', { at, all: records.length })}
            {last && `, ${last.time.toFixed(2)} s: ${inWords(last, skillOf(records), namesIn(records))}`}
        </p>
    );
}

/** Records of a log that are drawn, around the present one. */
const LINES = 200;

/** The last record that has happened is marked, and kept in sight. */
function LogLines({ records, at, go }: { records: readonly LogRecord[]; at: number; go: (n: number) => void }) {
    const skill = skillOf(records);
    const names = useMemo(() => namesIn(records), [records]);
    const begin = Math.max(at - LINES / 2, 0);
    const list = useRef<HTMLOListElement>(null);
    useEffect(() => {
        const line = list.current?.children[at - 1 - begin] as HTMLElement | undefined;
        if (!list.current || !line) return;
        const top = line.offsetTop - list.current.offsetTop;
        const { scrollTop, clientHeight } = list.current;
        if (top < scrollTop || top + line.offsetHeight > scrollTop + clientHeight)
            list.current.scrollTop = top - clientHeight / 2;
    }, [at, records]);
    return (
        <ol className="log" ref={list} tabIndex={0} aria-label={t('Log of the run')}>
            {records.slice(begin, begin + LINES).map((record, i) => {
                const n = begin + i;
                return (
                    <li
                        key={n}
                        className={n === at - 1 ? 'now' : n >= at ? 'later' : ''}
                        aria-current={n === at - 1 ? 'step' : undefined}>
                        <button className="plain-button" onClick={() => go(n)}>
                            <time>{record.time.toFixed(2)}</time> {inWords(record, skill, names)}
                        </button>
                    </li>
                );
            })}
        </ol>
    );
}

function Replay() {
    const it = useStore();
    const replay = it.runs.replay;
    const [plays, setPlays] = useState(false);
    useEffect(() => {
        if (!plays) return undefined;
        const timer = setInterval(() => {
            const now = store.runs.replay;
            if (!now || now.at >= now.records.length) setPlays(false);
            else {
                store.runs.replay = { ...now, at: now.at + 1 };
                store.changes.tell();
            }
        }, 400);
        return () => clearInterval(timer);
    }, [plays]);
    if (!replay) return null;
    const go = (at: number): void => {
        store.runs.replay = { ...replay, at: Math.max(0, Math.min(at, replay.records.length)) };
        store.changes.tell();
    };
    const skill = skillOf(replay.records);
    const names = namesIn(replay.records);
    const past = it.runs.past.find((each) => each.run === replay.run);
    const outer = replay.records
        .slice(0, replay.at)
        .filter((record) => record.what === 'node' && typeof record.path === 'string' && !record.path.includes('/'));
    const stoppedAt = String(outer[outer.length - 1]?.path ?? '');
    return (
        <section className="run-status replay">
            <h2>{t('Replay of {run}', { run: replay.run })}</h2>
            {past && <p className="quiet">{[dateOf(past), durationOf(past)].filter(Boolean).join(', ')}</p>}
            <input
                type="range"
                aria-label={t('Moment of the replay')}
                min={0}
                max={replay.records.length}
                value={replay.at}
                onChange={(event) => go(Number(event.target.value))}
            />
            <Happened replay={replay} />
            <div className="row">
                <button onClick={() => go(replay.at - 1)}>{t('Back')}</button>
                <button onClick={() => go(replay.at + 1)}>{t('On')}</button>
                <button
                    onClick={() => {
                        if (replay.at >= replay.records.length) go(0);
                        setPlays(!plays);
                    }}>
                    {t(plays ? 'Stand' : 'Play')}
                </button>
                <button
                    onClick={() => {
                        store.runs.replay = null;
                        store.changes.tell();
                    }}>
                    {t('Close')}
                </button>
            </div>
            {stoppedAt !== '' && !it.me.onlyWatches && (
                <button
                    className="wide"
                    title={t('A new run begins at this node, with the outputs that the earlier nodes gave')}
                    onClick={() => void it.orders.start({ start_at: stoppedAt, outputs_of: replay.run })}>
                    {t('Start again at {node}', { node: nameOfNode(shownPath(stoppedAt, names), skill) })}
                </button>
            )}
            <LogLines records={replay.records} at={replay.at} go={(n) => go(n + 1)} />
        </section>
    );
}

function Variables() {
    const it = useStore();
    const [name, setName] = useState('');
    const values = it.link.live.robot.values ?? {};
    return (
        <details className="variables">
            <summary>
                {t('State variables')} <span className="quiet">{it.link.watched.length}</span>
            </summary>
            <ul className="plain">
                {it.link.watched.map((each) => (
                    <li key={each} className="row">
                        <code>{each}</code>{' '}
                        <strong>
                            {values[each] === undefined || values[each] === null
                                ? t('unknown')
                                : String(Math.round((values[each] ?? 0) * 1e4) / 1e4)}
                        </strong>
                        <button
                            className="small"
                            aria-label={t('Watch {name} no more', { name: each })}
                            onClick={() => it.link.watchVariables(it.link.watched.filter((other) => other !== each))}>
                            ×
                        </button>
                    </li>
                ))}
            </ul>
            <Expression
                label={t('Watch a variable')}
                value={name}
                change={(value) => {
                    if (
                        it.library.variables.some((variable) => variable.name === value) &&
                        !it.link.watched.includes(value)
                    ) {
                        it.link.watchVariables([...it.link.watched, value]);
                        setName('');
                    } else setName(value);
                }}
                placeholder="battery.level"
            />
        </details>
    );
}
