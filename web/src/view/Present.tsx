import { useEffect, useMemo, useState } from 'react';

import { t } from '../language/language.ts';
import { namedIn, UNKNOWN } from '../store/live_values.ts';
import { useStore } from '../store/store.ts';
import { usualParts } from '../text/graph.ts';

/** Beside each state variable that a text names: its value now, with its unit. */
export function Present({ text }: { text: string }) {
    const it = useStore();
    const declared = it.docs.doc?.graph.content.roles;
    const roles = useMemo(() => usualParts(declared), [declared]);
    const named = useMemo(() => namedIn(text, it.library.byVariable, roles), [text, it.library.byVariable, roles]);
    const names = named.flatMap((each) => each.variables.map(({ name }) => name)).join(' ');
    useEffect(() => {
        if (names === '') return;
        return it.link.showVariables(names.split(' '));
    }, [names]);
    const silence = it.link.connected ? it.link.silence : Math.max(it.link.silence, 1);
    const ages = named.map(({ variables }) => it.link.values.age(variables, silence));
    const isOld = ages.some((age) => age !== null && age > 0);
    const [, drawAgain] = useState(0);
    useEffect(() => {
        if (!isOld) return;
        const timer = setInterval(() => drawAgain((n) => n + 1), 1000);
        return () => clearInterval(timer);
    }, [isOld]);
    if (named.length === 0) return null;
    return (
        <ul className="present" aria-label={t('Present values')}>
            {named.map(({ name, variables }, n) => {
                const age = ages[n] ?? null;
                const values = variables.map((each) => it.link.values.text(each));
                const isUnknown = values.every((each) => each === UNKNOWN);
                const unit = isUnknown ? '' : (variables[0]?.unit ?? '');
                const shown = values.map((each) => (each === UNKNOWN ? t('unknown') : each)).join(', ');
                const old = age !== null && age > 0;
                return (
                    <li key={name} className={old ? 'old' : ''}>
                        <code>{name}</code> <output>{age === null ? '…' : `${shown} ${unit}`.trim()}</output>
                        {old && <span> {t('{time} s old', { time: Math.floor(age / 1000) })}</span>}
                    </li>
                );
            })}
        </ul>
    );
}
