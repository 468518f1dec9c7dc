import { useEffect, useState } from 'react';

import { whatIsLost } from '../lost.ts';
import { store, useStill, useStore } from '../store.ts';
import { disconnect } from '../text/blueprint_edits.ts';
import { arrangeAll, hasPlaces } from '../text/folds.ts';
import { Canvas } from './Canvas.tsx';
import { Dialogs } from './Dialogs.tsx';
import { Inspector } from './Inspector.tsx';
import { RunPanel } from './RunPanel.tsx';
import { Files, Runs, Shelves } from './Shelves.tsx';
import { TextEditor } from './TextEditor.tsx';

function isTyping(target: EventTarget | null): boolean {
    const element = target as HTMLElement | null;
    return element !== null && (/^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) || element.isContentEditable || element.classList.contains('text-editor'));
}

function keys(event: KeyboardEvent): void {
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const typing = isTyping(event.target);
    const take = (act: () => void): void => {
        event.preventDefault();
        act();
    };
    if (control && key === '.') return take(() => void store.do('protective_stop', { stop: true }));
    if (store.dialog) return;
    if (control && key === 'e') return take(() => { store.view = store.view === 'picture' ? 'text' : 'picture'; store.changed(); });
    if (control && key === 'enter') return take(() => document.querySelector<HTMLButtonElement>('.start-button')?.click());
    const inText = (event.target as HTMLElement | null)?.classList.contains('text-editor') ?? false;
    if (!inText && control && key === 's') return take(() => void store.save()); // the text has its own
    if (!inText && control && (key === 'y' || (key === 'z' && event.shiftKey))) return take(() => store.redo());
    if (!inText && control && key === 'z') return take(() => store.undo());
    if (typing) return;
    if (control && key === 'g') return take(() => { store.dialog = { kind: 'extract' }; store.changed(); });
    if (control && key === 'f') return take(() => document.querySelector<HTMLInputElement>('.find-node')?.focus());
    if (control && key === 'a') return take(() => store.select((store.doc?.graph.nodes ?? []).map((node) => node.id)));
    if (event.altKey && key === '0') return take(() => { store.fitWanted += 1; store.changed(); });
    if (control || event.altKey) return;
    if (key === '/') return take(() => { show('skills'); requestAnimationFrame(() => window.dispatchEvent(new Event('find-skill'))); });
    if (key === '?') return take(() => { store.dialog = { kind: 'help' }; store.changed(); });
    if (key === 'f2') return take(() => { show('form'); requestAnimationFrame(() => { const field = document.querySelector<HTMLInputElement>('.name-field'); field?.focus(); field?.select(); }); });
    if (key === 'delete' || key === 'backspace') {
        const link = store.doc?.link;
        if (link) return take(() => store.edit((text) => disconnectLink(text, link)));
        return take(() => store.remove());
    }
    if (key === 'f') return take(() => store.foldOrUnfold());
    if (key === 'm' && document.querySelectorAll('.react-flow__node.selected').length === 1) {
        return take(() => {
            const box = document.querySelector('.react-flow__node.selected');
            const place = box?.getBoundingClientRect();
            box?.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: place?.right ?? 0, clientY: place?.top ?? 0 }));
        });
    }
    const onNode = (event.target as HTMLElement | null)?.closest?.('.react-flow__node');
    if (key === 'enter' && onNode?.classList.contains('selected')) {
        take(() => { show('form'); requestAnimationFrame(() => document.querySelector<HTMLElement>('.inspector input, .inspector select')?.focus()); });
    }
}

function disconnectLink(text: string, link: { node: string; index: number }): string {
    return disconnect(text, link.node, link.index);
}

function show(panel: string): void {
    window.dispatchEvent(new CustomEvent('show-panel', { detail: panel }));
}

