import { useRef } from 'react';

import { t } from '../language/language.ts';
import { usePage } from '../store/page.ts';

/** STOP, in every state of the page: above dialogs, and never inert. */
export function StopBar() {
    const it = usePage();
    const wasPressed = useRef(false);
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
                onPointerDown={({ button }) => {
                    if (button !== 0) return;
                    // A browser makes no click of a finger that stays, and drops some while it is busy.
                    wasPressed.current = true;
                    void it.stop.press();
                }}
                onPointerCancel={() => {
                    wasPressed.current = false; // no click follows
                }}
                onPointerLeave={({ pointerType }) => {
                    if (pointerType === 'mouse') wasPressed.current = false; // let go elsewhere, it makes no click
                }}
                onClick={({ detail }) => {
                    // 0: of a key. A click of a finger or mouse that has pressed it already is no second press.
                    if (detail === 0 || !wasPressed.current) void it.stop.press();
                    wasPressed.current = false;
                }}>
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
