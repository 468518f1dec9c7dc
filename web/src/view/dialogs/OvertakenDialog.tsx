import { t } from '../../language/language.ts';
import { store, useStore } from '../../store/store.ts';
import { Comparison } from './Comparison.tsx';

export function OvertakenDialog() {
    const it = useStore();
    const theirs = it.talk.dialog?.text ?? '';
    const version = it.talk.dialog?.version ?? 0;
    return (
        <div>
            <h2>{t('Somebody else saved {name} meanwhile', { name: it.docs.doc?.graph.name ?? '' })}</h2>
            <p>
                {t('Nothing is lost: lines with − are of their version {version}, lines with + of yours.', { version })}
            </p>
            <Comparison
                before={theirs}
                after={it.docs.doc?.history.text ?? ''}
                names={[t('Theirs, version {version}', { version }), t('Yours')]}
            />
            <div className="row end">
                <button onClick={store.talk.close}>{t('Go on editing')}</button>
                <button onClick={() => it.versions.takeTheirs(theirs, version)}>
                    {t('Take theirs (yours can be undone to)')}
                </button>
                <button className="primary" onClick={() => void it.versions.save({ basedOn: version })}>
                    {t('Save mine as the next version')}
                </button>
            </div>
        </div>
    );
}