export function App() {
    const it = useStill();
    useEffect(() => {
        const paste = (event: ClipboardEvent): void => {
            if (isTyping(event.target) || store.dialog) return;
            event.preventDefault();
            store.paste(event.clipboardData?.getData('text/plain') ?? '');
        };
        const copy = (event: ClipboardEvent): void => {
            if (isTyping(event.target) || store.dialog || !store.doc?.selection.length || window.getSelection()?.toString()) return;
            event.preventDefault();
            void store.copy();
            event.clipboardData?.setData('text/plain', store.clipboard);
        };
        // Before the picture takes the key: Enter on a node that is not selected yet selects it.
        window.addEventListener('keydown', keys, true);
        window.addEventListener('paste', paste);
        window.addEventListener('copy', copy);
        return () => {
            window.removeEventListener('keydown', keys, true);
            window.removeEventListener('paste', paste);
            window.removeEventListener('copy', copy);
        };
    }, []);
    if (it.refused !== '') {
        return (
            <main className="refused">
                <h1>Blueprint editor</h1>
                <p role="alert">{it.refused}</p>
                {it.docs.length > 0 && <p>What was not saved is kept in this browser.</p>}
            </main>
        );
    }
    if (!it.me) return <main className="refused"><p>Connecting …</p></main>;
    return (
        <div className="app">
            <Top />
            <Lost />
            <div className="columns">
                <Left />
                <Centre />
                <Right />
            </div>
            <Notice />
            <Dialogs />
        </div>
    );
}

function Top() {
    const it = useStore();
    const robot = it.live.robot;
    const stopped = robot.protective_stop === true || it.live.blueprints.protective_stop === true;
    const { operator, operator_name: name } = it.live.people;
    const isAway = operator !== '' && !it.live.people.here.some((person) => person.id === operator);
    const [speed, setSpeed] = useState<number | null>(null);
    const shown = speed ?? robot.speed ?? 1;
    return (
        <header className={stopped ? 'top stopped' : 'top'}>
            <h1>Blueprints</h1>
            <div className="people" title={it.live.people.log.map((entry) => `${new Date(entry.time * 1000).toLocaleTimeString()} ${entry.text}`).join('\n')}>
                {it.operates ? <span className="chip good">You operate</span> : <span className="chip">{operator === '' ? 'Nobody operates' : `${name} operates${isAway ? ', but has no page open' : ''}`}</span>}
                {!it.operates && it.me?.may_operate && <button onClick={() => void it.operate()}>{operator === '' ? 'Operate' : 'Take over'}</button>}
                {it.operates && <button onClick={() => void it.do('operate', { take: false })}>Give back</button>}
                {!it.me?.may_operate && <span className="chip">This link may watch and stop</span>}
                <button className="small" title="Your name, as others see it and the log has it" onClick={() => {
                    const name = window.prompt('Your name, as others see it and the log has it:', it.me?.name ?? '');
                    if (name) void it.nameMe(name);
                }}>{it.me?.name}</button>
                <span className="quiet">{it.live.people.here.length} {it.live.people.here.length === 1 ? 'page' : 'pages'}</span>
            </div>
            <label className="speed">Speed <input type="range" min={0} max={1} step={0.05} value={shown ?? 1} disabled={!it.me?.may_operate}
                onChange={(event) => setSpeed(Number(event.target.value))}
                onPointerUp={() => { if (speed !== null) void it.do('speed', { speed }).then(() => setSpeed(null)); }}
                onKeyUp={() => { if (speed !== null) void it.do('speed', { speed }).then(() => setSpeed(null)); }} /> <output>{Math.round((shown ?? 1) * 100)} %</output></label>
            <button className="small" aria-label="Keys and help" onClick={() => { it.dialog = { kind: 'help' }; it.changed(); }}>?</button>
            {stopped ? (
                <button className="release" onClick={() => void it.do('protective_stop', { stop: false }, 'Released. Nothing starts by itself.')}>Release the protective stop</button>
            ) : null}
            <button className="stop" disabled={stopped} onClick={() => void it.do('protective_stop', { stop: true }, 'Protective stop.')}>{stopped ? 'STOPPED' : 'STOP'}</button>
        </header>
    );
}

function Lost() {
    const it = useStore();
    const texts: string[] = [];
    if (!it.connected) texts.push(it.everConnected ? 'This page has lost the editor: what it shows may be old. A run goes on without it. Stop by other means if you have to.' : 'Connecting to the editor …');
    else texts.push(...whatIsLost(it.live));
    return texts.length === 0 ? null : <div className="lost" role="alert">{texts.map((text) => <p key={text}>{text}</p>)}</div>;
}

