import { CompareDialog } from './CompareDialog.tsx';
import { ConfirmDialog } from './ConfirmDialog.tsx';
import { DialogFrame } from './DialogFrame.tsx';
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
    return <DialogFrame content={content} />;
}

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
