import { useEffect, useState } from 'react';

import { shown as shownTime, whatIsLost } from '../lost.ts';
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
    if ((control && key === '.') || key === 'pause') return take(() => void store.stop());
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
    return (
        <>
            <StopBar />
            {content(it)}
            <Notice />
            <Dialogs />
        </>
    );
}

function content(it: typeof store) {
    if (it.refused !== '') {
        return (
            <main className="refused">
                <h1>Blueprint editor</h1>
                <p role="alert">{it.refused}</p>
                {it.docs.length > 0 && <p>What was not saved is kept in this browser.</p>}
                <p>STOP works from here as well.</p>
            </main>
        );
    }
    if (!it.me) return <main className="refused"><p>Connecting …</p></main>;
    return (
        <div className="app" inert={it.dialog !== null}>
            <Top />
            <Lost />
            <div className="columns">
                <Left />
                <Centre />
                <Right />
            </div>
        </div>
    );
}

/** STOP, in every state of the page: above dialogs, and never inert. */
function StopBar() {
    const it = useStore();
    return (
        <section className="stop-bar" aria-label="Stop" onKeyDown={(event) => { if (event.key === 'Escape' && it.dialog) { it.dialog = null; it.changed(); } }}>
            {(it.stopping || it.stopProblem !== '') && <p className="stop-problem" role="alert">{it.stopping ? 'STOP is not confirmed yet; it is sent again. ' : 'STOP was not confirmed: use another stop. '}{it.stopProblem}</p>}
            <button className={it.isStoppedHere ? 'stop stopped' : 'stop'} title="Protective stop: Ctrl + . or the key Pause" onClick={() => void it.stop()}>{it.isStoppedHere ? 'STOPPED' : 'STOP'}</button>
        </section>
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
                <button className="small" title="Your name, as others see it and the log has it" onClick={() => { it.dialog = { kind: 'name' }; it.changed(); }}>{it.me?.name}</button>
                <span className="quiet">{it.live.people.here.length} {it.live.people.here.length === 1 ? 'page' : 'pages'}</span>
            </div>
            <label className="speed">Speed <input type="range" min={0} max={1} step={0.05} value={shown ?? 1} disabled={!it.me?.may_operate}
                onChange={(event) => setSpeed(Number(event.target.value))}
                onPointerUp={() => { if (speed !== null) void it.do('speed', { speed }).then(() => setSpeed(null)); }}
                onKeyUp={() => { if (speed !== null) void it.do('speed', { speed }).then(() => setSpeed(null)); }} /> <output>{Math.round((shown ?? 1) * 100)} %</output></label>
            <button className="small" aria-label="Keys and help" onClick={() => { it.dialog = { kind: 'help' }; it.changed(); }}>?</button>
            {stopped && it.isStoppedHere && it.me?.may_operate ? (
                <button className="release" onClick={() => void it.do('protective_stop', { stop: false }, 'Released. Nothing starts by itself.')}>Release the protective stop</button>
            ) : null}
        </header>
    );
}

function Lost() {
    const it = useStore();
    const texts: string[] = [];
    if (!it.connected) texts.push(it.everConnected ? 'This page has lost the editor: what it shows may be old. A run goes on without it. STOP is sent until the editor answers; if anything moves, use another stop.' : 'Connecting to the editor …');
    else if (it.silence > 0) texts.push(`No word from the editor for ${shownTime(it.silence)} s: what is shown is older. STOP is sent all the same.`);
    else texts.push(...whatIsLost(it.live));
    const stops = it.live.robot.stops ?? [];
    return (
        <>
            {texts.length > 0 && <div className="lost" role="alert">{texts.map((text) => <p key={text}>{text}</p>)}</div>}
            {stops.length > 0 && (
                <div className="stops" role="alert">
                    <p>Protective stop. Nothing starts before {stops.length === 1 ? 'it is' : `all ${stops.length} are`} released:</p>
                    <ul>{stops.map((stop) => (
                        <li key={stop.source}><b>{stop.source}</b>{stop.reason && `: ${stop.reason}`}{stop.who && !stop.reason.includes(stop.who) && ` (${stop.who})`}
                            {stop.source !== 'editor' && <span className="quiet"> is released where it was made{stop.needs_secret && ', with its secret'}</span>}</li>
                    ))}</ul>
                </div>
            )}
        </>
    );
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
                            if (each.history.text === each.savedText) it.closeDoc(n);
                            else it.confirm(`Close ${each.graph.name || 'it'} without saving?`, 'Close it', () => it.closeDoc(it.docs.findIndex((other) => other.key === each.key)));
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
            {doc && <Versions />}
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

/** Whether what is shown is what runs, the newest version, and nowhere else changed. */
function Versions() {
    const it = useStore();
    const doc = it.doc;
    if (!doc) return null;
    const name = doc.graph.name;
    const isChanged = doc.history.text !== doc.savedText;
    const records = it.replay ? it.replay.records : it.inRun ? it.log.records : [];
    const compared = records.length > 0 && (it.replay || it.inRun) ? it.comparedWith(records) : 'same';
    const ran = it.ran(records);
    const newest = it.newestOf(doc);
    const others = it.othersDraft;
    return (
        <div className="versions" role="status">
            {compared === 'other' && ran && (
                <p className="banner bad">What {it.replay ? 'ran' : 'runs'} is {ran.text !== null ? `a text of ${name} that was not kept` : `version ${ran.version} of ${name}`}; shown is {doc.basedOn > 0 ? `version ${doc.basedOn}` : 'another text'}{isChanged && ', with changes that are not saved'}. The run is not drawn here. <button onClick={() => void it.openVersion(name, ran)}>Show what {it.replay ? 'ran' : 'runs'}</button></p>
            )}
            {compared === 'unknown' && it.replay && <p className="banner">The log does not say which version ran: the picture may be another one.</p>}
            {newest > doc.basedOn && doc.basedOn > 0 && (
                <p className="banner">Version {newest} of {doc.savedName} is there; this is version {doc.basedOn}{isChanged && ' with your changes'}. Start runs what is shown. <button onClick={() => void it.openNewest()}>{isChanged && !doc.readOnly ? `Compare with version ${newest}` : `Show version ${newest}`}</button></p>
            )}
            {others && (
                <p className="banner">Another page of this browser has {isChanged ? 'other ' : ''}changes of {name} that are not saved. {isChanged && 'Both are kept; who saves second is shown both. '}<button onClick={() => it.open(others.text, { savedText: others.text, readOnly: true })}>Show them</button></p>
            )}
        </div>
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
        }, notice.bad || notice.undo ? 9000 : 4000);
        return () => clearTimeout(timer);
    }, [notice]);
    return <div className="notices" role="status" aria-live="polite">{notice && <div className={notice.bad ? 'notice bad' : 'notice'}>{notice.text} {notice.undo && <button onClick={() => { store.notice = null; store.changed(); notice.undo?.(); }}>Undo</button>} <button className="small" aria-label="Close the message" onClick={() => { store.notice = null; store.changed(); }}>×</button></div>}</div>;
}
