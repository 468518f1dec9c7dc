import { memo, useEffect, useMemo, useRef, useState } from 'react';
import { later, t } from '../language/language.ts';
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

const TITLES: Record<string, string> = {
    blueprint: later('blueprints'),
    behavior_skill: later('behavior skills'),
    motion_skill: later('motion skills'),
    meta_skill: later('meta skills'),
    'built in': later('built in'),
    capability: later('capabilities'),
};
/** Categories of capabilities: blueprint/text/levels.py. */
const CATEGORIES: Record<string, string> = {
    sensing: later('sensing'),
    analysis: later('analysis'),
    'part control': later('part control'),
    'path planning': later('path planning'),
};

function shelfTitle(shelf: string): string {
    if (shelf.startsWith('for ')) return t('for {scenario}', { scenario: shelf.slice(4) });
    const [level = '', category] = shelf.split(': ');
    return category === undefined
        ? t(TITLES[level] ?? level)
        : `${t('capability')}: ${t(CATEGORIES[category] ?? category)}`;
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
            for (const { name, doc: english } of allKinds()) {
                const words = name.replace('_', ' ');
                put('built in', {
                    name,
                    level: 'built_in',
                    description: t(english),
                    words: [name, words, english, t(words), t(english)].join(' ').toLowerCase(),
                    skill: null,
                });
            }
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
                placeholder={t('Find a skill')}
                aria-label={t('Find a skill; Enter adds the first one found')}
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
            {shelves.length === 0 && <p className="quiet">{t('No skill has these words.')}</p>}
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
                                {isOpen ? '▾' : '▸'} {shelfTitle(shelf)} <span className="quiet">{items.length}</span>
                            </button>
                        </h3>
                        {isOpen && items.map((item) => <SkillItem key={item.name} item={item} />)}
                    </section>
                );
            })}
        </div>
    );
}

function withUnits(all: readonly { name: string; unit: string }[]): string {
    return all.map(({ name, unit }) => name + (unit ? ` [${unit}]` : '')).join(', ');
}

const SkillItem = memo(function SkillItem({ item }: { item: Item }) {
    const skill = item.skill;
    const needs = skill
        ? [
              skill.description,
              skill.parts.length > 0 && t('Parts: {list}', { list: skill.parts.join(', ') }),
              skill.parameters.length > 0 && t('Takes: {list}', { list: withUnits(skill.parameters) }),
              skill.results.length > 0 &&
                  t('Results: {list}', { list: [...skill.results, ...skill.failures].join(', ') }),
              skill.outputs.length > 0 && t('Gives: {list}', { list: withUnits(skill.outputs) }),
              skill.runs > 0 &&
                  t('Ran {n} time, {good} with success|Ran {n} times, {good} with success', {
                      n: skill.runs,
                      good: skill.succeeded,
                  }),
              skill.problem && t('Broken: {why}', { why: skill.problem }),
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
                    aria-label={t('Add {name}', { name: item.name })}
                    title={t('Add it after the selected node')}
                    onClick={() => store.building.add(item.name)}>
                    +
                </button>
            )}
            {skill && (
                <button
                    className="small"
                    aria-label={t('Open {name}', { name: item.name })}
                    title={t('Open it')}
                    onClick={() => void store.versions.openSkill(item.name)}>
                    ↗
                </button>
            )}
        </div>
    );
});

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
                    {t('New blueprint')}
                </button>
            )}
            <section className="shelf">
                <h3>{t('Blueprints and skills')}</h3>
                {own.length === 0 && (
                    <p className="quiet">{t(isKnown ? 'None is kept yet.' : 'Reading what is kept …')}</p>
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
                                    ? t('draft with mistakes')
                                    : t('{level}, version {version}', {
                                          level: levelName(skill.level),
                                          version: skill.version,
                                      })}
                            </span>
                        </button>
                        {skill.origin === 'store' && (
                            <>
                                {!it.me.onlyWatches && (
                                    <button
                                        className="small"
                                        aria-label={t('Rename {name}', { name: skill.name })}
                                        title={t('Rename; callers follow')}
                                        onClick={() => it.talk.show({ kind: 'rename', name: skill.name })}>
                                        ✎
                                    </button>
                                )}
                                {skill.versions.length > 1 && (
                                    <button
                                        className="small"
                                        aria-label={t('Compare versions of {name}', { name: skill.name })}
                                        title={t('Compare versions')}
                                        onClick={() => it.talk.show({ kind: 'compare', name: skill.name })}>
                                        ≠
                                    </button>
                                )}
                                {!it.me.onlyWatches && <DeleteSkill skill={skill} />}
                            </>
                        )}
                    </div>
                ))}
            </section>
            {!it.me.onlyWatches && (
                <section className="shelf">
                    <h3>{t('Examples')}</h3>
                    <Examples />
                </section>
            )}
            <Bin />
            <ProgramIndex />
        </div>
    );
}

function DeleteSkill({ skill }: { skill: SkillInfo }) {
    const it = useStill();
    const question = t(
        'Delete the only version of {name}? It stays in the bin for 30 days.|' +
            'Delete all {n} versions of {name}? They stay in the bin for 30 days.',
        { n: skill.versions.length, name: skill.name },
    );
    return (
        <button
            className="small"
            aria-label={t('Delete {name}', { name: skill.name })}
            title={t('Delete all versions')}
            onClick={() => it.talk.confirm(question, t('Delete'), () => void it.shelf.deleteSkill(skill.name))}>
            ×
        </button>
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
            <summary>{t('Bin')}</summary>
            {it.shelf.bin.length === 0 && (
                <p className="quiet">{t('It is empty. What is deleted stays here for 30 days.')}</p>
            )}
            {it.shelf.bin.map((skill) => (
                <div key={skill.name} className="skill-row">
                    <span className="skill-item">
                        <span className="skill-name">{skill.name}</span>
                        <span className="skill-description">
                            {t('version {version}', { version: skill.versions.join(', ') })}
                            {skill.saved &&
                                t(', deleted {date}', { date: new Date(skill.saved.sec * 1000).toLocaleDateString() })}
                        </span>
                    </span>
                    {it.me.mayOperate && (
                        <button
                            aria-label={t('Restore {name}', { name: skill.name })}
                            onClick={() => void it.shelf.restoreSkill(skill.name)}>
                            {t('Restore')}
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
                <h3>{t('Runs')}</h3>
                {it.runs.past.length === 0 && !it.runs.isRead && <p className="quiet">{t('Reading the logs …')}</p>}
                {it.runs.past.length === 0 && it.runs.isRead && <p className="quiet">{t('Nothing has run yet.')}</p>}
                {it.runs.past.map((run) => (
                    <div key={run.run} className="skill-row">
                        <button
                            className="skill-item"
                            title={t('{run}, started by {who}', { run: run.run, who: run.source })}
                            onClick={() => void it.versions.openReplay(run)}>
                            <span className="skill-name">{run.title || run.skill || run.run}</span>
                            <span className="skill-description">
                                {[dateOf(run), durationOf(run)].filter(Boolean).join(', ')}
                                {run.rehearsed && `, ${t('rehearsed')}`}
                            </span>
                            <span className="skill-description">
                                {run.result ||
                                    (run.interrupted_at
                                        ? t('interrupted at {node}', {
                                              node: nameOfNode(run.interrupted_at, run.skill),
                                          })
                                        : t('runs'))}
                                {run.reason ? `: ${run.reason}` : ''}
                            </span>
                        </button>
                    </div>
                ))}
            </section>
        </div>
    );
}
