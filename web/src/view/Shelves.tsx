import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { store, useStill, useStore } from '../store/store.ts';
import { allKinds } from '../text/node_kinds.ts';
import { dateOf, durationOf, nameOfNode } from '../way.ts';
import type { SkillInfo } from '../wire.ts';
import { levelName } from './Canvas.tsx';
import { ProgramIndex } from './ProgramForms.tsx';
import { Examples } from './Welcome.tsx';

interface Item {
    name: string;
    level: string;
    description: string;
    words: string;
    skill: SkillInfo | null;
}

const ORDER = ['blueprint', 'behavior_skill', 'motion_skill', 'meta_skill', 'built in', 'capability'];

function shelfOf(skill: SkillInfo): string {
    return skill.level === 'capability' && skill.category !== ''
        ? `capability: ${skill.category.replace('_', ' ')}`
        : skill.level;
}

/** Skills by level, category and scenario, with search. Drag one into the picture, or press Enter. */
export function Shelves() {
    const it = useStill();
    const [search, setSearch] = useState('');
    const [closed, setClosed] = useState<ReadonlySet<string>>(
        new Set(['capability: sensing', 'capability: part control']),
    );
    const box = useRef<HTMLInputElement>(null);
    useEffect(() => {
        const focus = (): void => box.current?.focus();
        window.addEventListener('find-skill', focus);
        return () => window.removeEventListener('find-skill', focus);
    }, []);
    const shelves = useMemo(() => {
        const isProgram = it.docs.doc?.graph.isProgram ?? false;
        const words = search.toLowerCase().split(/\s+/).filter(Boolean);
        const fits = (item: Item): boolean => words.every((word) => item.words.includes(word));
        const found = new Map<string, Item[]>();
        const put = (shelf: string, item: Item): void => {
            if (fits(item)) found.set(shelf, [...(found.get(shelf) ?? []), item]);
        };
        for (const skill of isProgram ? it.library.forStates : it.library.skills) {
            const words = [
                skill.name,
                it.library.shown(skill.name),
                skill.name.replaceAll('_', ' '),
                skill.description,
                ...skill.tags,
                skill.level,
                ...skill.scenarios,
            ]
                .join(' ')
                .toLowerCase();
            const item: Item = { name: skill.name, level: skill.level, description: skill.description, words, skill };
            for (const scenario of skill.scenarios) put(`for ${scenario}`, item);
            put(shelfOf(skill), item);
        }
        if (!isProgram)
            for (const { name, doc: description } of allKinds())
                put('built in', {
                    name,
                    level: 'built_in',
                    description,
                    words: `${name} ${name.replace('_', ' ')} ${description}`.toLowerCase(),
                    skill: null,
                });
        const rank = (shelf: string): number =>
            shelf.startsWith('for ') || (isProgram && shelf.startsWith('capability'))
                ? -1
                : ORDER.findIndex((each) => shelf.startsWith(each));
        return [...found].sort((a, b) => rank(a[0]) - rank(b[0]) || a[0].localeCompare(b[0]));
    }, [it.library.skills, it.library.forStates, search, it.docs.doc?.graph.isProgram]);
    const all = shelves.flatMap(([, items]) => items);

    return (
        <div className="shelves">
            <input
                ref={box}
                className="search"
                type="search"
                placeholder="Find a skill"
                aria-label="Find a skill; Enter adds the first one found"
                value={search}
                onChange={(event) => setSearch(event.target.value)}
                onKeyDown={(event) => {
                    const first = all.find((item) => item.name === search.trim()) ?? all[0];
                    if (event.key === 'Enter' && first && search !== '' && !store.me.onlyWatches)
                        store.building.add(first.name);
                    if (event.key === 'Escape') setSearch('');
                    if (event.key === 'ArrowDown') {
                        event.preventDefault();
                        document.querySelector<HTMLButtonElement>('.skill-item')?.focus();
                    }
                }}
            />
            {shelves.length === 0 && <p className="quiet">No skill has these words.</p>}
            {shelves.map(([shelf, items]) => {
                const isOpen =
                    search !== '' ||
                    (it.docs.doc?.graph.isProgram ? !closed.has(`in programs ${shelf}`) : !closed.has(shelf));
                return (
                    <section key={shelf} className="shelf">
                        <h3>
                            <button
                                className="shelf-title"
                                aria-expanded={isOpen}
                                onClick={() =>
                                    setClosed((before) => {
                                        const next = new Set(before);
                                        const key = it.docs.doc?.graph.isProgram ? `in programs ${shelf}` : shelf;
                                        if (!next.delete(key)) next.add(key);
                                        return next;
                                    })
                                }>
                                {isOpen ? '▾' : '▸'}{' '}
                                {shelf.startsWith('for ') || shelf.includes(':')
                                    ? shelf
                                    : `${levelName(shelf)}${shelf === 'built in' ? '' : 's'}`}{' '}
                                <span className="quiet">{items.length}</span>
                            </button>
                        </h3>
                        {isOpen && items.map((item) => <SkillItem key={item.name} item={item} />)}
                    </section>
                );
            })}
        </div>
    );
}

