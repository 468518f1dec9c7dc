import { useState } from 'react';
import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';
import { BAD_NAME, NAME } from '../../text/names.ts';
import { levelName } from '../Canvas.tsx';
import { Choice, Field } from '../fields.tsx';

export function NewDialog() {
    const it = useStore();
    const [name, setName] = useState('');
    const [level, setLevel] = useState('blueprint');
    const bad =
        name !== '' && !NAME.test(name)
            ? t(BAD_NAME)
            : it.library.skill(name)
              ? t('There is a skill {name} already.', { name })
              : '';
    return (
        <form
            onSubmit={(event) => {
                event.preventDefault();
                if (!NAME.test(name) || bad !== '') return;
                it.talk.dialog = null;
                it.docs.open(`name: ${name}\nlevel: ${level}\nnodes: {}\n`);
            }}>
            <h2>{t('New blueprint or skill')}</h2>
            <Field label={t('Name')} value={name} change={setName} bad={bad || undefined} placeholder="welcome" />
            <Choice
                label={t('Level')}
                value={level}
                options={['blueprint', 'behavior_skill', 'motion_skill', 'meta_skill', 'capability'].map((each) => [
                    each,
                    levelName(each),
                ])}
                change={setLevel}
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
