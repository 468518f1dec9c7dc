import { useEffect, useRef } from 'react';

import { store, useStill } from '../../store/store.ts';
import { CompareDialog } from './CompareDialog.tsx';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { ExpandDialog } from './ExpandDialog.tsx';
import { ExtractDialog } from './ExtractDialog.tsx';
import { HelpDialog } from './HelpDialog.tsx';
import { NewDialog } from './NewDialog.tsx';
import { NewProgramDialog } from './NewProgramDialog.tsx';
import { OvertakenDialog } from './OvertakenDialog.tsx';
import { PersonDialog } from './PersonDialog.tsx';
import { RenameDialog } from './RenameDialog.tsx';
import { TakeDialog } from './TakeDialog.tsx';

export function Dialogs() {
    const it = useStill();
    const dialog = it.talk.dialog;
    const box = useRef<HTMLDialogElement>(null);
    const before = useRef<HTMLElement | null>(null);
    const kind = dialog?.kind;
    useEffect(() => {
        const remember = (event: FocusEvent): void => {
            if (!store.talk.dialog) before.current = event.target as HTMLElement;
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
                aria-label={kind ?? 'dialog'}
                onKeyDown={(event) => {
                    if (event.key === 'Escape' && !event.defaultPrevented) store.talk.close();
                }}>
                {dialog && <div className={`dialog dialog-${dialog.kind}`}>{content(dialog.kind)}</div>}
            </dialog>
        </>
    );
}

const FOCUSABLE = 'input:not(:disabled), select:not(:disabled), textarea, button:not(:disabled), [tabindex="0"]';

function content(kind: string) {
    switch (kind) {
        case 'new_program':
            return <NewProgramDialog />;
        case 'new':
            return <NewDialog />;
        case 'extract':
            return <ExtractDialog />;
        case 'rename':
            return <RenameDialog />;
        case 'overtaken':
            return <OvertakenDialog />;
        case 'compare':
            return <CompareDialog />;
        case 'take':
            return <TakeDialog />;
        case 'confirm':
            return <ConfirmDialog />;
        case 'name':
            return <PersonDialog />;
        case 'expand':
            return <ExpandDialog />;
        default:
            return <HelpDialog />;
    }
}
