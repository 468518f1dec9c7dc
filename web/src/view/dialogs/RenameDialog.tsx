import { useState } from 'react';
import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';
import { Field } from '../fields.tsx';

export function RenameDialog() {
    const it = useStore();
    const from = it.talk.dialog?.name ?? '';
    const [name, setName] = useState(from);
    const [problem, setProblem] = useState('');
    const callers = it.library.skills.filter((skill) => skill.calls.includes(from)).map((skill) => skill.name);
    return (
        <form
            onSubmit={(event) => {
                event.preventDefault();
                void it.shelf.rename(from, name).then(setProblem);
            }}>
            <h2>{t('Rename {name}', { name: from })}</h2>
            <p className="quiet">
                {callers.length === 0
                    ? t('Nothing calls it.')
                    : t('Its callers follow: {callers}.', { callers: callers.join(', ') })}
            </p>
            <Field label={t('New name')} value={name} change={setName} />
            {problem && (
                <p className="bad-hint" role="alert">
                    {problem}
                </p>
            )}
            <div className="row end">
                <button type="button" onClick={store.talk.close}>
                    {t('Cancel')}
                </button>
                <button className="primary" disabled={name === from || name === ''}>
                    {t('Rename')}
                </button>
            </div>
        </form>
    );
}
