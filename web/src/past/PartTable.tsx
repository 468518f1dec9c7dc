import { type PastStore, useMoment } from './past.ts';

const STATES = ['disabled', 'enabled', 'faulted'];

/** What each part did in the tick that is shown. */
export function PartTable({ past }: { past: PastStore }) {
    useMoment(past);
    const { it, state } = past;
    if (!it || !state) return null;
    const action = (number: number): string =>
        number === -1 ? '–' : number === -2 ? 'not recorded by name' : (it.about.actions[number] ?? '');
    return (
        <div className="past-parts" tabIndex={0} role="region" aria-label="Parts">
            <table>
                <thead>
                    <tr>
                        <th>part</th>
                        <th>action</th>
                        <th>state</th>
                    </tr>
                </thead>
                <tbody>
                    {it.about.parts.map((part, i) => (
                        <tr key={part.name} className={state.states[i] === 2 ? 'faulted' : ''}>
                            <td>{part.name}</td>
                            <td>{action(state.actions[i] ?? -1)}</td>
                            <td>{STATES[state.states[i] ?? -1] ?? ''}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
