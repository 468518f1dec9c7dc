// All that the page knows. Components read it through `useStore`, and change it by calling its methods.

import { useSyncExternalStore } from 'react';

import {
    type ActionType, type Answer, ask, type Live, type LiveNode, LiveSocket, type LogRecord, NotEntered, type ParameterInfo, type PartInfo, type Person, type ProgramInfo,
    type Refusal, type RunInfo, type SaveAnswer, type SkillInfo,
} from './server.ts';
import { type Draft, DRAFTS, DraftStore } from './drafts.ts';
import { programNames } from './program_names.ts';
import { contentOf, contentOfText, type Ran, ranAs } from './ran.ts';
import type { Uses } from './program_live.ts';
import { stateContent, statesOf, usesOf } from './program_shelf.ts';
import {
    addNode, copyNodes, deleteNodes, extractSkill, freeId, insertOnLink, moveNode, type OutputType, pasteNodes, renameSkill,
} from './text/blueprint_edits.ts';
import { callsOf, EMPTY, type Graph, readGraph } from './text/graph.ts';
import { fold, foldOf, foldsOf, tidyFolds, unfold } from './text/folds.ts';
import { begin, edit, type History, redo, undo } from './text/history.ts';
import { placeOfMistake } from './text/mistake_place.ts';
import { placeOfLine } from './text/program_edits.ts';
import { type Path, set, type Value } from './text/yaml_edit.ts';

export interface Mistake {
    line: number;
    node: string;
    text: string;
    warning: boolean;
    /** The field that it concerns; empty: none, or a program's. */
    place: Path;
}

export interface Doc {
    key: number;
    history: History;
    /** The name and version that it was made from; 0: none. */
    savedName: string;
    basedOn: number;
    savedText: string;
    readOnly: boolean;
    graph: Graph;
    /** The last picture that could be read: a text with a slip while somebody types still has one. */
    shown: Graph;
    mistakes: Mistake[];
    checked: string;
    selection: string[];
    link: { node: string; index: number } | null;
}

/** What the layout said. */
export interface Laid {
    structure: string;
    places: Record<string, [number, number]>;
    /** Points of a link between its ends, by "from>to". */
    bends: Record<string, [number, number][]>;
}

export interface Replay {
    run: string;
    records: LogRecord[];
    at: number;
}

export interface Dialog {
    kind: 'overtaken' | 'extract' | 'rename' | 'help' | 'compare' | 'take' | 'new' | 'new_program' | 'expand' | 'commands' | 'confirm' | 'name';
    text?: string;
    version?: number;
    name?: string;
    /** Of a question: the button that means yes, and what it does. */
    label?: string;
    act?: () => void;
}

export interface Notice {
    text: string;
    bad: boolean;
    id: number;
    undo?: () => void;
}

/** [ms] for which STOP is sent again until it is confirmed, between two, and for an answer. */
const STOP_MS = 20_000;
const STOP_AGAIN_MS = 300;
const STOP_ANSWER_MS = 5_000;
/** [s] of silence of the editor after which the page says so, and after which it connects anew. */
const SILENT_S = 1;
const DEAF_S = 5;
const LOOK_MS = 200;

export class Store {
    version = 0;
    /** Of all but what is live. */
    stillVersion = 0;
    me: Person | null = null;
    refused = '';
    connected = false;
    everConnected = false;
    live: Live = { blueprints: {}, robot: {}, people: { operator: '', operator_name: '', here: [], log: [] }, programs_changed: 0 };
    skills: SkillInfo[] = [];
    programs: ProgramInfo[] = [];
    /** The library of actions: states of programs are made of them. */
    types = new Map<string, ActionType>();
    variables: { name: string; unit: string; description: string }[] = [];
    parts: PartInfo[] = [];
    /** What a motion command of a program can have. */
    motionKeys: ParameterInfo[] = [];
    docs: Doc[] = [];
    active = 0;
    view: 'picture' | 'text' = 'picture';
    places = new Map<number, Laid>();
    runs: RunInfo[] = [];
    /** Whether the logs have been read once. */
    hasRuns = false;
    log: { run: string; records: LogRecord[] } = { run: '', records: [] };
    replay: Replay | null = null;
    dialog: Dialog | null = null;
    notice: Notice | null = null;
    /** Whether STOP was pressed and is not confirmed yet, and why the last attempt was not. */
    stopping = false;
    stopProblem = '';
    /** [s] without a word of the editor, from SILENT_S on; 0: it speaks. */
    silence = 0;
    /** What other pages of this browser have changed and not saved. */
    othersDrafts: Draft[] = [];
    bin: SkillInfo[] = [];
    watched: string[] = [];
    breakpoints: Record<string, string[]> = {};
    fitWanted = 0;

    private listeners = new Set<() => void>();
    private socket: LiveSocket | null = null;
    private keys = 0;
    private checkTimer: ReturnType<typeof setTimeout> | undefined;
    private skillsSeen = -1;
    private programsSeen = -1;
    private readonly later = new Map<string, number>();
    private readonly drafts = new DraftStore();
    private hasRoom = true;
    /** "tour@2" → its text; null: it is asked for, or not there. */
    private readonly keptTexts = new Map<string, string | null>();
    private shownNodes: { of: Live | null; run: string | undefined; nodes: LiveNode[] } = { of: null, run: undefined, nodes: [] };