function Tabs({ names, active, change, label }: { names: [string, string][]; active: string; change: (name: string) => void; label: string }) {
    return (
        <div className="tabs" role="tablist" aria-label={label}>
            {names.map(([name, text]) => (
                <button key={name} role="tab" aria-selected={name === active} tabIndex={name === active ? 0 : -1} onClick={() => change(name)}
                    onKeyDown={(event) => {
                        const at = names.findIndex(([each]) => each === active);
                        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? names.length - 1 : 0;
                        const next = names[(at + step) % names.length];
                        if (step && next) {
                            change(next[0]);
                            const row = event.currentTarget.parentElement;
                            requestAnimationFrame(() => row?.querySelector<HTMLElement>('[aria-selected=true]')?.focus());
                        }
                    }}>{text}</button>
            ))}
        </div>
    );
}

function Left() {
    const [tab, setTab] = useState('skills');
    useEffect(() => {
        const take = (event: Event): void => { if ((event as CustomEvent).detail === 'skills') setTab('skills'); };
        window.addEventListener('show-panel', take);
        return () => window.removeEventListener('show-panel', take);
    }, []);
    return (
        <aside className="left" aria-label="Skills and files" aria-busy={!store.isLoaded}>
            <Tabs label="Left" names={[['skills', 'Skills'], ['files', 'Files'], ['runs', 'Runs']]} active={tab} change={setTab} />
            <div className="scroll" role="tabpanel" aria-label={tab}>{tab === 'skills' ? <Shelves /> : tab === 'files' ? <Files /> : <Runs />}</div>
        </aside>
    );
}

function Right() {
    const it = useStore();
    const [tab, setTab] = useState('form');
    const question = it.nodes.some((node) => node.question !== '');
    const state = it.run?.state;
    const selected = `${it.doc?.selection.join()} ${it.doc?.link?.node} ${it.doc?.link?.index}`;
    useEffect(() => {
        if (state !== undefined && state !== 'ended') setTab('run');
    }, [state === undefined || state === 'ended']); // eslint-disable-line
    useEffect(() => { if (question || it.replay) setTab('run'); }, [question, it.replay?.run]); // eslint-disable-line
    useEffect(() => {
        if ((it.doc?.selection.length ?? 0) > 0 || it.doc?.link) setTab('form');
    }, [selected]); // eslint-disable-line
    useEffect(() => {
        const take = (event: Event): void => { if ((event as CustomEvent).detail === 'form') setTab('form'); };
        window.addEventListener('show-panel', take);
        return () => window.removeEventListener('show-panel', take);
    }, []);
    const active = state !== undefined && state !== 'ended';
    return (
        <aside className="right" aria-label="Properties and run">
            <Tabs label="Right" names={[['form', 'Properties'], ['run', active ? 'Run ●' : 'Run']]} active={tab} change={setTab} />
            <div className="scroll" role="tabpanel" aria-label={tab}>{tab === 'form' ? <Inspector /> : <RunPanel />}</div>
        </aside>
    );
}

