import { store, useStore } from '../../store/store.ts';
import { Comparison } from './Comparison.tsx';

export function OvertakenDialog() {
    const it = useStore();
    const theirs = it.talk.dialog?.text ?? '';
    const version = it.talk.dialog?.version ?? 0;
    return (
        <div>
            <h2>Somebody else saved {it.docs.doc?.graph.name} meanwhile</h2>
            <p>Nothing is lost: lines with − are of their version {version}, lines with + of yours.</p>
            <Comparison
                before={theirs}
                after={it.docs.doc?.history.text ?? ''}
                names={[`Theirs, version ${version}`, 'Yours']}
            />
            <div className="row end">
                <button onClick={store.talk.close}>Go on editing</button>
                <button onClick={() => it.versions.takeTheirs(theirs, version)}>
                    Take theirs (yours can be undone to)
                </button>
                <button className="primary" onClick={() => void it.versions.save({ basedOn: version })}>
                    Save mine as the next version
                </button>
            </div>
        </div>
    );
}
