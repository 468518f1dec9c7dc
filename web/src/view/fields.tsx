import { useEffect, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { t } from '../language/language.ts';
import { store } from '../store/store.ts';

export { Choice, Field } from './plain_fields.tsx';

/** A field that is taken when one leaves it or presses Enter: a name. */
export function NameField({ label, value, change }: { label: string; value: string; change: (value: string) => void }) {
    const id = useId();
    const [text, setText] = useState(value);
    useEffect(() => setText(value), [value]);
    const take = (): void => {
        if (text !== value && text.trim() !== '') change(text.trim());
        else setText(value);
    };
    return (
        <div className="field">
            <label htmlFor={id}>{label}</label>
            <input
                id={id}
                className="name-field"
                value={text}
                spellCheck={false}
                onChange={(event) => setText(event.target.value)}
                onBlur={take}
                onKeyDown={(event) => {
                    if (event.key === 'Enter') take();
                    if (event.key === 'Escape') setText(value);
                }}
            />
        </div>
    );
}

/** A condition or value, with completion of names: arrow keys and Tab or Enter. */
export function Expression({
    label,
    value,
    change,
    placeholder,
    hint,
    bad,
    isCondition = true,
    unseen = false,
}: {
    label: string;
    value: string;
    change: (value: string) => void;
    placeholder?: string;
    hint?: string;
    bad?: string;
    isCondition?: boolean;
    unseen?: boolean;
}) {
    const id = useId();
    const [text, setText] = useState(value);
    const [options, setOptions] = useState<{ name: string; hint: string }[]>([]);
    const [at, setAt] = useState(0);
    const input = useRef<HTMLInputElement>(null);
    const focused = useRef(false);
    useEffect(() => {
        if (!focused.current) setText(value);
    }, [value]);
    const word = (): [number, string] => {
        const end = input.current?.selectionStart ?? text.length;
        const found = /[$\w.]*$/.exec((input.current?.value ?? '').slice(0, end))?.[0] ?? '';
        return [end - found.length, found];
    };
    const offer = (): void => {
        const [, found] = word();
        const matching =
            !/^[$A-Za-z_]/.test(found) || (!isCondition && !found.startsWith('$'))
                ? []
                : store.library
                      .completions(isCondition)
                      .filter(({ name }) => name !== found && name.toLowerCase().includes(found.toLowerCase()));
        setOptions(matching.slice(0, 8));
        setAt(0);
    };
    const pick = (name: string): void => {
        const [begin, found] = word();
        const now = input.current?.value ?? '';
        const next = now.slice(0, begin) + name + now.slice(begin + found.length);
        flushSync(() => {
            setText(next);
            setOptions([]);
            change(next);
        });
        // At once, not in the next frame: keys that are typed before it would land behind the rest of the text.
        input.current?.focus();
        input.current?.setSelectionRange(begin + name.length, begin + name.length);
    };
    return (
        <div className={unseen ? 'field inline wide' : 'field'}>
            <label htmlFor={id} className={unseen ? 'unseen' : ''}>
                {label}
            </label>
            <input
                id={id}
                ref={input}
                className="expression"
                value={text}
                placeholder={placeholder}
                spellCheck={false}
                autoComplete="off"
                role="combobox"
                aria-expanded={options.length > 0}
                aria-controls={`${id}-options`}
                aria-autocomplete="list"
                aria-activedescendant={options.length > 0 ? `${id}-${at}` : undefined}
                aria-invalid={bad ? true : undefined}
                aria-describedby={bad ? `${id}-bad` : undefined}
                onFocus={() => {
                    focused.current = true;
                }}
                onBlur={() => {
                    focused.current = false;
                    setOptions([]);
                    setText(value);
                }}
                onChange={(event) => {
                    setText(event.target.value);
                    change(event.target.value);
                    offer();
                }}
                onKeyDown={(event) => {
                    if (options.length === 0) return;
                    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                        event.preventDefault();
                        setAt((at + (event.key === 'ArrowDown' ? 1 : options.length - 1)) % options.length);
                    } else if (event.key === 'Tab' || event.key === 'Enter') {
                        event.preventDefault();
                        pick(options[at]?.name ?? '');
                    } else if (event.key === 'Escape') {
                        event.stopPropagation();
                        setOptions([]);
                    }
                }}
            />
            <ul
                className={options.length > 0 ? 'options' : 'unseen'}
                role="listbox"
                id={`${id}-options`}
                aria-label={t('Names')}>
                {options.map((option, n) => (
                    <li
                        key={option.name}
                        id={`${id}-${n}`}
                        role="option"
                        aria-selected={n === at}
                        onMouseDown={(event) => {
                            event.preventDefault();
                            pick(option.name);
                        }}>
                        <span>{option.name}</span>
                        <span className="quiet">{option.hint}</span>
                    </li>
                ))}
            </ul>
            {hint && <div className="hint">{hint}</div>}
            {bad && (
                <div className="bad-hint" id={`${id}-bad`} role="alert">
                    {bad}
                </div>
            )}
        </div>
    );
}
