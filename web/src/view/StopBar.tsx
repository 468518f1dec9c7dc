import { t } from '../language/language.ts';
import { usePage } from '../store/page.ts';

/** STOP, in every state of the page: above dialogs, and never inert. */
export function StopBar() {
    const it = usePage();
    return (
        <section
            className="stop-bar"
            aria-label={t('Stop')}
            onKeyDown={(event) => {
                if (event.key === 'Escape' && it.talk.dialog) {
                    it.talk.show(null);
                }
            }}>
            {(it.stop.sender.sending || it.stop.sender.problem !== '') && (
                <p className="stop-problem" role="alert">
                    {t(
                        it.stop.sender.sending
                            ? 'STOP is not confirmed yet; it is sent again.'
                            : 'STOP was not confirmed: use another stop.',
                    )}{' '}
                    {it.stop.sender.problem}
                </p>
            )}
            <button
                className={it.stop.isLatched ? 'stop stopped' : 'stop'}
                title={t('Protective stop: Ctrl + . or the key Pause')}
                onClick={() => void it.stop.press()}>
                {it.stop.isLatched ? t('STOPPED') : 'STOP'}
            </button>
        </section>
    );
}

/** Whether a key is that of the protective stop. */
export function isStopKey(event: KeyboardEvent): boolean {
    const key = event.key.toLowerCase();
    return ((event.ctrlKey || event.metaKey) && key === '.') || key === 'pause';
}
