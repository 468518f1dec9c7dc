// The server's interfaces: what the ROS interfaces have, as JSON.

export interface Refusal {
    error: string;
    what: string;
    expected: string;
    got: string;
    hint: string;
    line: number;
}

export interface ParameterInfo {
    name: string;
    type: string;
    unit: string;
    length: string;
    required: boolean;
    default_value: string;
    minimum: number | null;
    maximum: number | null;
    choices: string[];
    description: string;
}

export interface SkillInfo {
    name: string;
    version: number;
    versions: number[];
    origin: string;
    level: string;
    category: string;
    description: string;
    scenarios: string[];
    tags: string[];
    parts: string[];
    moves: string[];
    parameters: ParameterInfo[];
    results: string[];
    failures: string[];
    outputs: ParameterInfo[];
    phrases: string[];
    calls: string[];
    runs: number;
    succeeded: number;
    duration: number | null;
    problem: string;
    text: string;
    /** When it was saved; of one in the bin: deleted. */
    saved?: { sec: number };
}

export interface ProgramInfo {
    name: string;
    version: number;
    versions: number[];
    origin: string;
    description: string;
    tags: string[];
    parts: string[];
    events: string[];
    parameters: ParameterInfo[];
    text: string;
}

export interface ActionType {
    name: string;
    description: string;
    slots: { name: string; kinds: string[]; moves: boolean; description: string }[];
    parameters: ParameterInfo[];
    state_variables: { name: string; type: string; unit: string; description: string }[];
    signals: string[];
    /** Of a law: the numbers that a strategy binds to state variables. */
    inputs: { name: string; unit: string; description: string }[];
    /** Those that strategies govern instead of joints. */
    degrees_of_freedom: string[];
    streams: { name: string }[];
    source: string;
}

/** A part of the workcell. */
export interface PartInfo {
    name: string;
    kind: string;
    joint_names: string[];
}

/** A program that runs: what program_state says. */
export interface LiveProgram {
    session: string;
    program: string;
    active: string[];
    strategies: { action: string; degree_of_freedom: string; strategy: string }[];
    last_reaction: string;
    last_event: string;
}

export interface Answer {
    success: boolean;
    message: string;
    refusals?: Refusal[];
}

export interface SaveAnswer extends Answer {
    nodes?: string[];
    warnings?: string[];
    name?: string;
    version?: number;
    overtaken?: string;
}

export interface LiveNode {
    run: string;
    path: string;
    does: string;
    visit: number;
    attempt: number;
    state: string;
    since: number;
    question: string;
    answers: string[];
    result: string;
    reason: string;
    parts: string[];
    source: string;
    rehearsed: boolean;
    will_pause: boolean;
    has_to_be_said: boolean;
    jump: string;
    breakpoints: string[];
}

export interface Person {
    id: string;
    name: string;
    may_operate: boolean;
}

export interface Live {
    blueprints: {
        tick?: number;
        time?: number;
        nodes?: LiveNode[];
        protective_stop?: boolean;
        armed?: number;
        waiting?: string[];
        problem?: string;
        skills_changed?: number;
    };
    robot: {
        blueprints?: boolean;
        executor?: boolean;
        speed?: number | null;
        protective_stop?: boolean;
        /** Those that are latched; none of a robot that does not tell them apart. */
        stops?: { source: string; reason: string; who: string; needs_secret: boolean }[];
        /** [s] since the last word of an executor that has become silent. */
        silent?: { executor?: number; blueprints?: number };
        programs?: LiveProgram[];
        values?: Record<string, number | null>;
    };
    people: { operator: string; operator_name: string; here: Person[]; log: { time: number; text: string }[] };
    programs_changed: number;
    /** New records of the run that the page follows. */
    log?: { run: string; first: number; lines: string[] };
}

export interface RunInfo {
    run: string;
    skill: string;
    began: number | string;
    result: string;
    reason: string;
    seconds: number;
    source: string;
    interrupted_at: string;
}

export type LogRecord = Record<string, unknown> & { what: string; tick: number; time: number };

export class NotEntered extends Error {}

/** @param patience [ms] for the answer; 0: as long as it takes. */
export async function ask<T extends Answer>(name: string, request: object = {}, patience = 0): Promise<T> {
    let response: Response;
    try {
        response = await fetch(`/api/${name}`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(request),
            ...(patience > 0 && { signal: AbortSignal.timeout(patience) }),
        });
    } catch {
        return { success: false, message: 'The editor does not answer.' } as T;
    }
    let answer: T;
    try {
        answer = (await response.json()) as T;
    } catch {
        answer = { success: false, message: `The editor answered ${response.status}.` } as T;
    }
    if (response.status === 403 && name === 'me') throw new NotEntered(answer.message);
    return answer;
}

/** The socket that shows what is true now. It connects again by itself. */
export class LiveSocket {
    private socket: WebSocket | null = null;
    private delay = 200;
    private last = '';
    private heard = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;

    /** @param wishes what the page wants to see, besides what all see. */
    constructor(
        private readonly take: (live: Live) => void,
        private readonly changed: (connected: boolean) => void,
        private readonly wishes: () => { variables: string[]; run: string; records: number },
    ) {
        this.connect();
    }

    /** The wishes have changed. */
    tell(): void {
        if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(this.wishes()));
    }

    /** [s] since the last word of an editor that is connected: it speaks every 0.4 s. */
    get silence(): number {
        return this.socket?.readyState === WebSocket.OPEN ? (performance.now() - this.heard) / 1000 : 0;
    }

    /** Connect anew: a connection that was cut somewhere between does not close by itself. */
    again(): void {
        const old = this.socket;
        if (old) {
            old.onclose = old.onmessage = old.onopen = null;
            old.close();
        }
        clearTimeout(this.timer);
        this.changed(false);
        this.connect();
    }

    private connect(): void {
        const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
        const socket = new WebSocket(`${scheme}://${location.host}/api/live`);
        this.socket = socket;
        socket.onopen = () => {
            this.delay = 200;
            this.last = '';
            this.heard = performance.now();
            this.changed(true);
            this.tell();
        };
        socket.onmessage = (message) => {
            const text = String(message.data);
            this.heard = performance.now();
            if (text === this.last) return; // said again, so that its silence would be heard
            this.last = text;
            this.take(JSON.parse(text) as Live);
        };
        socket.onclose = () => {
            this.changed(false);
            this.timer = setTimeout(() => this.connect(), this.delay);
            this.delay = Math.min(this.delay * 2, 3000);
        };
    }
}
