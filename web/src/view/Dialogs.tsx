import { useEffect, useMemo, useRef, useState } from 'react';

import { type Answer, ask, type SkillInfo } from '../server.ts';
import { type Laid, store, useStill, useStore } from '../store.ts';
import { compare, type Kind, otherLinks } from '../text/compare.ts';
import { type Graph, readGraph } from '../text/graph.ts';
import { Choice, Field } from './fields.tsx';
import { bentPath, levelName } from './Canvas.tsx';
import { NewProgramDialog } from './ProgramForms.tsx';
import { layoutRequest, pictureOf } from './picture.ts';

export function Dialogs() {
    const it = useStill();
    const dialog = it.dialog;
    const box = useRef<HTMLDialogElement>(null);
    const before = useRef<HTMLElement | null>(null);
    const kind = dialog?.kind;
    useEffect(() => {
        const remember = (event: FocusEvent): void => { if (!store.dialog) before.current = event.target as HTMLElement; };
        window.addEventListener('focusin', remember);
        return () => window.removeEventListener('focusin', remember);
    }, []);
    // Not `showModal`: that makes all else inert, STOP as well.
    useEffect(() => {
        if (kind !== undefined) box.current?.querySelector<HTMLElement>(FOCUSABLE)?.focus();
        else if (before.current?.isConnected) before.current.focus();
    }, [kind]);
    return (
        <>
            {dialog && <div className="backdrop" />}
            <dialog ref={box} open={dialog !== null} aria-modal="true" aria-label={kind ?? 'dialog'} onKeyDown={(event) => { if (event.key === 'Escape' && !event.defaultPrevented) close(); }}>
                {dialog && <div className={`dialog dialog-${dialog.kind}`}>{content(dialog.kind)}</div>}
            </dialog>
        </>
    );
}

const FOCUSABLE = 'input:not(:disabled), select:not(:disabled), textarea, button:not(:disabled), [tabindex="0"]';

function content(kind: string) {
    switch (kind) {
        case 'new_program': return <NewProgramDialog />;
        case 'new': return <NewDialog />;
        case 'extract': return <ExtractDialog />;
        case 'rename': return <RenameDialog />;
        case 'overtaken': return <OvertakenDialog />;
        case 'compare': return <CompareDialog />;
        case 'take': return <TakeDialog />;
        case 'confirm': return <ConfirmDialog />;
        case 'name': return <PersonDialog />;
        case 'expand': return <ExpandDialog />;
        default: return <HelpDialog />;
    }
}

function close(): void {
    store.dialog = null;
    store.changed();
}

function ConfirmDialog() {
    const it = useStore();
    const { text, label, act } = it.dialog ?? {};
    return (
        <div>
            <h2>{text}</h2>
            <div className="row end"><button onClick={close}>Cancel</button><button className="danger" onClick={() => { close(); act?.(); }}>{label}</button></div>
        </div>
    );
}

function PersonDialog() {
    const it = useStore();
    const [name, setName] = useState(it.me?.name ?? '');
    return (
        <form onSubmit={(event) => {
            event.preventDefault();
            close();
            if (name.trim() !== '') void it.nameMe(name);
        }}>
            <h2>Your name</h2>
            <Field label="As others see it and the log has it" value={name} change={setName} />
            <div className="row end"><button type="button" onClick={close}>Cancel</button><button className="primary" disabled={name.trim() === ''}>Take it</button></div>
        </form>
    );
}

const NAME = /^[A-Za-z_]\w*$/;

