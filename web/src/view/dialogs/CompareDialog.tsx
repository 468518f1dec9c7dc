import { useEffect, useState } from 'react';
import { t } from '../../language/language.ts';
import { ask } from '../../server.ts';
import { store, useStore } from '../../store/store.ts';
import type { Answer, SkillInfo } from '../../wire.ts';
import { Choice } from '../fields.tsx';
import { Comparison } from './Comparison.tsx';

export function CompareDialog() {
    const it = useStore();
    const skill = it.library.skill(it.talk.dialog?.name ?? '');
    const versions = skill?.versions ?? [];
    const [one, setOne] = useState(String(versions[versions.length - 2] ?? ''));
    const [two, setTwo] = useState(String(versions[versions.length - 1] ?? ''));
    const [texts, setTexts] = useState<Record<string, string>>({});
    useEffect(() => {
        for (const version of [one, two]) {
            if (texts[version] !== undefined || !skill) continue;
            void ask<Answer & { skills?: SkillInfo[] }>('list_skills', {
                name: `${skill.name}@${version}`,
                with_text: true,
            }).then((answer) => {
                const found = answer.skills?.[0];
                if (found) setTexts((before) => ({ ...before, [version]: found.text }));
            });
        }
    }, [one, two, skill, texts]);
    const options = versions.map((version): [string, string] => [String(version), t('version {version}', { version })]);
    return (
        <div>
            <h2>{t('Versions of {name}', { name: skill?.name ?? '' })}</h2>
            <div className="row">
                <Choice label={t('Before')} value={one} options={options} change={setOne} />
                <Choice label={t('After')} value={two} options={options} change={setTwo} />
            </div>
            <Comparison
                before={texts[one] ?? ''}
                after={texts[two] ?? ''}
                names={[t('version {version}', { version: one }), t('version {version}', { version: two })]}
            />
            <div className="row end">
                <button onClick={store.talk.close}>{t('Close')}</button>
            </div>
        </div>
    );
}
