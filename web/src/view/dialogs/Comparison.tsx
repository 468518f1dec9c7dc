import { useMemo } from 'react';
import { t } from '../../language/language.ts';
import { compare, otherLinks } from '../../text/compare.ts';
import { differences } from '../../text/differences.ts';
import { readGraph } from '../../text/graph.ts';
import { KINDS, Miniature, SIGNS } from './Miniature.tsx';

export function Comparison({ before, after, names }: { before: string; after: string; names: [string, string] }) {
    const lines = useMemo(() => differences(before, after), [before, after]);
    const [one, two] = useMemo(() => [readGraph(before), readGraph(after)], [before, after]);
    const found = useMemo(() => compare(one, two), [one, two]);
    const kinds = useMemo(() => new Map(found.nodes.map(({ id, kind }) => [id, kind])), [found]);
    const different = found.nodes.filter(({ kind }) => kind !== 'same');
    return (
        <div className="comparison">
            <div className="compared-pictures">
                {(
                    [
                        [one, two, names[0], 'removed'],
                        [two, one, names[1], 'added'],
                    ] as const
                ).map(([graph, other, name, kind]) => (
                    <figure key={kind}>
                        <figcaption>{name}</figcaption>
                        <Miniature
                            graph={graph}
                            kinds={kinds}
                            links={otherLinks(graph, other)}
                            linkKind={kind}
                            label={t('Picture of {name}', { name })}
                        />
                    </figure>
                ))}
            </div>
            <ul className="legend" aria-label={t('Legend')}>
                <li className="added">{t('+ added: thick line')}</li>
                <li className="removed">{t('− removed: dashed line')}</li>
                <li className="changed">{t('~ changed: double line')}</li>
                <li className="same">{t('unchanged: thin line')}</li>
            </ul>
            <ul className="compared-nodes" aria-label={t('What differs')}>
                {different.length === 0 && found.others.length === 0 && (
                    <li className="quiet">{t('Nothing that the picture shows.')}</li>
                )}
                {different.map(({ id, kind, what, words }) => (
                    <li key={id} className={`compared ${kind}`}>
                        <b>
                            {SIGNS[kind]} {id}
                        </b>{' '}
                        <small>{what}</small> {t(KINDS[kind])}
                        {words.length > 0 && (
                            <ul>
                                {words.map((word) => (
                                    <li key={word}>{word}</li>
                                ))}
                            </ul>
                        )}
                    </li>
                ))}
                {found.others.map((word) => (
                    <li key={word} className="compared changed">
                        {word}
                    </li>
                ))}
            </ul>
            <p className="quiet">
                − {names[0]}, + {names[1]}
            </p>
            <pre className="difference" tabIndex={0} role="group" aria-label={t('Lines')}>
                {lines.map((line, n) => (
                    <span key={n} className={line.kind}>
                        {line.kind === 'same' ? '  ' : line.kind === 'added' ? '+ ' : '− '}
                        {line.text}
                        {'\n'}
                    </span>
                ))}
            </pre>
        </div>
    );
}
