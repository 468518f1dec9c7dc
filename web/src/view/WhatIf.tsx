import { useSyncExternalStore } from 'react';

import { t } from '../language/language.ts';
import type { LivePast } from '../past/live_past.ts';
import { canGoBack } from '../past/what_if.ts';
import { pathIn } from '../store/ran.ts';
import { useStore } from '../store/store.ts';

/** What would have come of the text that is shown, from the moment that is shown on. */
export function WhatIf({ past }: { past: LivePast }) {
    const it = useStore();
    useSyncExternalStore(past.changes.subscribe, () => past.changes.version);
    const { whatIf } = past;
    const { replay } = it.runs;
    const doc = it.docs.doc;
    if (!it.me.mayOperate || !it.me.simulates || !doc || (!past.isPast && !whatIf)) return null;
    if (!whatIf) {
        const last = replay?.records[replay.at - 1];
        const isIn = replay?.seek !== undefined && pathIn(replay.records, doc.shown.name) === '';
        const why = !isIn
            ? t('Open the blueprint that ran at this moment to change it.')
            : last?.what === 'end'
              ? t('The run had ended at this moment.')
              : doc.mistakes.some((mistake) => !mistake.warning)
                ? t('The mistakes of the text first.')
                : '';
        return (
            <section className="what-if" aria-label={t('What if')}>
                <button
                    className="wide"
                    disabled={why !== ''}
                    onClick={() =>
                        replay &&
                        past.askWhatIf({
                            run: replay.run,
                            name: doc.shown.name,
                            text: doc.history.text,
                            doc: doc.key,
                            before: it.drawn.textThatRan(replay.records) ?? null,
                        })
                    }>
                    {t('What if from here')}
                </button>
                <p className="quiet">
                    {why || t('Change a node, and see what would have come of it: simulated, nothing moves.')}
                </p>
            </section>
        );
    }
    const { answer, change } = whatIf;
    const canBack = canGoBack(change, doc);
    const goBack = (): void => {
        past.endWhatIf();
        it.docs.edit((text) => change.before ?? text);
    };
    return (
        <section className="what-if" aria-label={t('What if')} aria-live="polite">
            <h2>{t('What if from tick {tick}', { tick: change.tick })}</h2>
            {whatIf.problem !== '' && <p role="alert">{whatIf.problem}</p>}
            {!answer && whatIf.problem === '' && <p>{t('It is being simulated …')}</p>}
            {answer && (
                <>
                    <p>
                        <b>
                            {answer.result === ''
                                ? t('It had not ended after {time} s.', {
                                      time: ((answer.last - answer.first) * answer.about.period).toFixed(1),
                                  })
                                : t('Ended: {result}', {
                                      result: answer.reason ? `${answer.result}: ${answer.reason}` : answer.result,
                                  })}
                        </b>{' '}
                        {t('The transparent robot shows it, as the slider moves.')}
                    </p>
                    <details>
                        <summary>{t('What was not taken over')}</summary>
                        <ul>
                            {answer.notes.map((note) => (
                                <li key={note}>{note}</li>
                            ))}
                        </ul>
                    </details>
                </>
            )}
            <div className="row">
                {canBack && answer ? (
                    <>
                        <button className="primary" onClick={() => past.endWhatIf()}>
                            {t('Keep the change')}
                        </button>
                        <button onClick={goBack}>{t('Back to the text that ran')}</button>
                    </>
                ) : (
                    <button onClick={() => past.endWhatIf()}>
                        {t(answer || whatIf.problem !== '' ? 'Close' : 'Cancel')}
                    </button>
                )}
            </div>
        </section>
    );
}