    subscribe = (listener: () => void): (() => void) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    };

    changed(isLive = false): void {
        this.followRun();
        this.version += 1;
        if (!isLive) this.stillVersion += 1;
        for (const listener of this.listeners) listener();
    }

    // --- coming in ------------------------------------------------------------------------------

    async enter(): Promise<void> {
        const token = new URLSearchParams(location.hash.slice(1)).get('token');
        if (token !== null) {
            history.replaceState(null, '', location.pathname);
            const name = localStorage.getItem('robot_rt_control.name') ?? '';
            const answer = await ask<Answer & Person>('enter', { token, name });
            if (!answer.success) this.refused = answer.message;
        }
        try {
            const me = await ask<Answer & Person>('me');
            if (!me.success) throw new NotEntered(me.message);
            this.me = { id: me.id, name: me.name, may_operate: me.may_operate };
            this.refused = '';
        } catch (error) {
            this.refused = this.refused || (error as Error).message;
            this.changed();
            return;
        }
        await this.restore();
        this.socket = new LiveSocket(
            (live) => this.takeLive(live),
            (connected) => {
                if (!connected) void this.again();
                this.connected = connected;
                this.everConnected ||= connected;
                this.changed();
            },
            () => ({ variables: this.watched, run: this.log.run, records: this.log.records.length }),
        );
        let looked = performance.now();
        setInterval(() => {
            const late = performance.now() - looked > 2 * LOOK_MS; // this page itself was busy: what came waits for it
            looked = performance.now();
            const silence = late ? 0 : this.socket?.silence ?? 0;
            const shown = silence < SILENT_S ? 0 : Math.floor(silence);
            if (silence > DEAF_S) this.socket?.again();
            if (shown !== this.silence && !late) {
                this.silence = shown;
                this.changed();
            }
        }, LOOK_MS);
        this.changed();
        void this.loadWorkcell();
    }

    /** The socket was closed, or refused: another server does not know this page. */
    private async again(): Promise<void> {
        try {
            await ask<Answer>('me');
        } catch (error) {
            this.refused = (error as Error).message;
            this.changed();
        }
    }

    private readonly loaded = new Set<string>();

    /** Whether skills, programs and what the workcell has are here. */
    get isLoaded(): boolean {
        return this.loaded.size === 3;
    }

    /** Ask again in a second for what was not answered: the robot may still be coming up. */
    private retry(what: string, load: () => Promise<void>): void {
        window.clearTimeout(this.later.get(what));
        this.later.set(what, window.setTimeout(() => void load(), 1000));
    }

    private async loadWorkcell(): Promise<void> {
        const [parts, variables, types] = await Promise.all([
            ask<Answer & { parts?: Store['parts'] }>('parts'),
            ask<Answer & { variables?: Store['variables'] }>('variables'),
            ask<Answer & { action_types?: ActionType[]; motion_command?: ParameterInfo[] }>('action_types'),
        ]);
        if (!parts.parts || !variables.variables || !types.action_types) this.retry('workcell', () => this.loadWorkcell());
        else this.loaded.add('workcell');
        this.parts = parts.parts ?? [];
        this.variables = variables.variables ?? [];
        this.types = new Map((types.action_types ?? []).map((type) => [type.name, type]));
        this.motionKeys = types.motion_command ?? [];
        this.changed();
    }

    // --- live -----------------------------------------------------------------------------------

    private takeLive(live: Live): void {
        this.live = live;
        const count = live.blueprints.skills_changed ?? -1;
        if (count !== this.skillsSeen) {
            this.skillsSeen = count;
            void this.loadSkills();
        }
        if (live.programs_changed !== this.programsSeen) {
            this.programsSeen = live.programs_changed;
            void this.loadPrograms();
        }
        if (live.log) this.takeLog(live.log);
        this.changed(true);
    }

    async loadSkills(): Promise<void> {
        const answer = await ask<Answer & { skills?: SkillInfo[] }>('list_skills', {});
        if (answer.success) {
            this.skills = answer.skills ?? [];
            this.loaded.add('skills');
            this.changed();
            this.check();
        } else this.retry('skills', () => this.loadSkills());
    }

    async loadPrograms(): Promise<void> {
        const answer = await ask<Answer & { programs?: ProgramInfo[] }>('list_programs', { with_text: true });
        if (answer.success) {
            this.programs = answer.programs ?? [];
            this.loaded.add('programs');
        } else this.retry('programs', () => this.loadPrograms());
        this.changed();
    }

    async loadRuns(): Promise<void> {
        const answer = await ask<Answer & { lines?: string[] }>('read_runs', { at_most: 200 });
        if (answer.success) {
            this.runs = (answer.lines ?? []).map((line) => JSON.parse(line) as RunInfo);
            this.hasRuns = true;
        } else this.retry('runs', () => this.loadRuns());
        this.changed();
    }

    /** Ask for the log of the run that is shown, if that is another one now. */
    private followRun(): void {
        const run = this.run?.run;
        if (run === undefined || run === this.log.run) return;
        this.log = { run, records: [] };
        this.socket?.tell();
    }

    private takeLog({ run, first, lines }: NonNullable<Live['log']>): void {
        if (run !== this.log.run || first > this.log.records.length) return;
        const records = lines.map((line) => JSON.parse(line) as LogRecord);
        this.log = { run, records: [...this.log.records.slice(0, first), ...records] };
    }

    /** All runs that are under way, and the last ones. */
    get runsNow() {
        return (this.live.blueprints.nodes ?? []).filter((node) => node.path === '');
    }

    /** The run that a person wants to see, if there are several. */
    chosenRun = '';

    /** The run that is shown: one under way, or the last one. */
    get run() {
        const runs = (this.live.blueprints.nodes ?? []).filter((node) => node.path === '');
        const chosen = runs.find((node) => node.run === this.chosenRun);
        if (chosen) return chosen;
        const mine = runs.find((node) => node.state !== 'ended' && base(node.does) === this.doc?.graph.name);
        return mine ?? runs.find((node) => node.state !== 'ended') ?? runs[runs.length - 1];
    }

    get nodes() {
        const run = this.run?.run;
        if (this.shownNodes.of !== this.live || this.shownNodes.run !== run) {
            const found = (this.live.blueprints.nodes ?? []).filter((node) => node.run === run && node.path !== '');
            const same = JSON.stringify(found) === JSON.stringify(this.shownNodes.nodes);
            this.shownNodes = { of: this.live, run, nodes: same ? this.shownNodes.nodes : found };
        }
        return this.shownNodes.nodes;
    }

    get operates(): boolean {
        return this.me !== null && this.live.people.operator === this.me.id;
    }

    /** The path of the shown graph in the run; null: it is not in it, or what runs is another version of it. */
    get prefix(): string | null {
        const path = this.pathInRun;
        return path !== null && !this.isDrawn(this.log.records) ? null : path;
    }

    /** Whether the run has a graph of the shown name. */
    get inRun(): boolean {
        return this.pathInRun !== null;
    }

    private get pathInRun(): string | null {
        const name = this.doc?.shown.name;
        const run = this.run;
        if (name === undefined || name === '' || !run) return null;
        if (base(run.does) === name) return '';
        const inside = [...this.nodes].reverse().find((node) => base(node.does) === name);
        if (inside) return inside.path;
        const called = [...this.log.records].reverse().find((r) => r.what === 'call' && base(String(r.skill)) === name);
        return called ? String(called.path) : null;
    }

    /** What ran under the name of the shown document. */
    ran(records: readonly LogRecord[]): Ran | null {
        return ranAs(records, this.doc?.shown.name ?? '');
    }

    /** How what is shown differs from what runs, or ran in the replay: 'other'; 'pending': its text is awaited; 'unknown': the log does not say. */
    comparedWith(records: readonly LogRecord[]): 'same' | 'other' | 'pending' | 'unknown' {
        const doc = this.doc;
        if (!doc || doc.shown.isProgram) return 'unknown';
        if (records.length === 0) return 'pending';
        const ran = this.ran(records);
        if (!ran || (ran.text === null && ran.version === 0)) return 'unknown';
        let text = ran.text;
        if (text === null && ran.version === doc.basedOn && doc.savedName === doc.shown.name) text = doc.savedText;
        if (text === null) {
            const reference = `${doc.shown.name}@${ran.version}`;
            const kept = this.keptTexts.get(reference);
            if (kept === undefined) void this.loadText(reference);
            if (kept === undefined || kept === null) return kept === null && !this.textsAsked.has(reference) ? 'unknown' : 'pending';
            text = kept;
        }
        return contentOfText(text) === contentOf(doc.shown) ? 'same' : 'other';
    }

    private isDrawn(records: readonly LogRecord[]): boolean {
        return ['same', 'unknown'].includes(this.comparedWith(records));
    }

    private readonly textsAsked = new Set<string>();

    private async loadText(reference: string): Promise<void> {
        this.keptTexts.set(reference, null);
        this.textsAsked.add(reference);
        const answer = await ask<Answer & { skills?: SkillInfo[] }>('list_skills', { name: reference, with_text: true });
        this.keptTexts.set(reference, answer.skills?.[0]?.text || null);
        this.textsAsked.delete(reference);
        this.changed();
    }

    /** The highest version that is kept of what a document was made from; 0: there is none. */
    newestOf(doc: Doc): number {
        const found = doc.graph.isProgram ? this.programs.find((each) => each.name === doc.savedName) : this.byName.get(doc.savedName);
        return found ? Math.max(found.version, ...found.versions) : 0;
    }

    /** Show what ran, in a document of its own if it is not shown already. */
    async openRan(records: readonly LogRecord[]): Promise<void> {
        const name = String(records.find((record) => record.what === 'run')?.skill ?? '');
        const ran = ranAs(records, name);
        if (!ran) return;
        await this.openVersion(name, ran);
    }

    async openVersion(name: string, { text, version }: Ran): Promise<void> {
        const open = this.docs.findIndex((doc) => (text !== null ? contentOf(doc.shown) === contentOfText(text)
            : doc.savedName === name && doc.basedOn === version && contentOf(doc.shown) === contentOfText(doc.savedText)));
        if (open >= 0) this.activate(open);
        else if (text !== null) this.open(text, { savedText: text, readOnly: true });
        else {
            const isNewest = version === 0 || version === this.byName.get(name)?.version;
            const isOpen = this.docs.some((doc) => doc.savedName === name);
            await this.openSkill(isNewest && !isOpen ? name : version === 0 ? name : `${name}@${version}`);
        }
    }

    /** Go on with the version that was saved meanwhile; changes of one's own are shown beside it first. */
    async openNewest(): Promise<void> {
        const doc = this.doc;
        if (!doc) return;
        const isProgram = doc.graph.isProgram;
        const answer = await this.do<Answer & { skills?: SkillInfo[]; programs?: ProgramInfo[] }>(isProgram ? 'list_programs' : 'list_skills', { name: doc.savedName, with_text: true });
        const found = (answer.skills ?? answer.programs)?.[0];
        if (!found) return;
        if (doc.readOnly) await (isProgram ? this.openProgram(doc.savedName) : this.openSkill(doc.savedName));
        else if (doc.history.text === doc.savedText) this.takeTheirs(found.text, found.version);
        else {
            this.dialog = { kind: 'overtaken', text: found.text, version: found.version };
            this.changed();
        }
    }

    watchVariables(names: string[]): void {
        this.watched = names;
        this.socket?.tell();
        this.changed();
    }

    // --- asking ---------------------------------------------------------------------------------

    say(text: string, bad = false, undo?: () => void): void {
        this.notice = { text, bad, id: (this.notice?.id ?? 0) + 1, ...(undo && { undo }) };
        this.changed();
    }

    /** Ask before something is done that cannot easily be undone. */
    confirm(text: string, label: string, act: () => void): void {
        this.dialog = { kind: 'confirm', text, label, act };
        this.changed();
    }

    /** The protective stop, whatever the state of the page: it is sent again until it is confirmed. */
    async stop(): Promise<void> {
        if (this.stopping) return;
        this.stopping = true;
        this.stopProblem = '';
        this.changed();
        const until = performance.now() + STOP_MS;
        for (;;) {
            const answer = await ask<Answer>('protective_stop', { stop: true }, STOP_ANSWER_MS);
            if (answer.success) {
                this.stopping = false;
                this.stopProblem = '';
                this.say('Protective stop.');
                return;
            }
            this.stopProblem = answer.message;
            this.stopping = performance.now() < until;
            this.changed();
            if (!this.stopping) return;
            await new Promise((resolve) => setTimeout(resolve, STOP_AGAIN_MS));
        }
    }

    /** Whether the stop of editors' pages is latched, or one of a robot that does not tell them apart. */
    get isStoppedHere(): boolean {
        const { stops, protective_stop: stopped } = this.live.robot;
        if (stops !== undefined && stops.length > 0) return stops.some((stop) => stop.source === 'editor');
        return stopped === true || this.live.blueprints.protective_stop === true;
    }

    /** Ask for something, and show why not. */
    async do<T extends Answer>(name: string, request: object, done = ''): Promise<T> {
        const answer = await ask<T>(name, request);
        if (!answer.success) {
            if (answer.message.includes('take over first') && this.me?.may_operate) this.dialog = { kind: 'take' };
            this.say(answer.message, true);
        } else if (done !== '' || answer.message !== '') this.say(done || answer.message);
        return answer;
    }

    control(command: string, more: object = {}): void {
        void this.do('control', { command, run: this.run?.run ?? '', ...more });
    }

    async start(options: object): Promise<void> {
        const doc = this.doc;
        if (!doc) return;
        const isSaved = doc.history.text === doc.savedText && doc.savedName !== '';
        if (doc.graph.isProgram && !isSaved) {
            this.say('Save the program first: a run takes it from the index.', true);
            return;
        }
        this.replay = null;
        this.chosenRun = '';
        await this.do('run', {
            // What is drawn is what runs: also if somebody has saved another version meanwhile.
            skill: !isSaved ? doc.history.text : doc.basedOn > 0 ? `${doc.savedName}@${doc.basedOn}` : doc.savedName,
            breakpoints: this.breakpoints[doc.graph.name] ?? [],
            ...options,
        });
    }

    toggleBreakpoint(node: string): void {
        const name = this.doc?.graph.name ?? '';
        const now = this.breakpoints[name] ?? [];
        const next = now.includes(node) ? now.filter((each) => each !== node) : [...now, node];
        this.breakpoints = { ...this.breakpoints, [name]: next };
        localStorage.setItem(`${DRAFTS}.breakpoints`, JSON.stringify(this.breakpoints));
        const prefix = this.prefix;
        const run = this.run;
        if (run && run.state !== 'ended' && prefix !== null) {
            const full = prefix === '' ? node : `${prefix}/${node}`;
            const points = run.breakpoints.includes(full)
                ? run.breakpoints.filter((each) => each !== full)
                : [...run.breakpoints, full];
            this.control('breakpoints', { breakpoints: points });
        }
        this.changed();
    }

    async nameMe(name: string): Promise<void> {
        const answer = await this.do<Answer & Person>('me', { name });
        if (answer.success && this.me) {
            this.me = { ...this.me, name: answer.name };
            localStorage.setItem('robot_rt_control.name', answer.name);
            this.changed();
        }
    }

    async operate(): Promise<void> {
        const operator = this.live.people.operator;
        if (operator !== '' && operator !== this.me?.id) {
            this.dialog = { kind: 'take' };
            this.changed();
            return;
        }
        await this.do('operate', { take: true });
    }

    // --- documents ------------------------------------------------------------------------------

    get doc(): Doc | undefined {
        return this.docs[this.active];
    }

    open(text: string, from: Partial<Pick<Doc, 'savedName' | 'basedOn' | 'savedText' | 'readOnly'>> = {}): Doc {
        const graph = readGraph(text);
        this.keys += 1;
        const doc: Doc = {
            key: this.keys, history: begin(text), savedName: '', basedOn: 0, savedText: '', readOnly: false, graph,
            shown: graph, mistakes: [], checked: '', selection: [], link: null, ...from,
        };
        this.docs = [...this.docs, doc];
        this.active = this.docs.length - 1;
        this.fitWanted += 1;
        this.keep();
        this.check();
        this.changed();
        return doc;
    }

    async openSkill(reference: string): Promise<void> {
        const name = base(reference);
        const version = Number(reference.split('@')[1] ?? 0);
        const at = this.docs.findIndex((doc) => doc.savedName === name && (version === 0 ? !doc.readOnly || this.byName.get(name)?.origin === 'library'
            : doc.basedOn === version && doc.history.text === doc.savedText));
        if (at >= 0) {
            this.activate(at);
            return;
        }
        const skill = this.skills.find((each) => each.name === name);
        const isKept = this.programs.some((program) => program.name === name);
        if (skill?.origin === 'program' || (isKept && (!skill || skill.origin === 'library'))) {
            await this.openProgram(reference);
            return;
        }
        if (skill?.origin === 'action_type' || this.types.has(name)) {
            this.dialog = { kind: 'expand', name };
            this.changed();
            return;
        }
        const answer = await this.do<Answer & { skills?: SkillInfo[] }>('list_skills', { name: reference, with_text: true });
        const found = answer.skills?.find((each) => each.name === name);
        if (!found) return;
        if (found.text === '') {
            this.dialog = { kind: 'expand', name };
            this.changed();
            return;
        }
        const text = found.text;
        this.open(text, {
            savedName: name, basedOn: found.version, savedText: text,
            readOnly: found.origin === 'library' || reference !== name,
        });
    }

    async openProgram(reference: string): Promise<void> {
        const name = base(reference);
        const at = this.docs.findIndex((doc) => doc.savedName === name);
        if (at >= 0 && reference === name) {
            this.activate(at);
            return;
        }
        const answer = await this.do<Answer & { programs?: ProgramInfo[] }>('list_programs', { name: reference, with_text: true });
        const found = answer.programs?.[0];
        const open = this.docs.findIndex((doc) => doc.savedName === name && doc.basedOn === found?.version && doc.savedText === found.text);
        if (open >= 0) this.activate(open);
        else if (found) {
            this.open(found.text, {
                savedName: name, basedOn: found.version, savedText: found.text,
                readOnly: found.origin === 'library' || found.version !== Math.max(found.version, ...found.versions),
            });
        }
    }

    /** A copy of what is shown, under another name. */
    openCopy(): void {
        const doc = this.doc;
        if (!doc) return;
        const taken = (name: string): boolean => this.skill(name) !== undefined || this.programs.some((program) => program.name === name);
        let name = `my_${doc.graph.name}`;
        for (let n = 2; taken(name); n += 1) name = `my_${doc.graph.name}_${n}`;
        this.open(set(doc.history.text, ['name'], name));
    }

    activate(index: number): void {
        this.active = Math.max(0, Math.min(index, this.docs.length - 1));
        this.fitWanted += 1;
        this.check();
        this.changed();
    }

    closeDoc(index: number): void {
        this.docs = this.docs.filter((_, n) => n !== index);
        if (this.active >= index && this.active > 0) this.active -= 1;
        this.fitWanted += 1;
        this.keep();
        this.changed();
    }

    private update(doc: Doc, changes: Partial<Doc>): void {
        this.docs = this.docs.map((each) => (each.key === doc.key ? { ...each, ...changes } : each));
    }

    /** Replace the text of the document that is shown. */
    setText(text: string, mark = ''): void {
        const doc = this.doc;
        if (!doc || text === doc.history.text) return;
        if (doc.readOnly) {
            this.say('This version cannot be changed. Make a copy of it under Properties.', true);
            return;
        }
        this.setHistory(doc, edit(doc.history, text, mark));
    }

    private setHistory(doc: Doc, changed: History): void {
        const graph = readGraph(changed.text);
        const known = new Set(graph.nodes.map((node) => node.id));
        this.update(doc, {
            history: changed,
            graph,
            shown: graph.problem === '' ? graph : doc.shown,
            selection: graph.problem === '' ? doc.selection.filter((id) => known.has(id)) : doc.selection,
            link: doc.link && known.has(doc.link.node) ? doc.link : null,
        });
        this.keep();
        this.check();
        this.changed();
    }

    edit(change: (text: string) => string, mark = ''): void {
        const doc = this.doc;
        if (!doc) return;
        try {
            this.setText(change(doc.history.text), mark);
        } catch (error) {
            this.say(`This edit was not possible: ${(error as Error).message}. Edit the text instead.`, true);
        }
    }

    undo(): void {
        if (this.doc) this.setHistory(this.doc, undo(this.doc.history));
    }

    redo(): void {
        if (this.doc) this.setHistory(this.doc, redo(this.doc.history));
    }

    select(ids: string[], link: Doc['link'] = null): void {
        const doc = this.doc;
        if (!doc) return;
        const same = ids.length === doc.selection.length && ids.every((id) => doc.selection.includes(id));
        if (same && doc.link?.node === link?.node && doc.link?.index === link?.index) return;
        this.update(doc, { selection: ids, link });
        this.changed();
    }

    // --- drafts ---------------------------------------------------------------------------------

    /** What is not saved is kept in this browser, also if it is not valid. */
    private keep(): void {
        const docs = this.docs.map((doc) => ({
            text: doc.history.text, savedName: doc.savedName, basedOn: doc.basedOn, savedText: doc.savedText, readOnly: doc.readOnly,
        }));
        const hasRoom = this.drafts.keep({ docs, active: this.active });
        if (!hasRoom && this.hasRoom) this.say('This browser has no room for drafts: what is not saved is lost when the page is closed. Save it.', true);
        this.hasRoom = hasRoom;
    }

    private async restore(): Promise<void> {
        const { docs, active } = await this.drafts.begin();
        for (const { text, ...rest } of docs) this.open(text, rest);
        this.active = Math.min(active, Math.max(this.docs.length - 1, 0));
        this.keep();
        try {
            this.breakpoints = JSON.parse(localStorage.getItem(`${DRAFTS}.breakpoints`) ?? '{}') as Record<string, string[]>;
        } catch {
            this.breakpoints = {};
        }
        const look = (): void => {
            this.othersDrafts = this.drafts.others;
            this.changed();
        };
        window.addEventListener('storage', look);
        look();
    }

    /** Another page's draft of what is shown, if it differs. */
    get othersDraft(): Draft | undefined {
        const doc = this.doc;
        const name = doc?.savedName || doc?.graph.name;
        if (!doc || !name || doc.readOnly) return undefined;
        return this.othersDrafts.find((draft) => (draft.savedName || readGraph(draft.text).name) === name && draft.text !== doc.history.text);
    }

    // --- check and save -------------------------------------------------------------------------

    check(): void {
        clearTimeout(this.checkTimer);
        this.checkTimer = setTimeout(() => void this.checkNow(), 120);
    }

    private async checkNow(): Promise<void> {
        const doc = this.doc;
        if (!doc) return;
        const text = doc.history.text;
        const request = { text, check_only: true };
        const answer = await ask<SaveAnswer>(doc.graph.isProgram ? 'save_program' : 'save_skill', request);
        const now = this.docs.find((each) => each.key === doc.key);
        if (!now || now.history.text !== text) return;
        const stateOf = (line: number): string => (doc.graph.isProgram ? placeOfLine(text, line).state : '');
        const placeOf = (what: string, got: string, node: string): Path => (doc.graph.isProgram ? [] : placeOfMistake(doc.graph, what, got, node));
        const mistakes = (answer.refusals ?? []).map((refusal, n): Mistake => {
            const inLine = answer.nodes?.[n] ?? stateOf(refusal.line);
            const place = placeOf(plain(refusal.what), refusal.got, inLine);
            const node = place[0] === 'nodes' ? String(place[1] ?? '') : inLine;
            return { line: refusal.line, node, text: shown(refusal), warning: false, place };
        });
        if (!answer.success && mistakes.length === 0) mistakes.push({ line: 0, node: '', text: answer.message, warning: false, place: [] });
        for (const warning of answer.warnings ?? []) {
            const match = /^[^:]*:(\d+): (.*)$/s.exec(warning);
            const line = match ? Number(match[1]) : 0;
            const what = match?.[2] ?? warning;
            const node = /node '([^'/]*)/.exec(what)?.[1] ?? stateOf(line);
            mistakes.push({ line, node, text: what, warning: true, place: placeOf(what, '', node) });
        }
        this.update(now, { mistakes, checked: text });
        this.changed();
    }

    /** Keep the document as the next version of its name. */
    async save(options: { draft?: boolean; basedOn?: number } = {}): Promise<boolean> {
        const doc = this.doc;
        if (!doc) return false;
        const text = doc.history.text;
        const isProgram = doc.graph.isProgram;
        const isOwn = doc.savedName === doc.graph.name;
        const based_on = options.basedOn ?? (isOwn ? doc.basedOn : 0);
        const answer = isProgram
            ? await ask<SaveAnswer>('save_program', { text, based_on })
            : await ask<SaveAnswer>('save_skill', { text, based_on, draft: options.draft ?? false });
        if (answer.success) {
            this.update(this.docs.find((each) => each.key === doc.key) ?? doc, {
                savedName: answer.name ?? doc.graph.name, basedOn: answer.version ?? 0, savedText: text,
            });
            this.dialog = null;
            this.keep();
            this.say(`Saved ${answer.name ?? doc.graph.name} as version ${answer.version ?? 0}${options.draft ? ', a draft: it cannot be run' : ''}.`);
        } else if (answer.refusals?.some((refusal) => refusal.error === 'Overtaken')) {
            const latest = await ask<Answer & { skills?: SkillInfo[]; programs?: ProgramInfo[] }>(isProgram ? 'list_programs' : 'list_skills', { name: doc.graph.name });
            this.dialog = { kind: 'overtaken', text: answer.overtaken ?? '', version: (latest.skills ?? latest.programs)?.[0]?.version ?? 0 };
            this.changed();
        } else {
            this.say(`Not saved: ${answer.message.split('\n')[0] ?? ''}${isProgram ? '' : ' You can keep it as a draft.'}`, true);
        }
        return answer.success;
    }

    /** Take the text that somebody else saved. */
    takeTheirs(text: string, version: number): void {
        const doc = this.doc;
        if (!doc) return;
        this.setHistory(doc, edit(doc.history, text));
        this.update(this.doc as Doc, { basedOn: version, savedText: text });
        this.dialog = null;
        this.keep();
        this.changed();
    }

    // --- building -------------------------------------------------------------------------------

    skill(name: string): SkillInfo | undefined {
        const own = this.doc?.graph.isProgram ? this.forStates.find((each) => each.name === base(name)) : undefined;
        const known = this.byName.get(base(name));
        if (!own || own.origin !== 'program') return own ?? known;
        // Its own exits; the executor knows which of them are failures.
        const fails = (exit: string): boolean => known?.failures.includes(exit) ?? false;
        return { ...own, results: own.results.filter((exit) => !fails(exit)), failures: own.results.filter(fails) };
    }

    private get byName(): Map<string, SkillInfo> {
        if (this.skillsByName.skills !== this.skills) this.skillsByName = { skills: this.skills, found: new Map(this.skills.map((each) => [each.name, each])) };
        return this.skillsByName.found;
    }

    private skillsByName: { skills: unknown; found: Map<string, SkillInfo> } = { skills: null, found: new Map() };

    /** What a state of a program can be: actions, and programs. They need no executor of blueprints. */
    get forStates(): SkillInfo[] {
        if (this.statesOf.types !== this.types || this.statesOf.programs !== this.programs) {
            this.statesOf = { types: this.types, programs: this.programs, found: statesOf(this.types.values(), this.programs) };
        }
        return this.statesOf.found;
    }

    /** Which states of programs are programs themselves. */
    get uses(): Uses {
        if (this.usesSeen.programs !== this.programs) this.usesSeen = { programs: this.programs, found: usesOf(this.programs) };
        return this.usesSeen.found;
    }

    private usesSeen: { programs: unknown; found: Uses } = { programs: null, found: new Map() };

    /** What the nodes of all blueprints run now; rehearsed ones run nothing. */
    get running(): string[] {
        const runs = this.runsNow.filter((run) => run.state !== 'ended' && !run.rehearsed).map((run) => run.run);
        const nodes = (this.live.blueprints.nodes ?? []).filter((node) => runs.includes(node.run) && node.does !== '');
        return [...new Set(nodes.map((node) => base(node.does)))].sort();
    }

    private statesOf: { types: unknown; programs: unknown; found: SkillInfo[] } = { types: null, programs: null, found: [] };

    /** What a node of a skill or built-in begins with. */
    contentFor(what: string): { id: string; content: { [key: string]: Value } } {
        const builtIn: { [key: string]: { [key: string]: Value } } = {
            wait: { wait: 1 }, wait_until: { wait_until: 'true' }, say: { say: 'hello' }, log: { log: 'here' }, set: { set: {} },
            ask: { ask: { text: 'Go on?', answers: ['yes', 'no'] } },
            all_of: { all_of: { one: { wait: 1 }, two: { wait: 1 } } }, first_of: { first_of: { one: { wait: 1 }, two: { wait: 2 } } },
        };
        if (this.doc?.graph.isProgram) return { id: what, content: stateContent(what, this) };
        const content = builtIn[what];
        if (content && !this.skill(what)) return { id: what, content };
        const skill = this.skill(what);
        const made: { [key: string]: Value } = { skill: what };
        const parts: { [key: string]: Value } = {};
        for (const role of skill?.parts ?? []) {
            if (role.endsWith(')')) continue; // it has a default
            const [first] = this.partsFor(role);
            if (first !== undefined) parts[role.split(':')[0] ?? ''] = first;
        }
        if (Object.keys(parts).length > 0) made.parts = parts;
        return { id: what, content: made };
    }

    /** Parts that fit a role such as "arm: arm or gripper (left)". */
    partsFor(role: string): string[] {
        const kinds = (role.split(':')[1] ?? '').replace(/\(.*\)/, '').split(/ or |,/).map((kind) => kind.trim()).filter(Boolean);
        return this.parts.filter((part) => kinds.length === 0 || kinds.includes(part.kind)).map((part) => part.name);
    }

    /** Add a node; after the selected one, if there is one. */
    add(what: string, place?: [number, number], link?: { node: string; index: number }): void {
        if (!this.doc) this.open('name: my_blueprint\nlevel: blueprint\nnodes: {}\n');
        const doc = this.doc as Doc;
        const { id: wanted, content } = this.contentFor(what);
        const id = freeId(doc.graph, wanted);
        const after = doc.selection.length === 1 ? doc.selection[0] : undefined;
        const before = after === undefined ? undefined : doc.graph.nodes.find((node) => node.id === after);
        const leads = before !== undefined && place === undefined && before.candidates.every((c) => c.on[0] !== 'success' || c.when !== '');
        this.edit((text) => {
                if (link) return insertOnLink(text, link.node, link.index, id, content);
                const added = addNode(text, id, content, leads && after !== undefined ? { node: after, result: 'success' } : undefined);
                // It stays where it was dropped. The first one begins the picture.
                return place && doc.graph.nodes.length > 0 ? moveNode(added, id, place[0], place[1]) : added;
            });
        if (!place || link || doc.graph.nodes.length === 0) this.fitWanted += 1;
        this.select([id]);
    }

    async copy(): Promise<void> {
        const doc = this.doc;
        if (!doc || doc.selection.length === 0) return;
        const text = copyNodes(doc.history.text, doc.selection);
        this.clipboard = text;
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            // Not allowed: this page still has it.
        }
        this.say(`Copied ${doc.selection.length} ${doc.selection.length === 1 ? 'node' : 'nodes'} as text.`);
    }

    clipboard = '';

    paste(text: string): void {
        const doc = this.doc;
        if (!doc) return;
        const { text: next, ids } = pasteNodes(doc.history.text, text || this.clipboard);
        if (ids.length === 0) {
            this.say('There are no nodes to paste.', true);
            return;
        }
        this.setText(next);
        this.select(ids);
    }

    remove(): void {
        const doc = this.doc;
        if (doc && doc.selection.length > 0) this.edit((text) => tidyFolds(deleteNodes(text, doc.selection)));
    }

    // --- folding --------------------------------------------------------------------------------

    /** Whether a node or a folded box has this name. */
    isNamed(name: string): boolean {
        const graph = this.doc?.graph;
        return graph !== undefined && [...graph.nodes.map((node) => node.id), ...foldsOf(graph).map((each) => each.name)].includes(name);
    }

    /** Fold the selected nodes into one box; if they are in one, unfold it. */
    foldOrUnfold(): void {
        const doc = this.doc;
        if (!doc || doc.graph.isProgram) return;
        const now = foldOf(doc.graph, doc.selection);
        if (now && !now.open) this.unfold(now.name);
        else if (doc.selection.length < 2 && !now) this.say('Select two nodes or more: they become one box.', true);
        else {
            this.fitWanted += 1;
            this.edit((text) => fold(text, doc.selection));
        }
    }

    unfold(name: string): void {
        const nodes = this.doc ? foldsOf(this.doc.graph).find((each) => each.name === name)?.nodes : undefined;
        if (!nodes) return;
        this.fitWanted += 1;
        this.edit((text) => unfold(text, name));
        this.select(nodes);
    }

    /** Make a skill of the selected nodes, and keep it: it is on its shelf at once. */
    async extract(name: string, level: string): Promise<string> {
        const doc = this.doc;
        if (!doc) return 'There is no blueprint.';
        const types = new Map<string, OutputType>();
        for (const node of doc.graph.nodes) {
            for (const output of this.skill(node.skill)?.outputs ?? []) types.set(`${node.id}.${output.name}`, output);
        }
        if (this.skill(name)) return `There is a skill ${name} already.`;
        const found = extractSkill(doc.history.text, doc.selection, name, level, types);
        if (found.problem !== '') return found.problem;
        const answer = await ask<SaveAnswer>('save_skill', { text: found.skill, based_on: 0 });
        if (!answer.success) return answer.message;
        this.setText(tidyFolds(found.text));
        this.select([found.node]);
        await this.loadSkills();
        this.dialog = null;
        this.say(`${name} is a new ${level.replace('_', ' ')}.`);
        return '';
    }

    /** Rename a kept skill; its callers follow. */
    async rename(from: string, to: string): Promise<string> {
        if (!/^[A-Za-z_]\w*$/.test(to)) return 'A name has letters, digits and _, and begins with a letter.';
        if (this.skill(to)) return `There is a skill ${to} already.`;
        const answer = await ask<Answer & { skills?: SkillInfo[] }>('list_skills', { with_text: true });
        if (!answer.success) return answer.message;
        const all = answer.skills ?? [];
        const own = all.find((skill) => skill.name === from);
        if (!own || own.origin !== 'store') return `${from} cannot be renamed.`;
        const saved = await ask<SaveAnswer>('save_skill', { text: renameSkill(own.text, from, to), draft: true });
        if (!saved.success) return saved.message;
        for (const caller of all.filter((skill) => skill.origin === 'store' && skill.name !== from)) {
            const text = renameSkill(caller.text, from, to);
            if (text === caller.text) continue;
            const kept = await ask<SaveAnswer>('save_skill', { text, based_on: caller.version, draft: true });
            if (!kept.success) return `${caller.name}: ${kept.message}`;
            for (const doc of this.docs.filter((each) => each.savedName === caller.name && !each.readOnly)) {
                this.update(doc, { basedOn: kept.version ?? doc.basedOn, savedText: text });
            }
        }
        const gone = await ask<Answer>('delete_skill', { name: from });
        for (const doc of this.docs.filter((each) => !each.readOnly)) {
            const next = edit(doc.history, renameSkill(doc.history.text, from, to));
            const graph = readGraph(next.text);
            const isOwn = doc.savedName === from;
            this.update(doc, {
                history: next, graph, shown: graph.problem === '' ? graph : doc.shown,
                ...(isOwn ? { savedName: to, basedOn: saved.version ?? 0, savedText: next.text } : {}),
            });
        }
        this.keep();
        await this.loadSkills();
        this.dialog = null;
        this.say(gone.success ? `${from} is ${to} now, also for its callers.` : `${to} is kept; ${from} stays: ${gone.message}`, !gone.success);
        return '';
    }

    async deleteProgram(name: string): Promise<void> {
        const text = this.programs.find((program) => program.name === name)?.text ?? '';
        const answer = await this.do<Answer>('delete_program', { name });
        if (answer.success) this.say(`Deleted ${name}.`, false, text === '' ? undefined : () => void this.do('save_program', { text }, `${name} is back: its last version as a new one.`));
    }

    async deleteSkill(name: string): Promise<void> {
        const answer = await this.do<Answer>('delete_skill', { name });
        if (answer.success) this.say(`Deleted ${name}. It is in the bin for 30 days.`, false, () => void this.restoreSkill(name));
    }

    async restoreSkill(name: string): Promise<void> {
        await this.do('delete_skill', { name, restore: true }, `${name} is back with its versions.`);
        await this.loadSkills();
        await this.loadBin();
    }

    async loadBin(): Promise<void> {
        const answer = await ask<Answer & { skills?: SkillInfo[] }>('list_skills', { deleted: true });
        if (answer.success) this.bin = answer.skills ?? [];
        this.changed();
    }

    async openReplay(run: RunInfo): Promise<void> {
        const answer = await this.do<Answer & { lines?: string[] }>('read_runs', { run: run.run });
        if (!answer.success) return;
        const records = (answer.lines ?? []).map((line) => JSON.parse(line) as LogRecord);
        if (this.skill(run.skill) || records.some((record) => typeof record.text === 'string' && record.what === 'run')) await this.openRan(records);
        this.replay = { run: run.run, records, at: records.length };
        this.changed();
    }

    /** Names that a condition or value can use. */
    completions(isCondition: boolean): { name: string; hint: string }[] {
        const doc = this.doc;
        if (doc?.graph.isProgram) {
            return programNames(doc.graph, doc.link?.node ?? doc.selection[0] ?? '', isCondition, this.types, this.variables, this.parts);
        }
        const found: { name: string; hint: string }[] = [];
        for (const key of ['parameters', 'values']) {
            const declared = doc?.graph.content[key];
            for (const name of Object.keys((declared as object | undefined) ?? {})) found.push({ name: `$${name}`, hint: key.slice(0, -1) });
        }
        for (const node of doc?.graph.nodes ?? []) {
            for (const [path, skill] of callsOf(node.content)) {
                for (const output of this.skill(skill)?.outputs ?? []) {
                    found.push({ name: `$${[node.id, ...path, output.name].join('.')}`, hint: output.unit || 'output' });
                }
            }
            if (isCondition) found.push({ name: `${node.id}.count`, hint: 'visits' });
        }
        if (isCondition) for (const variable of this.variables) found.push({ name: variable.name, hint: variable.unit });
        return found;
    }
}

export function base(reference: string): string {
    return reference.split('@')[0] ?? reference;
}

/** Without file and line. */
function plain(what: string): string {
    return what.replace(/^[^:\s]*:\d+: /, '');
}

function shown(refusal: Refusal): string {
    const what = plain(refusal.what);
    const rest = [refusal.expected && `expected ${refusal.expected}`, refusal.got && `got ${refusal.got}`].filter(Boolean).join('; ');
    return [what, rest, refusal.hint].filter(Boolean).join('. ');
}

export function fieldOf(mistake: Mistake, info: ParameterInfo): boolean {
    return mistake.text.includes(`parameter '${info.name}'`);
}

export const store = new Store();

export function useStore(): Store {
    useSyncExternalStore(store.subscribe, () => store.version);
    return store;
}

/** For what shows neither the robot's state nor its runs: it is not drawn anew with each state. */
export function useStill(): Store {
    useSyncExternalStore(store.subscribe, () => store.stillVersion);
    return store;
}

export { EMPTY };
