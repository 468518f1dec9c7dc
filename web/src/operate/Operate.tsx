import { useEffect, useState } from 'react';
import { t } from '../language/language.ts';
import { thePage, usePage } from '../store/page.ts';
import { Choice } from '../view/plain_fields.tsx';
import { Jog } from './Jog.tsx';
import { Operator, Release, Speed } from './Operator.tsx';
import { Parts } from './Parts.tsx';
import { hasJoints, useWorkcell } from './parts.ts';
import { shownVariables } from './present.ts';
import { StartForm } from './StartForm.tsx';

/**
 * Beside the scene: who operates, the parts, jogging, and starting actions. Who only watches sees states alone.
 * @param hasTop whether the page has who operates and the speed above all.
 */
export function Operate({ hasTop }: { hasTop: boolean }) {
    const it = usePage();
    const { parts, types } = useWorkcell();
    const [chosen, setChosen] = useState('');
    const jointed = parts.filter(hasJoints);
    const part = jointed.find((each) => each.name === chosen) ?? jointed[0];
    const names = part ? shownVariables(part).join(' ') : '';
    useEffect(() => {
        thePage().link.showVariables(names === '' ? [] : names.split(' '));
        return () => thePage().link.showVariables([]);
    }, [names]);
    return (
        <aside className="operate" aria-label={t('Operate the robot')}>
            {!hasTop && (
                <div className="row">
                    <Operator />
                    {it.me.mayOperate && <Speed />}
                    <Release />
                </div>
            )}
            <h3>{t('Parts')}</h3>
            <Parts parts={parts} />
            {part && (
                <>
                    <h3>{t(it.me.mayOperate ? 'Jog' : 'Where it is')}</h3>
                    <Choice
                        label={t('Part')}
                        value={part.name}
                        options={jointed.map((each): [string, string] => [each.name, each.name])}
                        change={setChosen}
                    />
                    <Jog key={part.name} part={part} />
                </>
            )}
            <StartForm parts={parts} types={types} />
        </aside>
    );
}
