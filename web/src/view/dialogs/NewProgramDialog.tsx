import { useState } from 'react';
import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';
import { BAD_NAME, NAME } from '../../text/names.ts';
import { newProgram } from '../../text/program_edits.ts';
import { Field } from '../fields.tsx';

export function NewProgramDialog() {
    const it = useStore();
    const [name, setName] = useState('');
    const bad =
        name !== '' && !NAME.test(name)
            ? t(BAD_NAME)
            : it.library.programs.some((each) => each.name === name)
              ? t('There is a program {name} already.', { name })
              : '';
    return (
        <form
            onSubmit={(event) => {
                event.preventDefault();
                if (!NAME.test(name) || bad !== '') return;
                it.talk.dialog = null;
                it.docs.open(newProgram(name));
            }}>
            <h2>{t('New program')}</h2>
            <p className="quiet">{t('States and reactions, for what has to be decided within a tick.')}</p>
            <Field
                label={t('Name')}
                value={name}
                change={setName}
                bad={bad || undefined}
                placeholder="touch_and_hold"
            />
            <div className="row end">
                <button type="button" onClick={store.talk.close}>
                    {t('Cancel')}
                </button>
                <button className="primary" disabled={name === '' || bad !== ''}>
                    {t('Make it')}
                </button>
            </div>
        </form>
    );
}
