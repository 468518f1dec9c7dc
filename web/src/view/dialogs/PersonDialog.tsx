import { useState } from 'react';
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
            <h2>Your name</h2>
            <Field label="As others see it and the log has it" value={name} change={setName} />
            <div className="row end">
                <button type="button" onClick={store.talk.close}>
                    Cancel
                </button>
                <button className="primary" disabled={name.trim() === ''}>
                    Take it
                </button>
            </div>
        </form>
    );
}
