import { useState } from 'react';

import { t } from '../language/language.ts';
import { useStill } from '../store/store.ts';
import { shownName } from '../text/names.ts';

/** Goes to a node by its name: as soon as it is complete, or at Enter to the first one that has these letters. */
export function FindNode() {
    const it = useStill();
    const [text, setText] = useState('');
    const nodes = it.docs.doc?.graph.nodes ?? [];
    const go = (wanted: string, isPart: boolean): void => {
        const word = wanted.trim().toLowerCase();
        const names = (id: string, title: string): string[] => [id.toLowerCase(), title.toLowerCase()];
        const found =
            nodes.find((node) => names(node.id, shownName(node)).includes(word)) ??
            (isPart && word !== ''
                ? nodes.find((node) => names(node.id, shownName(node)).some((name) => name.includes(word)))
                : undefined);
        if (found) it.picture.goTo(found.id, it.docs);
        else if (isPart && word !== '')
            it.talk.say(t('No node has {word} in its name.', { word: wanted.trim() }), true);
    };
    return (
        <>
            <input
                className="find-node"
                list="node-names"
                placeholder={t('Find a node')}
                aria-label={t('Find a node')}
                value={text}
                onChange={(event) => {
                    setText(event.target.value);
                    go(event.target.value, false);
                }}
                onKeyDown={(event) => {
                    if (event.key === 'Enter') go(text, true);
                    if (event.key === 'Escape') setText('');
                }}
            />
            <datalist id="node-names">
                {nodes.map((node) => (
                    <option key={node.id} value={shownName(node)} />
                ))}
            </datalist>
        </>
    );
}
