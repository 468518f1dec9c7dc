// What the editor's server sends as JSON: the ROS messages' fields, and what it adds.
// test/unit/editor/test_wire.py holds it equal to what Python sends.

export interface Refusal {
    error: string;
    what: string;
    expected: string;
    got: string;
    hint: string;
    text: string;
    position: number;
    line: number;
}

export interface Time {
    sec: number;
    nanosec: number;
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
    gestures: string[];
    calls: string[];
    runs: number;
    succeeded: number;
    duration: number | null;
    problem: string;
    /** Of one in the bin: when it was deleted. */
    saved: Time;
    text: string;
}

export interface ProgramInfo {
    name: string;
    version: number;
    versions: number[];
    origin: string;
    description: string;
    tags: string[];
    parts: string[];
    parameters: ParameterInfo[];
    events: string[];
    saved: Time;
    text: string;
}

export interface SlotInfo {
    name: string;
    kinds: string[];
    moves: boolean;
    description: string;
}

export interface VariableInfo {
    name: string;
    type: string;
    unit: string;
    description: string;
    value: number | null;
}

export interface StreamInfo {
    name: string;
    is_output: boolean;
    length: string;
    units: string[];
    minimum: number[];
    maximum: number[];
    beyond: string;
    description: string;
}

export interface ActionType {
    name: string;
    description: string;
    slots: SlotInfo[];
    parameters: ParameterInfo[];
    state_variables: VariableInfo[];
    streams: StreamInfo[];
    /** Of a law: the numbers that a strategy binds to state variables. */
    inputs: VariableInfo[];
    /** Those that strategies govern instead of joints. */
    degrees_of_freedom: string[];
    signals: string[];
    source: string;
    compute_time: number | null;
    time_budget: number;
}

export interface PartInfo {
    name: string;
    kind: string;
    device: string;
    joint_names: string[];
    joint_units: string[];
    position_lower: (number | null)[];
    position_upper: (number | null)[];
    velocity_limit: number[];
    acceleration_limit: number[];
    jerk_limit: number[];
    effort_limit: (number | null)[];
    command_modes: string[];
    default_action: string;
    safety_action: string;
    session: string;
    operational_state: string;
    fault: string;
    tools: string[];
    tool: string;
}

/** A program that runs. */
export interface LiveProgram {
    session: string;
    program: string;
    active: string[];
    strategies: { action: string; degree_of_freedom: string; strategy: string }[];
    last_reaction: string;
    last_event: string;
    /** A protective stop: nothing of it starts until it is resumed. */
    suspended: boolean;
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

/** Of the executor of blueprints; empty before its first word. */
export interface Blueprints {
    tick?: number;
    time?: number;
    nodes?: LiveNode[];
    protective_stop?: boolean;
    armed?: number;
    waiting?: string[];
    problem?: string;
    skills_changed?: number;
}

/** What the editor's server sees of the robot; empty before its first look. */
export interface RobotStatus {
    blueprints?: boolean;
    executor?: boolean;
    speed?: number | null;
    protective_stop?: boolean;
    /** Those that are latched; none of a robot that does not tell them apart. */
    stops?: { source: string; reason: string; who: string; needs_secret: boolean }[];
    /** [s] since the last word of an executor that has become silent. */
    silent?: { executor?: number; blueprints?: number };
    parts?: { name: string; operational_state: string; fault: string }[];
    programs?: LiveProgram[];
    values?: Record<string, number | null>;
}

export interface Person {
    id: string;
    name: string;
    may_operate: boolean;
}

export interface People {
    operator: string;
    operator_name: string;
    here: Person[];
    log: { time: number; text: string }[];
}

/** An action in a session of its own. */
export interface Started {
    id: number;
    type: string;
    parts: string[];
    who: string;
    /** starts, runs, done, failed or cancelled. */
    state: string;
    message: string;
}

export interface Live {
    blueprints: Blueprints;
    robot: RobotStatus;
    people: People;
    programs_changed: number;
    /** Actions that people have started here, the latest one first. */
    starts: Started[];
    /** New records of the run that the page follows. */
    log?: { run: string; first: number; lines: string[] };
}

export interface SceneShape {
    /** box, sphere, cylinder or mesh. */
    kind: string;
    /** [m] Edges; radius; radius and length along z; scale. */
    size: number[];
    /** Pose in the link's frame: 4 by 4, column by column. */
    X: number[];
    color: number[] | null;
    mesh: string;
}

export interface SceneLink {
    name: string;
    /** Its number, before this one; -1: the root. */
    parent: number;
    /** Of its joint in the parent's frame, at 0. */
    X: number[];
    /** fixed, turn or slide. */
    motion: string;
    axis: number[];
    joint: number;
    shapes: SceneShape[];
}

/** Something drawn in the frame of a link: robot_rt_control/drawing/shape.py. */
export interface DrawnShape {
    namespace: string;
    frame: string;
    /** line_strip, lines, sphere, arrow or text. */
    kind: string;
    points: number[][];
    size: number;
    color: number[];
    colors: number[][];
    text: string;
}

export interface Scene {
    version: number;
    name: string;
    links: SceneLink[];
    joints: { name: string; follows: number[] | null }[];
    parts: { name: string; links: number[] }[];
    /** What is not drawn as the robot's description has it. */
    problems: string[];
}

export interface RunInfo {
    run: string;
    skill: string;
    began: string;
    result: string;
    reason: string;
    seconds: number;
    source: string;
    interrupted_at: string;
    rehearsed: boolean;
    /** How people see the skill's name; empty: as it is. */
    title: string;
}

/** A field of the form of what is built in. */
export interface NodeField {
    form: string;
    label: string;
    /** Below the kind's own key; empty: its value itself. */
    key: string;
    hint: string;
    default: string[];
    gives_results: boolean;
}

/** What a node can do without a skill. */
export interface NodeKind {
    name: string;
    doc: string;
    /** What a new node of it begins with. */
    first: unknown;
    fails: boolean;
    fields: NodeField[];
}

/** A record of a run's log: what it has more depends on `what`. */
export type LogRecord = Record<string, unknown> & { what: string; tick: number; time: number };
