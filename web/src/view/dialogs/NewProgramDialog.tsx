import { useState } from 'react';
import { store, useStore } from '../../store/store.ts';
import { BAD_NAME, NAME } from '../../text/names.ts';
import { newProgram } from '../../text/program_edits.ts';
import { Field } from '../fields.tsx';

export function NewProgramDialog() {
    const it = useStore();
    const [name, setName] = useState('');
    const bad =
        name !== '' && !NAME.test(name)
            ? BAD_NAME
            : it.library.programs.some((each) => each.name === name)
              ? `There is a program ${name} already.`
              : '';
    return (
        <form
            onSubmit={(event) => {
                event.preventDefault();
                if (!NAME.test(name) || bad !== '') return;
                it.talk.dialog = null;
                it.docs.open(newProgram(name));
            }}>
            <h2>New program</h2>
            <p className="quiet">States and reactions, for what has to be decided within a tick.</p>
            <Field label="Name" value={name} change={setName} bad={bad || undefined} placeholder="touch_and_hold" />
            <div className="row end">
                <button type="button" onClick={store.talk.close}>
                    Cancel
                </button>
                <button className="primary" disabled={name === '' || bad !== ''}>
                    Make it
                </button>
            </div>
        </form>
    );
}
