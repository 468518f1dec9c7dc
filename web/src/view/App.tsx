import { useEffect, useState } from 'react';

import { GoalPanel } from '../goal/GoalPanel.tsx';
import { LanguageChoice } from '../language/LanguageChoice.tsx';
import { later, t } from '../language/language.ts';
import { Operator, Release, Speed } from '../operate/Operator.tsx';
import { isEmpty } from '../store/mistakes.ts';
import { pathIn } from '../store/ran.ts';
import { store, useStill, useStore } from '../store/store.ts';
import { disconnect } from '../text/blueprint_edits.ts';
import { arrangeAll, hasPlaces } from '../text/folds.ts';
import { Boundary } from './Boundary.tsx';
import { Canvas, openMenu } from './Canvas.tsx';
import { Dialogs } from './dialogs/Dialogs.tsx';
import { Entered } from './Entered.tsx';
import { FindNode } from './FindNode.tsx';
import { Inspector } from './Inspector.tsx';
import { Lost } from './Lost.tsx';
import { Notice } from './Notice.tsx';
import { RobotView } from './RobotView.tsx';
import { RunPanel } from './RunPanel.tsx';
import { Files, Runs, Shelves } from './Shelves.tsx';
import { isStopKey, StopBar } from './StopBar.tsx';
import { TextEditor } from './TextEditor.tsx';
import { WhatIf } from './WhatIf.tsx';

const KEPT = later('What was not saved is kept in this browser.');

function isTyping(target: EventTarget | null): boolean {
    const element = target as HTMLElement | null;
    return (
        element !== null &&
        (/^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) ||
            element.isContentEditable ||
            element.classList.contains('text-editor'))
    );
}

function keys(event: KeyboardEvent): void {
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const typing = isTyping(event.target);
    const take = (act: () => void): void => {
        event.preventDefault();
        act();
    };
    if (isStopKey(event)) return take(() => void store.stop.press());
    if (store.talk.dialog) return;
    if (control && key === 'e')
        return take(() => {
            store.picture.view = store.picture.view === 'picture' ? 'text' : 'picture';
            store.changes.tell();
        });
    if (control && key === 'enter')
        return take(() => document.querySelector<HTMLButtonElement>('.start-button')?.click());
    const inText = (event.target as HTMLElement | null)?.classList.contains('text-editor') ?? false;
    if (store.me.onlyWatches && (control || key === 'delete' || key === 'backspace') && !'caf'.includes(key)) return;
    if (!inText && control && key === 's') return take(() => void store.versions.save()); // the text has its own
    if (!inText && control && (key === 'y' || (key === 'z' && event.shiftKey))) return take(() => store.docs.redo());
    if (!inText && control && key === 'z') return take(() => store.docs.undo());
    if (typing) return;
    if (control && key === 'g') return take(() => store.talk.show({ kind: 'extract' }));
    if (control && key === 'f') return take(() => document.querySelector<HTMLInputElement>('.find-node')?.focus());
    if (control && key === 'a')
        return take(() => store.docs.select((store.docs.doc?.graph.nodes ?? []).map((node) => node.id)));
    if (event.altKey && key === '0')
        return take(() => {
            store.picture.fit('all');
            store.changes.tell();
        });
    if (control || event.altKey) return;
    if (key === '/') return take(() => void window.dispatchEvent(new Event('show-skills')));
    if (key === '?') return take(() => store.talk.show({ kind: 'help' }));
    if (key === 'f2')
        return take(() => {
            show('form');
            requestAnimationFrame(() => {
                const field = document.querySelector<HTMLInputElement>('.name-field');
                field?.focus();
                field?.select();
            });
        });
    if (key === 'delete' || key === 'backspace') {
        const link = store.docs.doc?.link;
        if (link) return take(() => store.docs.edit((text) => disconnect(text, link.node, link.index)));
        return take(() => store.building.remove());
    }
    if (key === 'f' && !store.me.onlyWatches) return take(() => store.building.foldOrUnfold());
    if (key === 'm' && document.querySelectorAll('.react-flow__node.selected').length === 1) return take(openMenu);
    const onNode = (event.target as HTMLElement | null)?.closest?.('.react-flow__node');
    if (key === 'enter' && onNode?.classList.contains('selected')) {
        take(() => {
            show('form');
            requestAnimationFrame(() =>
                document.querySelector<HTMLElement>('.inspector input, .inspector select')?.focus(),
            );
        });
    }
}

