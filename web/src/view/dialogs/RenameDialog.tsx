import { useState } from 'react';
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
            <h2>Rename {from}</h2>
            <p className="quiet">
                {callers.length === 0 ? 'Nothing calls it.' : `Its callers follow: ${callers.join(', ')}.`}
            </p>
            <Field label="New name" value={name} change={setName} />
            {problem && (
                <p className="bad-hint" role="alert">
                    {problem}
                </p>
            )}
            <div className="row end">
                <button type="button" onClick={store.talk.close}>
                    Cancel
                </button>
                <button className="primary" disabled={name === from || name === ''}>
                    Rename
                </button>
            </div>
        </form>
    );
}
