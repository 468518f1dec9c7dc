import { pieces, t } from '../language/language.ts';
import { type PastStore, useMoment } from './past.ts';

/** The second recording, and where it first differs. */
export function Compared({ past }: { past: PastStore }) {
    useMoment(past);
    const { other } = past;
    if (!other) return null;
    const { differs } = other;
    return (
        <section className="past-other" aria-label={t('Compared')}>
            <p>
                {pieces(
                    other.hasEnded
                        ? 'Transparent: {name}, tick {tick}, its last one'
                        : 'Transparent: {name}, tick {tick}',
                    { name: <b key="name">{other.about.name}</b>, tick: `${other.tick}` },
                )}
            </p>
            {differs === undefined && <p className="quiet">{t('They are being compared …')}</p>}
            {typeof differs === 'number' && (
                <p>
                    {t('They first differ in')}{' '}
                    <button onClick={() => past.seek(differs)}>{t('tick {tick}', { tick: differs })}</button>
                </p>
            )}
            {other.text !== '' && <p>{other.text}.</p>}
        </section>
    );
}
