import { Handle, Position } from '@xyflow/react';
import { useEffect, useRef } from 'react';
import { t } from '../language/language.ts';
import { useStore } from '../store/store.ts';
import { dissolve, type Fold, renameFold } from '../text/folds.ts';
import { BAD_NAME, NAME } from '../text/names.ts';
import { menuKeys, type NodeData, STATES } from './Canvas.tsx';
import { NameField } from './fields.tsx';

/** Nodes that are folded into one box. */
export function FoldedNode({ data, fold, selected }: { data: NodeData; fold: Fold; selected: boolean }) {
    const { box } = data;
    const it = useStore();
    const mayEdit = !it.docs.doc?.readOnly;
    const classes = [
        'node',
        'folded',
        selected && 'selected',
        data.state && `is-${data.state}`,
        data.mistake && (data.warning ? 'has-warning' : 'has-mistake'),
    ];
    return (
        <div
            className={classes.filter(Boolean).join(' ')}
            style={{ width: box.width, minHeight: box.height }}
            title={data.mistake || (mayEdit ? t('Folded: a double click unfolds it') : undefined)}
            onDoubleClick={() => mayEdit && it.building.unfold(fold.name)}>
            <Handle type="target" position={Position.Top} id="in" isConnectable={false} />
            <div className="node-head">
                {data.breakpoint && <span className="breakpoint" title={t('breakpoint')} />}
                <span className="node-id">{fold.name}</span>
                {data.isStart && <span className="chip start-chip">{t('start')}</span>}
                <span className="chip">{t('{n} node|{n} nodes', { n: fold.nodes.length })}</span>
                {data.state !== '' && <span className="chip state-chip">{t(STATES[data.state] ?? data.state)}</span>}
                {data.jump && <span className="chip jump-chip">{t('jump waits')}</span>}
                {data.mistake !== '' && (
                    <span className="mistake-sign" role="img" aria-label={t('mistake')}>
                        !
                    </span>
                )}
            </div>
            <div className="node-detail">{fold.nodes.join(', ')}</div>
            {data.reaction !== '' && (
                <div className="reaction-mark" title={t('A reaction leads here from any node')}>
                    ⚡ {data.reaction}
                </div>
            )}
            <div className="ports single">
                <div className="port">
                    <Handle
                        type="source"
                        position={Position.Bottom}
                        id="out"
                        isConnectable={false}
                        title={t('Unfold it to draw links')}
                    />
                </div>
            </div>
        </div>
    );
}

export function FoldMenu({ x, y, fold, close }: { x: number; y: number; fold: Fold | undefined; close: () => void }) {
    const it = useStore();
    const mayEdit = !it.docs.doc?.readOnly;
    const first = useRef<HTMLButtonElement>(null);
    useEffect(() => first.current?.focus(), []);
    if (!fold) return null;
    const item = (text: string, act: () => void, isFirst = false) => (
        <button
            ref={isFirst ? first : undefined}
            role="menuitem"
            onClick={() => {
                close();
                act();
            }}>
            {text}
        </button>
    );
    return (
        <div
            className="menu"
            role="menu"
            aria-label={t('Folded {name}', { name: fold.name })}
            style={{ left: Math.min(x, window.innerWidth - 250), top: Math.min(y, window.innerHeight - 160) }}
            onKeyDown={(event) => menuKeys(event, close)}>
            {mayEdit && item(t('Unfold'), () => it.building.unfold(fold.name), true)}
            {mayEdit &&
                item(t('Make a skill of its nodes'), () => {
                    it.docs.select(fold.nodes);
                    it.talk.show({ kind: 'extract' });
                })}
            {item(
                t('Copy its nodes as text'),
                () => {
                    it.docs.select(fold.nodes);
                    void it.building.copy();
                },
                !mayEdit,
            )}
            {mayEdit &&
                item(t('Delete its nodes'), () => {
                    it.docs.select(fold.nodes);
                    it.building.remove();
                })}
        </div>
    );
}

/** The form of a fold whose nodes are selected. */
export function FoldForm({ fold }: { fold: Fold }) {
    const it = useStore();
    return (
        <fieldset disabled={it.docs.doc?.readOnly}>
            <NameField
                label={t('Name of the box')}
                value={fold.name}
                change={(name) => {
                    if (!NAME.test(name)) return it.talk.say(t(BAD_NAME), true);
                    if (it.building.isNamed(name)) return it.talk.say(t('There is a {name} already.', { name }), true);
                    it.docs.edit((text) => renameFold(text, fold.name, name));
                }}
            />
            <p className="quiet">{fold.nodes.join(', ')}</p>
            {fold.open ? (
                <button className="wide" onClick={() => it.docs.edit((text) => dissolve(text, fold.name))}>
                    {t('Forget the box')}
                </button>
            ) : (
                <button className="primary wide" onClick={() => it.building.unfold(fold.name)}>
                    {t('Unfold (F)')}
                </button>
            )}
        </fieldset>
    );
}
