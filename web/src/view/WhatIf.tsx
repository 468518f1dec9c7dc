import { useId, useRef, useSyncExternalStore } from 'react';

import { t } from '../language/language.ts';
import type { LivePast } from '../past/live_past.ts';
import { type WhatIf as Asked, canGoBack } from '../past/what_if.ts';
import type { Doc } from '../store/documents.ts';
import { pathIn } from '../store/ran.ts';
import { useStore } from '../store/store.ts';

interface Shown {
    past: LivePast;
    doc: Doc;
    /** Of a button that goes away when it is pressed: the focus stays here. */
    act: (action: () => void) => () => void;
}

/** What would have come of the text that is shown, from the moment that is shown on. */
export function WhatIf({ past }: { past: LivePast }) {
    const it = useStore();
    useSyncExternalStore(past.changes.subscribe, () => past.changes.version);
    const section = useRef<HTMLElement>(null);
    const { whatIf } = past;
    const doc = it.docs.doc;
    if (!it.me.mayOperate || !it.me.simulates || !doc || (!past.isPast && !whatIf)) return null;
    const act = (action: () => void) => (): void => {
        action();
        section.current?.focus();
    };
    return (
        <section
            ref={section}
            className="what-if"
            aria-label={t('What if')}
            aria-live={whatIf ? 'polite' : 'off'}
            tabIndex={-1}>
            {whatIf ? (
                <Simulated past={past} doc={doc} act={act} whatIf={whatIf} />
            ) : (
                <Ask past={past} doc={doc} act={act} />
            )}
        </section>
    );
}

function Ask({ past, doc, act }: Shown) {
    const it = useStore();
    const hint = useId();
    const { replay } = it.runs;
    const last = replay?.records[replay.at - 1];
    const isIn = replay?.seek !== undefined && pathIn(replay.records, doc.shown.name) === '';
    const why = !isIn
        ? t('Open the blueprint that ran at this moment to change it.')
        : doc.readOnly
          ? t('This text cannot be changed.')
          : last?.what === 'end'
            ? t('The run had already ended at this moment.')
            : doc.mistakes.some((mistake) => !mistake.warning)
              ? t('Correct the mistakes in the text first.')
              : '';
    const ask = (): void => {
        if (!replay) return;
        past.askWhatIf({
            run: replay.run,
            name: doc.shown.name,
            text: doc.history.text,
            doc: doc.key,
            before: it.drawn.textThatRan(replay.records) ?? null,
        });
    };
    return (
        <>
            <button className="wide" disabled={why !== ''} aria-describedby={hint} onClick={act(ask)}>
                {t('What if from here')}
            </button>
            <p id={hint} className="quiet">
                {why || t('Change a node and simulate what would have happened. The robot does not move.')}
            </p>
            {isIn && doc.readOnly && (
                <button className="wide" onClick={act(() => it.docs.open(doc.history.text))}>
                    {t('Open a copy that can be changed')}
                </button>
            )}
        </>
    );
}

function Simulated({ past, doc, act, whatIf: { answer, change, problem } }: Shown & { whatIf: Asked }) {
    const it = useStore();
    const end = act(() => past.endWhatIf());
    const goBack = act(() => {
        past.endWhatIf();
        it.docs.edit((text) => change.before ?? text);
    });
    return (
        <>
            <h2>{t('What if from tick {tick}', { tick: change.tick })}</h2>
            {problem !== '' && <p role="alert">{problem}</p>}
            {!answer && problem === '' && <p>{t('It is being simulated …')}</p>}
            {answer && (
                <>
                    <p>
                        <b>
                            {answer.result === ''
                                ? t('The simulation had not ended after {time} s.', {
                                      time: ((answer.last - answer.first) * answer.about.period).toFixed(1),
                                  })
                                : t('Ended: {result}', {
                                      result: answer.reason ? `${answer.result}: ${answer.reason}` : answer.result,
                                  })}
                        </b>{' '}
                        {t('Move the slider: the transparent robot shows the simulation.')}
                    </p>
                    <details>
                        <summary>{t('Not simulated as it was')}</summary>
                        <ul>
                            {answer.notes.map((note) => (
                                <li key={note}>{note}</li>
                            ))}
                        </ul>
                    </details>
                </>
            )}
            <div className="row">
                {answer && canGoBack(change, doc) ? (
                    <>
                        <button className="primary" onClick={end}>
                            {t('Keep the change')}
                        </button>
                        <button onClick={goBack}>{t('Back to the text that ran')}</button>
                    </>
                ) : (
                    <button onClick={end}>{t(answer || problem !== '' ? 'Close' : 'Cancel')}</button>
                )}
            </div>
        </>
    );
}