function NewDialog() {
    const it = useStore();
    const [name, setName] = useState('');
    const [level, setLevel] = useState('blueprint');
    const bad = name !== '' && !NAME.test(name) ? 'A name has letters, digits and _, and begins with a letter.' : it.skill(name) ? `There is a skill ${name} already.` : '';
    return (
        <form onSubmit={(event) => {
            event.preventDefault();
            if (!NAME.test(name) || bad !== '') return;
            it.dialog = null;
            it.open(`name: ${name}\nlevel: ${level}\nnodes: {}\n`);
        }}>
            <h2>New blueprint or skill</h2>
            <Field label="Name" value={name} change={setName} bad={bad || undefined} placeholder="welcome" />
            <Choice label="Level" value={level} options={['blueprint', 'behavior_skill', 'motion_skill', 'meta_skill', 'capability'].map((each) => [each, levelName(each)])} change={setLevel} />
            <div className="row end"><button type="button" onClick={close}>Cancel</button><button className="primary" disabled={name === '' || bad !== ''}>Make it</button></div>
        </form>
    );
}

function ExtractDialog() {
    const it = useStore();
    const [name, setName] = useState('');
    const [level, setLevel] = useState('behavior_skill');
    const [problem, setProblem] = useState('');
    return (
        <form onSubmit={(event) => {
            event.preventDefault();
            if (!NAME.test(name)) setProblem('A name has letters, digits and _, and begins with a letter.');
            else void it.extract(name, level).then(setProblem);
        }}>
            <h2>Make a skill of {it.doc?.selection.length ?? 0} nodes</h2>
            <p className="quiet">{it.doc?.selection.join(', ')}</p>
            <Field label="Name of the new skill" value={name} change={setName} placeholder="greet_by_handshake" />
            <Choice label="Level" value={level} options={['meta_skill', 'motion_skill', 'behavior_skill', 'blueprint'].map((each) => [each, levelName(each)])} change={setLevel} />
            {problem && <p className="bad-hint" role="alert">{problem}</p>}
            <div className="row end"><button type="button" onClick={close}>Cancel</button><button className="primary" disabled={name === ''}>Make the skill</button></div>
        </form>
    );
}

function RenameDialog() {
    const it = useStore();
    const from = it.dialog?.name ?? '';
    const [name, setName] = useState(from);
    const [problem, setProblem] = useState('');
    const callers = it.skills.filter((skill) => skill.calls.includes(from)).map((skill) => skill.name);
    return (
        <form onSubmit={(event) => {
            event.preventDefault();
            void it.rename(from, name).then(setProblem);
        }}>
            <h2>Rename {from}</h2>
            <p className="quiet">{callers.length === 0 ? 'Nothing calls it.' : `Its callers follow: ${callers.join(', ')}.`}</p>
            <Field label="New name" value={name} change={setName} />
            {problem && <p className="bad-hint" role="alert">{problem}</p>}
            <div className="row end"><button type="button" onClick={close}>Cancel</button><button className="primary" disabled={name === from || name === ''}>Rename</button></div>
        </form>
    );
}

function OvertakenDialog() {
    const it = useStore();
    const theirs = it.dialog?.text ?? '';
    const version = it.dialog?.version ?? 0;
    return (
        <div>
            <h2>Somebody else saved {it.doc?.graph.name} meanwhile</h2>
            <p>Nothing is lost: lines with − are of their version {version}, lines with + of yours.</p>
            <Comparison before={theirs} after={it.doc?.history.text ?? ''} names={[`Theirs, version ${version}`, 'Yours']} />
            <div className="row end">
                <button onClick={close}>Go on editing</button>
                <button onClick={() => it.takeTheirs(theirs, version)}>Take theirs (yours can be undone to)</button>
                <button className="primary" onClick={() => void it.save({ basedOn: version })}>Save mine as the next version</button>
            </div>
        </div>
    );
}

