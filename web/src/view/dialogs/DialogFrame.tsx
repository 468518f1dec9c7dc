import { type ReactNode, useEffect, useRef } from 'react';

import { later, t } from '../../language/language.ts';
import { useStillPage } from '../../store/page.ts';
import type { Dialog } from '../../store/talk.ts';

/** For who hears them. */
const NAMES: Record<Dialog['kind'], string> = {
    overtaken: later('overtaken'),
    extract: later('extract'),
    rename: later('rename'),
    help: later('help'),
    compare: later('compare'),
    take: later('take'),
    new: later('new'),
    new_program: later('new_program'),
    expand: later('expand'),
    confirm: later('confirm'),
    name: later('name'),
};

/** The dialog that is shown, above all but STOP. */
export function DialogFrame({ content }: { content: (kind: Dialog['kind']) => ReactNode }) {
    const it = useStillPage();
    const dialog = it.talk.dialog;
    const box = useRef<HTMLDialogElement>(null);
    const before = useRef<HTMLElement | null>(null);
    const kind = dialog?.kind;
    useEffect(() => {
        const remember = (event: FocusEvent): void => {
            if (!it.talk.dialog) before.current = event.target as HTMLElement;
        };
        window.addEventListener('focusin', remember);
        return () => window.removeEventListener('focusin', remember);
    }, []);
    // Not `showModal`: that makes all else inert, STOP as well.
    useEffect(() => {
        if (kind !== undefined) box.current?.querySelector<HTMLElement>(FOCUSABLE)?.focus();
        else if (before.current?.isConnected) before.current.focus();
    }, [kind]);
    return (
        <>
            {dialog && <div className="backdrop" />}
            <dialog
                ref={box}
                open={dialog !== null}
                aria-modal="true"
                aria-label={kind && t(NAMES[kind])}
                onKeyDown={(event) => {
                    if (event.key === 'Escape' && !event.defaultPrevented) it.talk.close();
                }}>
                {dialog && <div className={`dialog dialog-${dialog.kind}`}>{content(dialog.kind)}</div>}
            </dialog>
        </>
    );
}

const FOCUSABLE = 'input:not(:disabled), select:not(:disabled), textarea, button:not(:disabled), [tabindex="0"]';
