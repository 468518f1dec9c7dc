import { t } from '../../language/language.ts';
import { usePage } from '../../store/page.ts';

export function TakeDialog() {
    const it = usePage();
    return (
        <div>
            <h2>{t('{name} operates the robot', { name: it.link.live.people.operator_name || t('Somebody') })}</h2>
            <p>{t('Take over? They then watch, and this is logged. Stopping is open to all, also without it.')}</p>
            <div className="row end">
                <button onClick={it.talk.close}>{t('No')}</button>
                <button
                    className="primary"
                    onClick={() => {
                        it.talk.close();
                        void it.me.do(
                            'operate',
                            { take: true, instead_of: it.link.live.people.operator },
                            t('You operate now.'),
                        );
                    }}>
                    {t('Take over')}
                </button>
            </div>
        </div>
    );
}
