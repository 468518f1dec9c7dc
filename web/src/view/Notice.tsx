import { useEffect } from 'react';
import { t } from '../language/language.ts';
import { useStillPage } from '../store/page.ts';

export function Notice() {
    const it = useStillPage();
    const notice = it.talk.notice;
    useEffect(() => {
        if (!notice) return undefined;
        const timer = setTimeout(() => it.talk.unsay(notice.id), notice.bad || notice.undo ? 9000 : 4000);
        return () => clearTimeout(timer);
    }, [notice]);
    return (
        <div className="notices" role="status" aria-live="polite">
            {notice && (
                <div className={notice.bad ? 'notice bad' : 'notice'}>
                    {notice.text}{' '}
                    {notice.undo && (
                        <button
                            onClick={() => {
                                it.talk.unsay();
                                notice.undo?.();
                            }}>
                            {t('Undo')}
                        </button>
                    )}{' '}
                    <button className="small" aria-label={t('Close the message')} onClick={() => it.talk.unsay()}>
                        ×
                    </button>
                </div>
            )}
        </div>
    );
}
