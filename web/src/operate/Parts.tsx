import { later, t } from '../language/language.ts';
import { usePage } from '../store/page.ts';
import type { PartInfo } from '../wire.ts';

/** What can be done in each state: command, label, what it means. */
const COMMANDS: Record<string, [string, string, string][]> = {
    disabled: [['enable', later('Enable'), later('Lets its motors move it')]],
    enabled: [['disable', later('Disable'), later('Brings it to rest, and takes its motors’ power')]],
    faulted: [
        ['clear_faults', later('Clear fault'), later('If its cause is gone; the part is disabled then')],
        ['recover', later('Recover'), later('Clears the fault, enables it and runs its recovery program: it may move')],
    ],
};
const CHIPS: Record<string, string> = { enabled: 'chip good', faulted: 'chip bad' };

/** Each part with its state, its fault in words, who holds it, and what can be done. */
export function Parts({ parts }: { parts: PartInfo[] }) {
    const it = usePage();
    const live = it.link.live.robot.parts ?? [];
    return (
        <ul className="plain operate-parts" aria-label={t('Parts')}>
            {live.map((part) => {
                const session = parts.find((each) => each.name === part.name)?.session ?? '';
                return (
                    <li key={part.name}>
                        <div className="row">
                            <b>{part.name}</b>
                            <span className={CHIPS[part.operational_state] ?? 'chip'}>{t(part.operational_state)}</span>
                            {session !== '' && <span className="quiet">{t('held by {session}', { session })}</span>}
                            {it.me.mayOperate &&
                                (COMMANDS[part.operational_state] ?? []).map(([command, label, title]) => (
                                    <button
                                        key={command}
                                        title={t(title)}
                                        aria-label={`${t(label)}: ${part.name}`}
                                        disabled={!it.me.operates}
                                        onClick={() => void it.me.do('set_motion', { part: part.name, command })}>
                                        {t(label)}
                                    </button>
                                ))}
                        </div>
                        {part.fault !== '' && <p className="bad-hint">{part.fault}</p>}
                    </li>
                );
            })}
        </ul>
    );
}
