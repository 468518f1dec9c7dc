import { useState } from 'react';
import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';
import { BAD_NAME, NAME } from '../../text/names.ts';
import { levelName } from '../Canvas.tsx';
import { Choice, Field } from '../fields.tsx';

export function ExtractDialog() {
    const it = useStore();
    const [name, setName] = useState('');
    const [level, setLevel] = useState('behavior_skill');
    const [problem, setProblem] = useState('');
    return (
        <form
            onSubmit={(event) => {
                event.preventDefault();
                if (!NAME.test(name)) setProblem(t(BAD_NAME));
                else void it.shelf.extract(name, level).then(setProblem);
            }}>
            <h2>
                {t('Make a skill of {n} node|Make a skill of {n} nodes', { n: it.docs.doc?.selection.length ?? 0 })}
            </h2>
            <p className="quiet">{it.docs.doc?.selection.join(', ')}</p>
            <Field label={t('Name of the new skill')} value={name} change={setName} placeholder="greet_by_handshake" />
            <Choice
                label={t('Level')}
                value={level}
                options={['meta_skill', 'motion_skill', 'behavior_skill', 'blueprint'].map((each) => [
                    each,
                    levelName(each),
                ])}
                change={setLevel}
            />
            {problem && (
                <p className="bad-hint" role="alert">
                    {problem}
                </p>
            )}
            <div className="row end">
                <button type="button" onClick={store.talk.close}>
                    {t('Cancel')}
                </button>
                <button className="primary" disabled={name === ''}>
                    {t('Make the skill')}
                </button>
            </div>
        </form>
    );
}
