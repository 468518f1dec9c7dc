// A goal while somebody drags it: the server is asked what it would be, one question at a time, the latest one next.

import { t } from '../language/language.ts';
import type { Answer } from '../wire.ts';
import { type Goal, hasValues } from './goals.ts';
import type { Pose } from './pose.ts';

/** [ms] Between two questions: the server takes 25 a second. */
const PAUSE_MS = 60;
/** [m, rad] A goal that lacks less is reached: the search ends at 1 µm and 1 µrad. */
const REACHED = 1e-5;

/** What the server says of a goal: robot_rt_control/view/goals.py. */
export interface Found extends Pose {
    /** Of the part's joints [rad or m]. */
    q: number[];
    /** The scene's names of them. */
    joints: string[];
    /** [m, rad] */
    lacks: number[];
    outside: { joint: number; value: number; lower: number | null; upper: number | null }[];
}

type Wish = { q: number[] } | Partial<Pose>;

export class Aim {
    /** What is drawn; null: nothing is known yet. */
    found: Found | null = null;
    /** Why there is none. */
    problem = '';
    /** What became of the last drag; empty: its goal is that of the text. */
    said = '';
    /** Somebody drags. */
    isDragged = false;
    /** [rad or m] Joints that were dragged, until their last answer has come. */
    draggedJoints: number[] | null = null;
    private next: { wish: Wish; isLast: boolean } | null = null;
    private isBusy = false;
    private isClosed = false;
    private hasTurned = false;

    /**
     * @param ask a request to the editor.
     * @param changed called when what is drawn has changed.
     * @param write puts values into the text: of joints, or of position and orientation.
     */
    constructor(
        readonly goal: Goal,
        private readonly ask: (request: object) => Promise<Answer & Partial<Found>>,
        private readonly changed: () => void,
        private readonly write: (values: { joints: number[] } | Partial<Pose>) => void,
        private readonly pauseMs = PAUSE_MS,
    ) {}

    /** Show what the text has. */
    begin(): void {
        const { joints, position, orientation } = this.goal.values;
        if (this.goal.problem !== '' || !hasValues(this.goal)) return;
        this.want(joints ? { q: joints } : poseOf(position, orientation), false);
    }

    close(): void {
        this.isClosed = true;
    }

    /** The tool is dragged to a pose. */
    dragTo(pose: Pose): void {
        const before = this.found;
        this.isDragged = true;
        this.hasTurned ||= before !== null && turn(before.orientation, pose.orientation) > REACHED;
        this.want(pose, false);
    }

    /** The joints are dragged [rad or m]. */
    dragJoints(q: number[]): void {
        this.isDragged = true;
        this.draggedJoints = q;
        this.want({ q }, false);
        this.changed();
    }

    /** A step from where it is wanted by now, or else is: it is written if it can be reached. */
    moveBy(step: (from: Pose) => Pose): void {
        const { wanted } = this;
        const isWhole = this.isBusy && wanted && 'position' in wanted && 'orientation' in wanted;
        const from = isWhole ? (wanted as Pose) : this.found;
        if (!from) return;
        const pose = step(from);
        this.isDragged = false;
        this.hasTurned ||= turn(from.orientation, pose.orientation) > REACHED;
        this.want(pose, true);
    }

    /** What was dragged last is let go: it is written if it can be reached. */
    release(): void {
        if (!this.isDragged) return;
        const wish = this.wanted;
        this.isDragged = false;
        if (wish) this.want(wish, true);
    }

    private wanted: Wish | null = null;

    private want(wish: Wish, isLast: boolean): void {
        this.wanted = wish;
        this.next = { wish, isLast };
        if (!this.isBusy) void this.work();
    }

    private async work(): Promise<void> {
        this.isBusy = true;
        while (this.next && !this.isClosed) {
            const { wish, isLast } = this.next;
            this.next = null;
            const seed = 'q' in wish ? {} : { seed: this.found?.q, quick: this.isDragged && !isLast };
            const answer = await this.ask({ part: this.goal.part.name, ...wish, ...seed });
            if (this.isClosed) break;
            this.take(answer, wish, isLast);
            if (this.next) await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
        }
        this.isBusy = false;
    }

    private take(answer: Answer & Partial<Found>, wish: Wish, isLast: boolean): void {
        if (!answer.success) {
            this.problem = answer.message;
            if (!this.isDragged) this.found = null;
        } else {
            this.problem = '';
            this.found = answer as Answer & Found;
        }
        if (isLast && !this.next) this.settle(wish, answer.success);
        else if (this.isDragged) this.said = '';
        this.changed();
    }

    /** What was let go has its last answer. */
    private settle(wish: Wish, isKnown: boolean): void {
        const { found } = this;
        const turned = this.hasTurned;
        this.draggedJoints = null;
        this.hasTurned = false;
        if (!isKnown || !found || !reaches(found)) {
            const why = isKnown && found ? problemOf(found, this.goal) : this.problem;
            this.said = t('Not taken: {why}', { why });
            return this.begin();
        }
        this.said = '';
        if (this.goal.ofJoints) return this.write({ joints: found.q });
        const pose = wish as Pose;
        // What was not dragged stays as it is written, or is not.
        const { position, orientation } = this.goal.values;
        this.write({
            ...((position || !turned || !same(pose.position, found.position)) && { position: pose.position }),
            ...((orientation || turned) && { orientation: pose.orientation }),
        });
    }
}

function poseOf(position?: number[] | null, orientation?: number[] | null): Partial<Pose> {
    return { ...(position && { position }), ...(orientation && { orientation }) };
}

function same(a: number[], b: number[]): boolean {
    return a.every((each, i) => Math.abs(each - (b[i] ?? Number.NaN)) < REACHED);
}

/** [rad] Between two orientations. */
function turn(a: number[], b: number[]): number {
    const dot = a.reduce((sum, each, i) => sum + each * (b[i] ?? 0), 0);
    return 2 * Math.acos(Math.min(Math.abs(dot), 1));
}

/** Whether the robot can be there. */
export function reaches(found: Found): boolean {
    return found.outside.length === 0 && found.lacks.every((each) => each <= REACHED);
}

/** Why the robot cannot be there, in words; empty: it can. */
export function problemOf(found: Found, { part }: Goal): string {
    const [metres = 0, angle = 0] = found.lacks;
    const limits = found.outside.map(({ joint, value, lower, upper }) => {
        const unit = part.joint_units[joint] ?? '';
        const isLow = lower !== null && value < lower;
        const said = {
            joint: part.joint_names[joint],
            value: `${value.toFixed(4)} ${unit}`,
            limit: `${(isLow ? lower : upper)?.toFixed(4)} ${unit}`,
        };
        if (isLow) return t('{joint} at {value}, at least {limit} is allowed', said);
        return t('{joint} at {value}, at most {limit} is allowed', said);
    });
    if (metres <= REACHED && angle <= REACHED) return limits.join('; ');
    const degrees = (angle * 180) / Math.PI;
    const lacking = [
        ...(metres > REACHED ? [`${(1000 * metres).toFixed(metres < 0.01 ? 2 : 0)} mm`] : []),
        ...(angle > REACHED ? [`${degrees.toFixed(degrees < 1 ? 2 : 1)}°`] : []),
    ];
    const said = { much: lacking.join(' + '), limits: limits.join('; ') };
    return limits.length > 0
        ? t('out of reach by {much}; it would need {limits}', said)
        : t('out of reach by {much}', said);
}
