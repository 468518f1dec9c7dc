import { useEffect } from 'react';
import { t } from '../language/language.ts';
import { thePage, useStillPage } from '../store/page.ts';
import { DialogFrame } from './dialogs/DialogFrame.tsx';
import { TakeDialog } from './dialogs/TakeDialog.tsx';
import { Entered } from './Entered.tsx';
import { Lost } from './Lost.tsx';
import { Notice } from './Notice.tsx';
import { RobotView } from './RobotView.tsx';
import { isStopKey, StopBar } from './StopBar.tsx';

function keys(event: KeyboardEvent): void {
    if (!isStopKey(event)) return;
    event.preventDefault();
    void thePage().stop.press();
}

/** The workcell alone. */
export function ViewPage() {
    const it = useStillPage();
    useEffect(() => {
        window.addEventListener('keydown', keys, true);
        return () => window.removeEventListener('keydown', keys, true);
    }, []);
    return (
        <>
            <StopBar />
            <Entered title={t('Workcell')} draws>
                <div className="app" inert={it.talk.dialog !== null}>
                    <RobotView>
                        <Lost hasBlueprints={false} />
                    </RobotView>
                </div>
            </Entered>
            <Notice />
            <DialogFrame content={() => <TakeDialog />} />
        </>
    );
}
