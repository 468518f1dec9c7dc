import { useEffect, useState } from 'react';
import { t } from '../../language/language.ts';
import { ask } from '../../server.ts';
import { store, useStore } from '../../store/store.ts';
import type { Answer, SkillInfo } from '../../wire.ts';
import { levelName } from '../Canvas.tsx';

export function ExpandDialog() {
    const it = useStore();
    const name = it.talk.dialog?.name ?? '';
    const [skills, setSkills] = useState<SkillInfo[]>([]);
    useEffect(() => {
        void ask<Answer & { skills?: SkillInfo[] }>('list_skills', { name, expand: true }).then((answer) =>
            setSkills(answer.skills ?? []),
        );
    }, [name]);
    const tree = (each: string, path: string[]) => {
        const skill = skills.find((one) => one.name === each);
        return (
            <li key={path.join('/')}>
                <strong>{each}</strong>{' '}
                <span className="quiet">
                    {skill ? levelName(skill.level) : ''}
                    {skill?.category ? `, ${t(skill.category.replace('_', ' '))}` : ''}
                </span>
                {skill && !path.slice(0, -1).includes(each) && skill.calls.length > 0 && (
                    <ul>{[...new Set(skill.calls)].map((call): React.ReactNode => tree(call, [...path, call]))}</ul>
                )}
            </li>
        );
    };
    const own = it.library.skill(name);
    return (
        <div>
            <h2>{t('{name}, down to its capabilities', { name })}</h2>
            {own && <p>{own.description}</p>}
            <ul className="tree" tabIndex={0} aria-label={t('Skills that it is made of')}>
                {tree(name, [name])}
            </ul>
            <div className="row end">
                <button className="primary" onClick={store.talk.close}>
                    {t('Close')}
                </button>
            </div>
        </div>
    );
}
