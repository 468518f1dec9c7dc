import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';

export function ConfirmDialog() {
    const it = useStore();
    const { text, label, act } = it.talk.dialog ?? {};
    return (
        <div>
            <h2>{text}</h2>
            <div className="row end">
                <button onClick={store.talk.close}>{t('Cancel')}</button>
                <button
                    className="danger"
                    onClick={() => {
                        store.talk.close();
                        act?.();
                    }}>
                    {label}
                </button>
            </div>
        </div>
    );
}
