import { useState } from 'react';
import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';
import { Field } from '../fields.tsx';

export function PersonDialog() {
    const it = useStore();
    const [name, setName] = useState(it.me.person?.name ?? '');
    return (
        <form
            onSubmit={(event) => {
                event.preventDefault();
                store.talk.close();
                if (name.trim() !== '') void it.me.rename(name);
            }}>
            <h2>{t('Your name')}</h2>
            <Field label={t('As others see it and the log has it')} value={name} change={setName} />
            <div className="row end">
                <button type="button" onClick={store.talk.close}>
                    {t('Cancel')}
                </button>
                <button className="primary" disabled={name.trim() === ''}>
                    {t('Take it')}
                </button>
            </div>
        </form>
    );
}
