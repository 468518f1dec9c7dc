import { type PastStore, useMoment } from './past.ts';

/** The second recording, and where it first differs. */
export function Compared({ past }: { past: PastStore }) {
    useMoment(past);
    const { other } = past;
    if (!other) return null;
    const { differs } = other;
    return (
        <section className="past-other" aria-label="Compared">
            <p>
                Transparent: <b>{other.about.name}</b>, tick {other.tick}
                {other.hasEnded && ', its last one'}
            </p>
            {differs === undefined && <p className="quiet">They are being compared …</p>}
            {typeof differs === 'number' && (
                <p>
                    They first differ in <button onClick={() => past.seek(differs)}>tick {differs}</button>
                </p>
            )}
            {other.text !== '' && <p>{other.text}.</p>}
        </section>
    );
}
