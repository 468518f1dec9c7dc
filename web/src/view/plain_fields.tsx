// Fields that know nothing of what is edited: for each page.

import { useEffect, useId, useRef, useState } from 'react';

/** A field whose text is taken while one types. */
export function Field({
    label,
    value,
    change,
    placeholder,
    hint,
    bad,
    list,
}: {
    label: string;
    value: string;
    change: (value: string) => void;
    placeholder?: string;
    hint?: string;
    bad?: string;
    list?: string[];
}) {
    const id = useId();
    const [text, setText] = useState(value);
    const focused = useRef(false);
    useEffect(() => {
        if (!focused.current) setText(value);
    }, [value]);
    return (
        <div className="field">
            <label htmlFor={id}>{label}</label>
            <input
                id={id}
                value={text}
                placeholder={placeholder}
                aria-invalid={bad ? true : undefined}
                aria-describedby={bad ? `${id}-bad` : hint ? `${id}-hint` : undefined}
                list={list ? `${id}-list` : undefined}
                spellCheck={false}
                onFocus={() => {
                    focused.current = true;
                }}
                onBlur={() => {
                    focused.current = false;
                    setText(value);
                }}
                onChange={(event) => {
                    setText(event.target.value);
                    change(event.target.value);
                }}
            />
            {list && (
                <datalist id={`${id}-list`}>
                    {list.map((each) => (
                        <option key={each} value={each} />
                    ))}
                </datalist>
            )}
            {hint && (
                <div className="hint" id={`${id}-hint`}>
                    {hint}
                </div>
            )}
            {bad && (
                <div className="bad-hint" id={`${id}-bad`} role="alert">
                    {bad}
                </div>
            )}
        </div>
    );
}

export function Choice({
    label,
    value,
    options,
    change,
    hidden,
    bad,
}: {
    label: string;
    value: string;
    options: [string, string][];
    change: (value: string) => void;
    hidden?: boolean;
    bad?: string;
}) {
    const id = useId();
    const known = options.some(([each]) => each === value) ? options : [[value, value] as [string, string], ...options];
    return (
        <div className={hidden ? 'field inline' : 'field'}>
            <label htmlFor={id} className={hidden ? 'unseen' : ''}>
                {label}
            </label>
            <select
                id={id}
                value={value}
                aria-invalid={bad ? true : undefined}
                aria-describedby={bad ? `${id}-bad` : undefined}
                onChange={(event) => change(event.target.value)}>
                {known.map(([each, shown]) => (
                    <option key={each} value={each}>
                        {shown}
                    </option>
                ))}
            </select>
            {bad && (
                <div className="bad-hint" id={`${id}-bad`} role="alert">
                    {bad}
                </div>
            )}
        </div>
    );
}