const SkillItem = memo(function SkillItem({ item }: { item: Item }) {
    const skill = item.skill;
    const needs = skill
        ? [
              skill.description,
              skill.parts.length > 0 && `Parts: ${skill.parts.join(', ')}`,
              skill.parameters.length > 0 &&
                  `Takes: ${skill.parameters.map((p) => p.name + (p.unit ? ` [${p.unit}]` : '')).join(', ')}`,
              skill.results.length > 0 && `Results: ${[...skill.results, ...skill.failures].join(', ')}`,
              skill.outputs.length > 0 &&
                  `Gives: ${skill.outputs.map((o) => o.name + (o.unit ? ` [${o.unit}]` : '')).join(', ')}`,
              skill.runs > 0 && `Ran ${skill.runs} times, ${skill.succeeded} with success`,
              skill.problem && `Broken: ${skill.problem}`,
          ]
              .filter(Boolean)
              .join('\n')
        : item.description;
    return (
        <div className={`skill-row level-${item.level}`}>
            <button
                className={skill?.problem ? 'skill-item broken' : 'skill-item'}
                draggable={!store.me.onlyWatches}
                title={needs}
                onDragStart={(event) => {
                    event.dataTransfer.setData('application/x-skill', item.name);
                    event.dataTransfer.effectAllowed = 'copy';
                }}
                onDoubleClick={() => store.me.onlyWatches || store.building.add(item.name)}
                onKeyDown={(event) => {
                    if (event.key === 'Enter' && !store.me.onlyWatches) {
                        event.preventDefault();
                        store.building.add(item.name);
                    }
                    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
                        event.preventDefault();
                        const list = [...document.querySelectorAll<HTMLButtonElement>('.skill-item')];
                        const at = list.indexOf(event.currentTarget);
                        list[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
                    }
                }}>
                <span className="skill-name">{store.library.shown(item.name)}</span>
                <span className="skill-description">{item.description}</span>
            </button>
            {!store.me.onlyWatches && (
                <button
                    className="small add-skill"
                    aria-label={`Add ${item.name}`}
                    title="Add it after the selected node"
                    onClick={() => store.building.add(item.name)}>
                    +
                </button>
            )}
            {skill && (
                <button
                    className="small"
                    aria-label={`Open ${item.name}`}
                    title="Open it"
                    onClick={() => void store.versions.openSkill(item.name)}>
                    ↗
                </button>
            )}
        </div>
    );
});

function allVersions({ name, versions }: SkillInfo): string {
    return `${versions.length === 1 ? 'the only version' : `all ${versions.length} versions`} of ${name}`;
}

