import { useId } from 'react';

/** A box to tick. */
export function Check({
    label,
    value,
    change,
    hint,
}: {
    label: string;
    value: boolean;
    change: (value: boolean) => void;
    hint?: string;
}) {
    const id = useId();
    return (
        <div className="check" title={hint}>
            <input id={id} type="checkbox" checked={value} onChange={(event) => change(event.target.checked)} />
            <label htmlFor={id}>{label}</label>
        </div>
    );
}