function Centre() {
    const it = useStill();
    const doc = it.doc;
    const mistakes = doc?.mistakes.filter((each) => !each.warning).length ?? 0;
    const warnings = (doc?.mistakes.length ?? 0) - mistakes;
    const isChanged = doc !== undefined && doc.history.text !== doc.savedText;
    return (
        <main className="centre">
            <nav className="docs" aria-label="Open blueprints">
                {it.docs.map((each, n) => (
                    <div key={each.key} className={n === it.active ? 'doc-tab active' : 'doc-tab'}>
                        <button aria-current={n === it.active ? 'page' : undefined} onClick={() => it.activate(n)}>
                            {each.graph.name || 'unnamed'}{each.history.text !== each.savedText && <span title="not saved"> ●</span>}
                        </button>
                        <button className="small" aria-label={`Close ${each.graph.name}`} onClick={() => {
                            if (each.history.text === each.savedText || window.confirm(`Close ${each.graph.name || 'it'} without saving?`)) it.closeDoc(n);
                        }}>×</button>
                    </div>
                ))}
                <button className="small new-doc" aria-label="New blueprint" title="New blueprint" onClick={() => { it.dialog = { kind: 'new' }; it.changed(); }}>+</button>
            </nav>
            {doc && (
                <div className="tools" role="toolbar" aria-label="Edit">
                    <button aria-pressed={it.view === 'picture'} onClick={() => { it.view = 'picture'; it.changed(); }}>Picture</button>
                    <button aria-pressed={it.view === 'text'} onClick={() => { it.view = 'text'; it.changed(); }}>Text</button>
                    <span className="gap" />
                    <button disabled={doc.history.past.length === 0} onClick={() => it.undo()} title="Ctrl+Z">Undo</button>
                    <button disabled={doc.history.future.length === 0} onClick={() => it.redo()} title="Ctrl+Y">Redo</button>
                    <button disabled={!hasPlaces(doc.graph)} onClick={() => { it.edit((text) => arrangeAll(text)); it.fitWanted += 1; it.changed(); }} title="Place all nodes anew">Arrange</button>
                    <button onClick={() => { it.fitWanted += 1; it.changed(); }} title="Alt+0">Fit</button>
                    <input className="find-node" list="node-names" placeholder="Find a node" aria-label="Find a node" onChange={(event) => {
                        const id = event.target.value;
                        if (doc.graph.nodes.some((node) => node.id === id)) it.select([id]);
                    }} />
                    <datalist id="node-names">{doc.graph.nodes.map((node) => <option key={node.id} value={node.id} />)}</datalist>
                    <span className="gap" />
                    {doc.savedName !== '' && !doc.graph.isProgram && <button onClick={() => { it.dialog = { kind: 'expand', name: doc.savedName }; it.changed(); }}>Expand</button>}
                    {mistakes > 0 && !doc.graph.isProgram && <button disabled={!isChanged || !it.me?.may_operate || doc.readOnly || doc.graph.problem !== ''} onClick={() => void it.save({ draft: true })} title="Keep it with its mistakes; it cannot be run">Keep draft</button>}
                    <button className="primary" disabled={!isChanged || !it.me?.may_operate || doc.readOnly} onClick={() => void it.save()} title="Ctrl+S">Save</button>
                </div>
            )}
            <div className="view">{it.view === 'text' && doc ? <TextEditor /> : <Canvas />}</div>
            {doc && (
                <footer className="mistakes" aria-live="polite" aria-label="Mistakes" aria-busy={doc.checked !== doc.history.text}>
                    {doc.mistakes.length === 0 ? <p className="good-line">{doc.checked === doc.history.text ? 'No mistakes.' : 'Checking …'}</p> : (
                        <details open={mistakes > 0}>
                            <summary>{mistakes > 0 && `${mistakes} ${mistakes === 1 ? 'mistake' : 'mistakes'}`}{mistakes > 0 && warnings > 0 && ', '}{warnings > 0 && `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`}</summary>
                            <ul>{doc.mistakes.slice(0, 50).map((mistake, n) => (
                                <li key={n} className={mistake.warning ? 'warning' : 'bad'}>
                                    <button className="plain-button" onClick={() => mistake.node && it.select([mistake.node])}>{mistake.line > 0 && <b>line {mistake.line}{mistake.node && `, ${mistake.node}`}: </b>}{mistake.text}</button>
                                </li>
                            ))}</ul>
                        </details>
                    )}
                </footer>
            )}
        </main>
    );
}

function Notice() {
    const it = useStill();
    const notice = it.notice;
    useEffect(() => {
        if (!notice) return undefined;
        const timer = setTimeout(() => {
            if (store.notice?.id === notice.id) {
                store.notice = null;
                store.changed();
            }
        }, notice.bad ? 9000 : 4000);
        return () => clearTimeout(timer);
    }, [notice]);
    return <div className="notices" role="status" aria-live="polite">{notice && <div className={notice.bad ? 'notice bad' : 'notice'}>{notice.text} <button className="small" aria-label="Close the message" onClick={() => { store.notice = null; store.changed(); }}>×</button></div>}</div>;
}