/** What is kept: blueprints and skills, programs, runs of the past. */
export function Files() {
    const it = useStill();
    const programs = new Set(it.library.programs.map((program) => program.name));
    // Until the programs are known, a click on one would open it as a skill.
    const isKnown = it.library.knowsPrograms;
    const own = (isKnown ? it.library.skills : []).filter(
        (skill) => (skill.origin === 'store' || skill.origin === 'library') && !programs.has(skill.name),
    );
    return (
        <div className="files">
            {!it.me.onlyWatches && (
                <button className="primary wide" onClick={() => it.talk.show({ kind: 'new' })}>
                    New blueprint
                </button>
            )}
            <section className="shelf">
                <h3>Blueprints and skills</h3>
                {own.length === 0 && (
                    <p className="quiet">{isKnown ? 'None is kept yet.' : 'Reading what is kept …'}</p>
                )}
                {own.map((skill) => (
                    <div key={skill.name} className={`skill-row level-${skill.level}`}>
                        <button
                            className="skill-item"
                            onClick={() => void it.versions.openSkill(skill.name)}
                            title={skill.problem || skill.description}>
                            <span className="skill-name">{it.library.shown(skill.name)}</span>
                            <span className="skill-description">
                                {skill.problem
                                    ? 'draft with mistakes'
                                    : `${levelName(skill.level)}, version ${skill.version}`}
                            </span>
                        </button>
                        {skill.origin === 'store' && (
                            <>
                                {!it.me.onlyWatches && (
                                    <button
                                        className="small"
                                        aria-label={`Rename ${skill.name}`}
                                        title="Rename; callers follow"
                                        onClick={() => it.talk.show({ kind: 'rename', name: skill.name })}>
                                        ✎
                                    </button>
                                )}
                                {skill.versions.length > 1 && (
                                    <button
                                        className="small"
                                        aria-label={`Compare versions of ${skill.name}`}
                                        title="Compare versions"
                                        onClick={() => it.talk.show({ kind: 'compare', name: skill.name })}>
                                        ≠
                                    </button>
                                )}
                                {!it.me.onlyWatches && (
                                    <button
                                        className="small"
                                        aria-label={`Delete ${skill.name}`}
                                        title="Delete all versions"
                                        onClick={() =>
                                            it.talk.confirm(
                                                `Delete ${allVersions(skill)}? They stay in the bin for 30 days.`,
                                                'Delete',
                                                () => void it.shelf.deleteSkill(skill.name),
                                            )
                                        }>
                                        ×
                                    </button>
                                )}
                            </>
                        )}
                    </div>
                ))}
            </section>
            {!it.me.onlyWatches && (
                <section className="shelf">
                    <h3>Examples</h3>
                    <Examples />
                </section>
            )}
            <Bin />
            <ProgramIndex />
        </div>
    );
}

/** What was deleted, and can be brought back. */
function Bin() {
    const it = useStill();
    const [isOpen, setIsOpen] = useState(false);
    useEffect(() => {
        if (isOpen) void it.shelf.loadBin();
    }, [it, it.library.skills, isOpen]);
    return (
        <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
            <summary>Bin</summary>
            {it.shelf.bin.length === 0 && <p className="quiet">It is empty. What is deleted stays here for 30 days.</p>}
            {it.shelf.bin.map((skill) => (
                <div key={skill.name} className="skill-row">
                    <span className="skill-item">
                        <span className="skill-name">{skill.name}</span>
                        <span className="skill-description">
                            version {skill.versions.join(', ')}
                            {skill.saved && `, deleted ${new Date(skill.saved.sec * 1000).toLocaleDateString()}`}
                        </span>
                    </span>
                    {it.me.mayOperate && (
                        <button
                            aria-label={`Restore ${skill.name}`}
                            onClick={() => void it.shelf.restoreSkill(skill.name)}>
                            Restore
                        </button>
                    )}
                </div>
            ))}
        </details>
    );
}

export function Runs() {
    const it = useStore();
    useEffect(() => void it.runs.load(), [it, it.runs.run?.state]);
    return (
        <div className="files" aria-busy={!it.runs.isRead}>
            <section className="shelf">
                <h3>Runs</h3>
                {it.runs.past.length === 0 && !it.runs.isRead && <p className="quiet">Reading the logs …</p>}
                {it.runs.past.length === 0 && it.runs.isRead && <p className="quiet">Nothing has run yet.</p>}
                {it.runs.past.map((run) => (
                    <div key={run.run} className="skill-row">
                        <button
                            className="skill-item"
                            title={`${run.run}, started by ${run.source}`}
                            onClick={() => void it.versions.openReplay(run)}>
                            <span className="skill-name">{run.title || run.skill || run.run}</span>
                            <span className="skill-description">
                                {[dateOf(run), durationOf(run)].filter(Boolean).join(', ')}
                                {run.rehearsed && ', rehearsed'}
                            </span>
                            <span className="skill-description">
                                {run.result ||
                                    (run.interrupted_at
                                        ? `interrupted at ${nameOfNode(run.interrupted_at, run.skill)}`
                                        : 'runs')}
                                {run.reason ? `: ${run.reason}` : ''}
                            </span>
                        </button>
                    </div>
                ))}
            </section>
        </div>
    );
}