function CompareDialog() {
    const it = useStore();
    const skill = it.skill(it.dialog?.name ?? '');
    const versions = skill?.versions ?? [];
    const [one, setOne] = useState(String(versions[versions.length - 2] ?? ''));
    const [two, setTwo] = useState(String(versions[versions.length - 1] ?? ''));
    const [texts, setTexts] = useState<Record<string, string>>({});
    useEffect(() => {
        for (const version of [one, two]) {
            if (texts[version] !== undefined || !skill) continue;
            void ask<Answer & { skills?: SkillInfo[] }>('list_skills', { name: `${skill.name}@${version}`, with_text: true }).then((answer) => {
                const found = answer.skills?.[0];
                if (found) setTexts((before) => ({ ...before, [version]: found.text }));
            });
        }
    }, [one, two, skill, texts]);
    const options = versions.map((version): [string, string] => [String(version), `version ${version}`]);
    return (
        <div>
            <h2>Versions of {skill?.name}</h2>
            <div className="row"><Choice label="Before" value={one} options={options} change={setOne} /><Choice label="After" value={two} options={options} change={setTwo} /></div>
            <Comparison before={texts[one] ?? ''} after={texts[two] ?? ''} names={[`version ${one}`, `version ${two}`]} />
            <div className="row end"><button onClick={close}>Close</button></div>
        </div>
    );
}

type Line = { text: string; kind: 'same' | 'removed' | 'added' };

/** Lines of two texts, by their longest common subsequence. */
export function differences(before: string, after: string): Line[] {
    const a = before.split('\n');
    const b = after.split('\n');
    if (a.length * b.length > 4_000_000) return [...a.map((text): Line => ({ text, kind: 'removed' })), ...b.map((text): Line => ({ text, kind: 'added' }))];
    const width = b.length + 1;
    const lengths = new Uint32Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i -= 1) {
        for (let j = b.length - 1; j >= 0; j -= 1) {
            lengths[i * width + j] = a[i] === b[j] ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
        }
    }
    const found: Line[] = [];
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
        if (i < a.length && j < b.length && a[i] === b[j]) {
            found.push({ text: a[i] ?? '', kind: 'same' });
            i += 1;
            j += 1;
        } else if (j >= b.length || (i < a.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))) {
            found.push({ text: a[i] ?? '', kind: 'removed' });
            i += 1;
        } else {
            found.push({ text: b[j] ?? '', kind: 'added' });
            j += 1;
        }
    }
    return found;
}

function Comparison({ before, after, names }: { before: string; after: string; names: [string, string] }) {
    const lines = useMemo(() => differences(before, after), [before, after]);
    const [one, two] = useMemo(() => [readGraph(before), readGraph(after)], [before, after]);
    const found = useMemo(() => compare(one, two), [one, two]);
    const kinds = useMemo(() => new Map(found.nodes.map(({ id, kind }) => [id, kind])), [found]);
    const different = found.nodes.filter(({ kind }) => kind !== 'same');
    return (
        <div className="comparison">
            <div className="compared-pictures">
                {([[one, two, names[0], 'removed'], [two, one, names[1], 'added']] as const).map(([graph, other, name, kind]) => (
                    <figure key={kind}>
                        <figcaption>{name}</figcaption>
                        <Miniature graph={graph} kinds={kinds} links={otherLinks(graph, other)} linkKind={kind} label={`Picture of ${name}`} />
                    </figure>
                ))}
            </div>
            <ul className="legend" aria-label="Legend">
                <li className="added">+ added: thick line</li><li className="removed">− removed: dashed line</li>
                <li className="changed">~ changed: double line</li><li className="same">unchanged: thin line</li>
            </ul>
            <ul className="compared-nodes" aria-label="What differs">
                {different.length === 0 && found.others.length === 0 && <li className="quiet">Nothing that the picture shows.</li>}
                {different.map(({ id, kind, what, words }) => (
                    <li key={id} className={`compared ${kind}`}><b>{SIGNS[kind]} {id}</b> <small>{what}</small> {kind}{words.length > 0 && <ul>{words.map((word) => <li key={word}>{word}</li>)}</ul>}</li>
                ))}
                {found.others.map((word) => <li key={word} className="compared changed">{word}</li>)}
            </ul>
            <p className="quiet">− {names[0]}, + {names[1]}</p>
            <pre className="difference" tabIndex={0} aria-label="Lines">{lines.map((line, n) => <span key={n} className={line.kind}>{line.kind === 'same' ? '  ' : line.kind === 'added' ? '+ ' : '− '}{line.text}{'\n'}</span>)}</pre>
        </div>
    );
}

