import { later, t } from '../language/language.ts';
import { type PastStore, useMoment } from './past.ts';

const STATES = [later('disabled'), later('enabled'), later('faulted')];

/** What each part did in the tick that is shown. */
export function PartTable({ past }: { past: PastStore }) {
    useMoment(past);
    const { it, state } = past;
    if (!it || !state) return null;
    const action = (number: number): string =>
        number === -1 ? '–' : number === -2 ? t('not recorded by name') : (it.about.actions[number] ?? '');
    return (
        <div className="past-parts" tabIndex={0} role="region" aria-label={t('Parts')}>
            <table>
                <thead>
                    <tr>
                        <th>{t('part')}</th>
                        <th>{t('action')}</th>
                        <th>{t('state')}</th>
                    </tr>
                </thead>
                <tbody>
                    {it.about.parts.map((part, i) => (
                        <tr key={part.name} className={state.states[i] === 2 ? 'faulted' : ''}>
                            <td>{part.name}</td>
                            <td>{action(state.actions[i] ?? -1)}</td>
                            <td>{t(STATES[state.states[i] ?? -1] ?? '')}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