function show(panel: 'skills' | 'form'): void {
    window.dispatchEvent(new CustomEvent('show-panel', { detail: panel }));
}

export function App() {
    const it = useStill();
    useEffect(() => {
        const paste = (event: ClipboardEvent): void => {
            if (isTyping(event.target) || store.talk.dialog || store.me.onlyWatches) return;
            event.preventDefault();
            store.building.paste(event.clipboardData?.getData('text/plain') ?? '');
        };
        const copy = (event: ClipboardEvent): void => {
            if (
                isTyping(event.target) ||
                store.talk.dialog ||
                !store.docs.doc?.selection.length ||
                window.getSelection()?.toString()
            )
                return;
            event.preventDefault();
            void store.building.copy();
            event.clipboardData?.setData('text/plain', store.building.clipboard);
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
            <Entered title={t('Blueprint editor')} remark={it.docs.all.length > 0 ? t(KEPT) : ''}>
                <div className="app" inert={it.talk.dialog !== null}>
                    <Top />
                    <Lost hasBlueprints />
                    <Columns />
                </div>
            </Entered>
            <Notice />
            <Boundary>
                <Dialogs />
            </Boundary>
        </>
    );
}

type Pane = 'left' | 'centre' | 'right';

/** Side by side; on a narrow page one or two of them, as a person chooses. */
function Columns() {
    const it = useStore();
    const [pane, setPane] = useState<Pane>('centre');
    const question = it.runs.nodes.some((node) => node.question !== '');
    useEffect(() => {
        const take = (event: Event): void => setPane((event as CustomEvent).detail === 'skills' ? 'left' : 'right');
        const skills = (): void => {
            show('skills');
            requestAnimationFrame(() => window.dispatchEvent(new Event('find-skill')));
        };
        window.addEventListener('show-panel', take);
        window.addEventListener('show-skills', skills);
        return () => {
            window.removeEventListener('show-panel', take);
            window.removeEventListener('show-skills', skills);
        };
    }, []);
    useEffect(() => {
        if (question) setPane('right');
    }, [question]);
    // What was opened from a shelf is to be seen.
    const doc = it.docs.doc?.key;
    useEffect(() => setPane((now) => (now === 'left' && doc !== undefined ? 'centre' : now)), [doc]);
    const names: [Pane, string][] = [
        ['left', t('Skills and files')],
        ['centre', t('Picture')],
        ['right', t(question ? 'Run: a question' : it.runs.isUnderWay ? 'Run ●' : 'Form and run')],
    ];
    return (
        <>
            <nav className="panes" aria-label={t('What is shown')}>
                {names.map(([name, text]) => (
                    <button key={name} aria-pressed={pane === name} onClick={() => setPane(name)}>
                        {text}
                    </button>
                ))}
            </nav>
            <div className={`columns shows-${pane}`}>
                <Left />
                <Centre />
                <Right />
            </div>
        </>
    );
}

function Top() {
    const it = useStore();
    const robot = it.link.live.robot;
    const stopped = robot.protective_stop === true || it.link.live.blueprints.protective_stop === true;
    return (
        <header className={stopped ? 'top stopped' : 'top'}>
            <h1>{t('Blueprints')}</h1>
            <div
                className="people"
                title={it.link.live.people.log
                    .map((entry) => `${new Date(entry.time * 1000).toLocaleTimeString()} ${entry.text}`)
                    .join('\n')}>
                <Operator />
                <button
                    className="small"
                    title={t('Your name, as others see it and the log has it')}
                    onClick={() => it.talk.show({ kind: 'name' })}>
                    {it.me.person?.name}
                </button>
                <span className="quiet">{t('{n} page|{n} pages', { n: it.link.live.people.here.length })}</span>
            </div>
            <Speed />
            <button className="small" aria-label={t('Keys and help')} onClick={() => it.talk.show({ kind: 'help' })}>
                ?
            </button>
            <LanguageChoice />
            <Release />
        </header>
    );
}

function Tabs({
    names,
    active,
    change,
    label,
}: {
    names: [string, string][];
    active: string;
    change: (name: string) => void;
    label: string;
}) {
    return (
        <div className="tabs" role="tablist" aria-label={label}>
            {names.map(([name, text]) => (
                <button
                    key={name}
                    role="tab"
                    aria-selected={name === active}
                    tabIndex={name === active ? 0 : -1}
                    onClick={() => change(name)}
                    onKeyDown={(event) => {
                        const at = names.findIndex(([each]) => each === active);
                        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? names.length - 1 : 0;
                        const next = names[(at + step) % names.length];
                        if (step && next) {
                            change(next[0]);
                            const row = event.currentTarget.parentElement;
                            requestAnimationFrame(() =>
                                row?.querySelector<HTMLElement>('[aria-selected=true]')?.focus(),
                            );
                        }
                    }}>
                    {text}
                </button>
            ))}
        </div>
    );
}

function Left() {
    const [tab, setTab] = useState('skills');
    useEffect(() => {
        const take = (event: Event): void => {
            if ((event as CustomEvent).detail === 'skills') setTab('skills');
        };
        window.addEventListener('show-panel', take);
        return () => window.removeEventListener('show-panel', take);
    }, []);
    const names: [string, string][] = [
        ['skills', t('Skills')],
        ['files', t('Files')],
        ['runs', t('Runs')],
    ];
    return (
        <aside className="left" aria-label={t('Skills and files')} aria-busy={!store.library.isLoaded}>
            <Tabs label={t('Left')} names={names} active={tab} change={setTab} />
            <div className="scroll" role="tabpanel" aria-label={names.find(([name]) => name === tab)?.[1]}>
                {tab === 'skills' ? <Shelves /> : tab === 'files' ? <Files /> : <Runs />}
            </div>
        </aside>
    );
}

function Right() {
    const it = useStore();
    const [tab, setTab] = useState('form');
    const question = it.runs.nodes.some((node) => node.question !== '');
    const state = it.runs.run?.state;
    const selected = `${it.docs.doc?.selection.join()} ${it.docs.doc?.link?.node} ${it.docs.doc?.link?.index}`;
    useEffect(() => {
        if (state !== undefined && state !== 'ended') setTab('run');
    }, [state === undefined || state === 'ended']);
    // One that follows the slider changes its run with it, and leaves the tab to who types in a form.
    const replayed = it.runs.replay?.seek ? 'past' : it.runs.replay?.run;
    useEffect(() => {
        if (question || replayed) setTab('run');
    }, [question, replayed]);
    useEffect(() => {
        if ((it.docs.doc?.selection.length ?? 0) > 0 || it.docs.doc?.link) setTab('form');
    }, [selected]);
    useEffect(() => {
        const take = (event: Event): void => {
            if ((event as CustomEvent).detail === 'form') setTab('form');
        };
        window.addEventListener('show-panel', take);
        return () => window.removeEventListener('show-panel', take);
    }, []);
    const active = state !== undefined && state !== 'ended';
    const names: [string, string][] = [
        ['form', t('Properties')],
        ['run', active ? `${t('Run')} ●` : t('Run')],
    ];
    return (
        <aside className="right" aria-label={t('Properties and run')}>
            <Tabs label={t('Right')} names={names} active={tab} change={setTab} />
            <div className="scroll" role="tabpanel" aria-label={names.find(([name]) => name === tab)?.[1]}>
                {tab === 'form' ? <Inspector /> : <RunPanel />}
            </div>
        </aside>
    );
}

function Centre() {
    const it = useStill();
    const doc = it.docs.doc;
    const mistakes = doc?.mistakes.filter((each) => !each.warning).length ?? 0;
    const warnings = (doc?.mistakes.length ?? 0) - mistakes;
    const isChanged = doc !== undefined && doc.history.text !== doc.savedText;
    return (
        <main className="centre">
            <nav className="docs" aria-label={t('Open blueprints')}>
                {it.docs.all.map((each, n) => (
                    <div key={each.key} className={n === it.docs.active ? 'doc-tab active' : 'doc-tab'}>
                        <button
                            aria-current={n === it.docs.active ? 'page' : undefined}
                            onClick={() => it.docs.activate(n)}>
                            {each.graph.title || each.graph.name || t('unnamed')}
                            {each.history.text !== each.savedText && <span title={t('not saved')}> ●</span>}
                        </button>
                        <button
                            className="small"
                            aria-label={t('Close {name}', { name: each.graph.name })}
                            onClick={() => {
                                if (each.history.text === each.savedText) it.docs.close(n);
                                else
                                    it.talk.confirm(
                                        t('Close {name} without saving?', { name: each.graph.name || t('it') }),
                                        t('Close it'),
                                        () => it.docs.close(it.docs.all.findIndex((other) => other.key === each.key)),
                                    );
                            }}>
                            ×
                        </button>
                    </div>
                ))}
                {!it.me.onlyWatches && (
                    <button
                        className="small new-doc"
                        aria-label={t('New blueprint')}
                        title={t('New blueprint')}
                        onClick={() => it.talk.show({ kind: 'new' })}>
                        +
                    </button>
                )}
                <button
                    className="robot-tab"
                    aria-pressed={it.picture.view === 'robot'}
                    onClick={() => {
                        it.picture.view = it.picture.view === 'robot' ? 'picture' : 'robot';
                        it.changes.tell();
                    }}>
                    {t('Robot')}
                </button>
            </nav>
            {doc && (
                <div className="tools" role="toolbar" aria-label={t('Edit')}>
                    <button
                        aria-pressed={it.picture.view === 'picture'}
                        onClick={() => {
                            it.picture.view = 'picture';
                            it.changes.tell();
                        }}>
                        {t('Picture')}
                    </button>
                    <button
                        aria-pressed={it.picture.view === 'text'}
                        onClick={() => {
                            it.picture.view = 'text';
                            it.changes.tell();
                        }}>
                        {t('Text')}
                    </button>
                    <span className="gap" />
                    {!doc.readOnly && (
                        <>
                            <button
                                disabled={doc.history.past.length === 0}
                                onClick={() => it.docs.undo()}
                                title={t('Ctrl+Z')}>
                                {t('Undo')}
                            </button>
                            <button
                                disabled={doc.history.future.length === 0}
                                onClick={() => it.docs.redo()}
                                title={t('Ctrl+Y')}>
                                {t('Redo')}
                            </button>
                            <button
                                disabled={!hasPlaces(doc.graph)}
                                onClick={() => {
                                    it.docs.edit((text) => arrangeAll(text));
                                    it.picture.fit();
                                    it.changes.tell();
                                }}
                                title={t('Place all nodes anew')}>
                                {t('Arrange')}
                            </button>
                        </>
                    )}
                    <button
                        onClick={() => {
                            it.picture.fit('all');
                            it.changes.tell();
                        }}
                        title={t('Alt+0')}>
                        {t('Fit')}
                    </button>
                    <Follow />
                    <FindNode key={doc.key} />
                    <span className="gap" />
                    {doc.savedName !== '' && !doc.graph.isProgram && (
                        <button onClick={() => it.talk.show({ kind: 'expand', name: doc.savedName })}>
                            {t('Expand')}
                        </button>
                    )}
                    {mistakes > 0 && !doc.graph.isProgram && !doc.readOnly && (
                        <button
                            disabled={!isChanged || !it.me.mayOperate || doc.readOnly || doc.graph.problem !== ''}
                            onClick={() => void it.versions.save({ draft: true })}
                            title={t('Keep it with its mistakes; it cannot be run')}>
                            {t('Keep draft')}
                        </button>
                    )}
                    {!it.me.onlyWatches && (
                        <button
                            className="primary"
                            disabled={!isChanged || !it.me.mayOperate || doc.readOnly || isEmpty(doc.graph)}
                            onClick={() => void it.versions.save()}
                            title={t('Ctrl+S')}>
                            {t('Save')}
                        </button>
                    )}
                </div>
            )}
            {doc && <Versions />}
            <div className="view">
                {it.picture.view === 'robot' ? (
                    <RobotView
                        hasTop
                        goal={(view) => <GoalPanel view={view} />}
                        blueprint={<Canvas />}
                        besidePast={(past) => <WhatIf past={past} />}
                    />
                ) : it.picture.view === 'text' && doc ? (
                    <TextEditor />
                ) : (
                    <Canvas />
                )}
            </div>
            {doc && !it.me.onlyWatches && (
                <footer
                    className="mistakes"
                    role="status"
                    aria-label={t('Mistakes')}
                    aria-busy={doc.checked !== doc.history.text}>
                    {doc.mistakes.length === 0 ? (
                        <p className="good-line">
                            {t(
                                doc.checked !== doc.history.text
                                    ? 'Checking …'
                                    : isEmpty(doc.graph)
                                      ? 'Nothing is in it yet.'
                                      : 'No mistakes.',
                            )}
                        </p>
                    ) : (
                        <details open={mistakes > 0}>
                            <summary>
                                {mistakes > 0 && t('{n} mistake|{n} mistakes', { n: mistakes })}
                                {mistakes > 0 && warnings > 0 && ', '}
                                {warnings > 0 && t('{n} warning|{n} warnings', { n: warnings })}
                            </summary>
                            <ul>
                                {doc.mistakes.slice(0, 50).map((mistake, n) => (
                                    <li key={n} className={mistake.warning ? 'warning' : 'bad'}>
                                        <button
                                            className="plain-button"
                                            onClick={() => mistake.node && it.picture.goTo(mistake.node, it.docs)}>
                                            {mistake.line > 0 && (
                                                <b>
                                                    {t('line {line}', { line: mistake.line })}
                                                    {mistake.node && `, ${mistake.node}`}:{' '}
                                                </b>
                                            )}
                                            {mistake.text}
                                        </button>
                                    </li>
                                ))}
                            </ul>
                        </details>
                    )}
                </footer>
            )}
        </main>
    );
}

/** Whether the picture goes to the node that runs. */
function Follow() {
    const it = useStore();
    if (!it.runs.isUnderWay) return null;
    return (
        <button
            aria-pressed={it.picture.follows}
            onClick={() => {
                it.picture.follows = !it.picture.follows;
                it.changes.tell();
            }}
            title={t('The picture goes to the node that runs')}>
            {t('Follow')}
        </button>
    );
}

/** Whether what is shown is what runs, the newest version, and nowhere else changed. */
function Versions() {
    const it = useStore();
    const doc = it.docs.doc;
    if (!doc) return null;
    const name = doc.graph.name;
    const isChanged = doc.history.text !== doc.savedText;
    const { replay } = it.runs;
    // What was simulated did not run.
    const isIn = replay
        ? !replay.isWhatIf && (!replay.seek || pathIn(replay.records, doc.shown.name) !== null)
        : it.drawn.inRun;
    const records = !isIn ? [] : replay ? replay.records : it.runs.log.records;
    const compared = records.length > 0 ? it.drawn.comparedWith(records) : 'same';
    const ran = it.drawn.ran(records);
    const newest = it.versions.newestOf(doc);
    const others = it.docs.othersDraft;
    const from = doc.basedOn > 0 ? t('version {version}', { version: doc.basedOn }) : t('another text');
    const shown = isChanged ? t('{text}, with changes that are not saved', { text: from }) : from;
    return (
        <div className="versions" role="status">
            {compared === 'other' && ran && (
                <p className="banner bad">
                    {t(
                        it.runs.replay
                            ? 'What ran is {what}; shown is {shown}.'
                            : 'What runs is {what}; shown is {shown}.',
                        {
                            what:
                                ran.text !== null
                                    ? t('a text of {name} that was not kept', { name })
                                    : t('version {version} of {name}', { version: ran.version, name }),
                            shown,
                        },
                    )}{' '}
                    {t('The run is not drawn here.')}{' '}
                    <button onClick={() => void it.versions.openVersion(name, ran)}>
                        {t(it.runs.replay ? 'Show what ran' : 'Show what runs')}
                    </button>
                </p>
            )}
            {compared === 'unknown' && it.runs.replay && (
                <p className="banner">{t('The log does not say which version ran: the picture may be another one.')}</p>
            )}
            {it.drawn.otherProgram !== '' && (
                <p className="banner bad">
                    {t('What runs is {what}; shown is {shown}.', {
                        what: t('version {version} of {name}', { version: it.drawn.otherProgram.split('@')[1], name }),
                        shown,
                    })}{' '}
                    {t('Its states are not drawn here.')}{' '}
                    <button onClick={() => void it.versions.openProgram(it.drawn.otherProgram)}>
                        {t('Show what runs')}
                    </button>
                </p>
            )}
            {newest > doc.basedOn && doc.basedOn > 0 && (
                <p className="banner">
                    {t(
                        isChanged
                            ? 'Version {newest} of {name} is there; this is version {version} with your changes.'
                            : 'Version {newest} of {name} is there; this is version {version}.',
                        { newest, name: doc.savedName, version: doc.basedOn },
                    )}{' '}
                    {t('Start runs what is shown.')}{' '}
                    <button onClick={() => void it.versions.openNewest()}>
                        {t(isChanged && !doc.readOnly ? 'Compare with version {version}' : 'Show version {version}', {
                            version: newest,
                        })}
                    </button>
                </p>
            )}
            {others && (
                <p className="banner">
                    {t(
                        isChanged
                            ? 'Another page of this browser has other changes of {name} that are not saved.'
                            : 'Another page of this browser has changes of {name} that are not saved.',
                        { name },
                    )}{' '}
                    {isChanged && `${t('Both are kept; who saves second is shown both.')} `}
                    <button onClick={() => it.docs.open(others.text, { savedText: others.text, readOnly: true })}>
                        {t('Show them')}
                    </button>
                </p>
            )}
        </div>
    );
}