const SIGNS: Record<Kind, string> = { added: '+', removed: '−', changed: '~', same: '' };

/** A small picture of a graph: what each box is, and how it differs from the other version, in words and by its line. */
function Miniature({ graph, kinds, links, linkKind, label }: { graph: Graph; kinds: Map<string, Kind>; links: Set<string>; linkKind: Kind; label: string }) {
    const picture = useMemo(() => pictureOf(graph, (name) => store.skill(name)), [graph]);
    const [{ places, bends }, setLaid] = useState<Pick<Laid, 'places' | 'bends'>>({ places: {}, bends: {} });
    useEffect(() => {
        let over = false;
        const start = graph.nodes.find((node) => node.isStart)?.id ?? '';
        void ask<Answer & Partial<Laid>>('layout', layoutRequest(picture, start)).then((answer) => {
            if (!over) setLaid({ places: answer.places ?? {}, bends: answer.bends ?? {} });
        });
        return () => { over = true; };
    }, [picture, graph]);
    const boxes = picture.boxes.filter((box) => places[box.id]).map((box) => ({ ...box, x: places[box.id]?.[0] ?? 0, y: places[box.id]?.[1] ?? 0 }));
    const at = new Map(boxes.map((box) => [box.id, box]));
    const right = Math.max(100, ...boxes.map((box) => box.x + box.width));
    const width = right + 80;
    const height = Math.max(60, ...boxes.map((box) => box.y + box.height)) + 80;
    const kindOf = (id: string): Kind => kinds.get(id) ?? 'same';
    const words = boxes.filter((box) => box.node).map((box) => `${box.id}: ${kindOf(box.id) === 'same' ? 'unchanged' : kindOf(box.id)}`).join(', ');
    return (
        <div className="miniature" tabIndex={0} role="group" aria-label={label}>
            <svg viewBox={`-10 -40 ${width} ${height}`} style={{ width: `min(100%, ${Math.round(width * 0.9)}px)`, minWidth: Math.round(width * 0.55) }} role="img" aria-label={`${label}. ${words}`}>
                {picture.links.map((link) => {
                    const a = at.get(link.from);
                    const b = at.get(link.to);
                    if (!a || !b) return null;
                    const [x, y, tx, ty] = [a.x + a.width / 2, a.y + a.height, b.x + b.width / 2, b.y];
                    const isBack = ty < y;
                    const side = right + 24;
                    const path = isBack ? `M${x},${y} C${x},${y + 34} ${side},${y + 34} ${side},${(y + ty) / 2} C${side},${ty - 34} ${tx},${ty - 34} ${tx},${ty}` : bentPath([[x, y], ...(bends[`${link.from}>${link.to}`] ?? []), [tx, ty]])[0];
                    const differs = links.has(`${link.from}>${link.to}`);
                    return (
                        <g key={link.id} className={differs ? `link-${linkKind}` : 'same'}>
                            <path d={path} />
                            <path className="tip" d={`M${tx - 6},${ty - 10} L${tx},${ty} L${tx + 6},${ty - 10}`} />
                            {differs && <text className="kind" x={isBack ? side : (x + tx) / 2} y={(y + ty) / 2 + 4} textAnchor="middle">{SIGNS[linkKind]} link</text>}
                        </g>
                    );
                })}
                {boxes.map((box) => {
                    const kind = box.node ? kindOf(box.id) : 'same';
                    const middle = box.x + box.width / 2;
                    return (
                        <g key={box.id} className={kind}>
                            <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={9} />
                            {kind === 'changed' && <rect className="inner" x={box.x + 4} y={box.y + 4} width={box.width - 8} height={box.height - 8} rx={6} />}
                            <text x={middle} y={box.y + (box.node ? 24 : 20)} textAnchor="middle">{box.node ? box.id : `ends: ${box.end}`}</text>
                            {box.node && <text className="what" x={middle} y={box.y + 41} textAnchor="middle">{box.node.skill || box.node.kind.replace('_', ' ')}</text>}
                            {kind !== 'same' && <text className="kind" x={middle} y={box.y + 58} textAnchor="middle">{SIGNS[kind]} {kind}</text>}
                        </g>
                    );
                })}
            </svg>
        </div>
    );
}

