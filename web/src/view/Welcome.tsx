import { t } from '../language/language.ts';
import { useStill } from '../store/store.ts';
import { EXAMPLES } from '../text/examples.ts';

/** What the page shows while nothing is open. */
export function Welcome() {
    const it = useStill();
    if (it.me.onlyWatches)
        return (
            <div className="welcome">
                <h2>{t('Watch what the robot does')}</h2>
                <p>{t('Open a blueprint under Files, or a run of the past under Runs. Whatever runs is under Run.')}</p>
            </div>
        );
    return (
        <div className="welcome">
            <h2>{t('Draw what the robot shall do')}</h2>
            <p>
                {t(
                    'A blueprint is a picture of nodes. Each node is a skill of the robot; the links say what comes ' +
                        'next.',
                )}
            </p>
            <button className="primary" onClick={() => it.talk.show({ kind: 'new' })}>
                {t('New blueprint')}
            </button>
            <p>{t('Or open one from the left, or an example:')}</p>
            <Examples />
        </div>
    );
}

/** Three blueprints to begin with. */
export function Examples() {
    const it = useStill();
    return (
        <div className="examples">
            {EXAMPLES.map((example) => (
                <div key={example.title} className="skill-row level-blueprint">
                    <button
                        className="skill-item"
                        title={t(example.description)}
                        onClick={() => it.docs.open(example.text)}>
                        <span className="skill-name">{t(example.title)}</span>
                        <span className="skill-description">{t(example.description)}</span>
                    </button>
                </div>
            ))}
        </div>
    );
}

/** What to do with a picture in which nothing is yet. */
export function FirstSteps({ isProgram }: { isProgram: boolean }) {
    const it = useStill();
    if (it.docs.doc?.readOnly) return <div className="banner">{t('Nothing is in it yet.')}</div>;
    return (
        <div className="first-steps">
            <h2>{t('Nothing is here yet')}</h2>
            <ol>
                <li>
                    {t(
                        isProgram
                            ? 'Find an action on the left. Press its +, or drag it here: it becomes a state.'
                            : 'Find a skill on the left. Press its +, or drag it here: it becomes a node.',
                    )}
                </li>
                <li>{t('Fill in its form on the right.')}</li>
                <li>{t('Add the next one: it follows. Or draw from the lower edge of one to another.')}</li>
                {!isProgram && <li>{t('Under Run, press Start.')}</li>}
            </ol>
            <div className="row">
                <button className="primary" onClick={() => window.dispatchEvent(new Event('show-skills'))}>
                    {t(isProgram ? 'Find an action' : 'Find a skill')}
                </button>
            </div>
        </div>
    );
}
