import { useState } from 'react';
import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';
import { nameSkill } from '../../text/shown_names.ts';
import { levelName } from '../Canvas.tsx';
import { Choice, Field } from '../fields.tsx';

export function NewDialog() {
    const it = useStore();
    const [name, setName] = useState('');
    const [level, setLevel] = useState('blueprint');
    const bad = it.library.skill(name.trim()) ? t('There is a skill {name} already.', { name: name.trim() }) : '';
    return (
        <form
            onSubmit={(event) => {
                event.preventDefault();
                if (name.trim() === '' || bad !== '') return;
                it.talk.dialog = null;
                it.docs.open(nameSkill(`name: _\nlevel: ${level}\nnodes: {}\n`, name, it.library.names));
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
                <button className="primary" disabled={name.trim() === '' || bad !== ''}>
                    {t('Make it')}
                </button>
            </div>
        </form>
    );
}