function TakeDialog() {
    const it = useStore();
    return (
        <div>
            <h2>{it.live.people.operator_name || 'Somebody'} operates the robot</h2>
            <p>Take over? They then watch, and this is logged. Stopping is open to all, also without it.</p>
            <div className="row end">
                <button onClick={close}>No</button>
                <button className="primary" onClick={() => {
                    close();
                    void it.do('operate', { take: true, instead_of: it.live.people.operator }, 'You operate now.');
                }}>Take over</button>
            </div>
        </div>
    );
}

function ExpandDialog() {
    const it = useStore();
    const name = it.dialog?.name ?? '';
    const [skills, setSkills] = useState<SkillInfo[]>([]);
    useEffect(() => {
        void ask<Answer & { skills?: SkillInfo[] }>('list_skills', { name, expand: true }).then((answer) => setSkills(answer.skills ?? []));
    }, [name]);
    const tree = (each: string, path: string[]) => {
        const skill = skills.find((one) => one.name === each);
        return (
            <li key={path.join('/')}>
                <strong>{each}</strong> <span className="quiet">{skill ? levelName(skill.level) : ''}{skill?.category ? `, ${skill.category.replace('_', ' ')}` : ''}</span>
                {skill && !path.slice(0, -1).includes(each) && skill.calls.length > 0 && <ul>{[...new Set(skill.calls)].map((call): React.ReactNode => tree(call, [...path, call]))}</ul>}
            </li>
        );
    };
    const own = it.skill(name);
    return (
        <div>
            <h2>{name}, down to its capabilities</h2>
            {own && <p>{own.description}</p>}
            <ul className="tree" tabIndex={0} aria-label="Skills that it is made of">{tree(name, [name])}</ul>
            <div className="row end"><button className="primary" onClick={close}>Close</button></div>
        </div>
    );
}

const KEYS: [string, string][] = [
    ['/', 'find a skill; Enter adds it after the selected node'],
    ['Tab, Shift+Tab', 'go through nodes and links; Enter or Space selects'],
    ['arrow keys', 'move the selected node'],
    ['Enter on a selected node', 'its form'],
    ['M', 'menu of the selected node: start, jump, skip, breakpoint; arrow keys choose'],
    ['F2', 'rename the selected node'],
    ['Delete', 'remove the selection'],
    ['Ctrl+Z, Ctrl+Y', 'undo, redo'],
    ['Ctrl+C, Ctrl+V', 'copy and paste nodes as text'],
    ['Ctrl+A', 'select all nodes'],
    ['F', 'fold the selected nodes into one box; unfold the selected box'],
    ['Ctrl+G', 'make a skill of the selection'],
    ['Ctrl+F', 'find a node'],
    ['Ctrl+S', 'save'],
    ['Ctrl+E', 'picture or text'],
    ['Ctrl+Enter', 'start'],
    ['Alt+0', 'zoom to fit'],
    ['Ctrl+. or Pause', 'STOP, the protective stop: always, also while a dialog is open'],
    ['?', 'this help'],
];

function HelpDialog() {
    return (
        <div>
            <h2>Keys</h2>
            <table className="keys"><tbody>{KEYS.map(([key, what]) => <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{what}</td></tr>)}</tbody></table>
            <p>By mouse: drag a skill into the picture or onto a link; draw from a result at a node’s lower edge to the next node; Shift and drag selects several.</p>
            <div className="row end"><button className="primary" onClick={close}>Close</button></div>
        </div>
    );
}
