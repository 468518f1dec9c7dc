// A part at a goal, half-transparent, with handles by which its tool is dragged.

import type { Pose } from '../goal/pose.ts';
import type { Scene } from '../wire.ts';
import type { Piece } from './mesh.ts';
import { Robots } from './robots.ts';
import { type Camera, Color, Group, TransformControls, Vector3 } from './three.ts';

const OPACITY = 0.55;
const TINT = new Color(0x2563eb);

export interface Handles {
    /** Where they are. */
    pose: Pose;
    turns: boolean;
    inToolAxes: boolean;
    dragged: (pose: Pose) => void;
    released: () => void;
}

export class GoalGhost {
    readonly robots: Robots;
    readonly group = new Group();
    private readonly handle = new Group();
    private controls: TransformControls | null = null;
    private handles: Handles | null = null;
    private positions: number[];

    /**
     * @param scene of all robots; of it the part is drawn.
     * @param changed called when it has to be drawn anew.
     */
    constructor(
        scene: Scene,
        readonly part: string,
        piecesOf: (mesh: string) => Promise<Piece[]>,
        private readonly changed: () => void,
    ) {
        const own = new Set(scene.parts.find((each) => each.name === part)?.links);
        const links = scene.links.map((link, n) => (own.has(n) ? link : { ...link, shapes: [] }));
        this.robots = new Robots({ ...scene, links }, piecesOf, changed, OPACITY, TINT);
        this.positions = scene.joints.map(() => Number.NaN);
        this.group.add(this.robots.group, this.handle);
    }

    /**
     * @param present where all joints of the scene are.
     * @param goal joint → where it is in the goal.
     * @param isBad whether the goal cannot be reached.
     */
    place(present: ArrayLike<number>, goal: ReadonlyMap<string, number>, isBad: boolean): void {
        const { joints } = this.robots.scene;
        this.positions = joints.map(({ name }, n) => goal.get(name) ?? present[n] ?? Number.NaN);
        for (const [n, { name, follows }] of joints.entries()) {
            const [leader, factor = 1, offset = 0] = follows ?? [];
            const led = leader === undefined ? undefined : joints[leader];
            if (led && !goal.has(name) && goal.has(led.name))
                this.positions[n] = factor * (this.positions[leader as number] ?? 0) + offset;
        }
        this.robots.move(this.positions);
        this.robots.setFaulted(new Set(isBad ? [this.part] : []));
        this.changed();
    }

    /** Drag by these from now on; null: by none. While somebody drags, they stay where they were dragged to. */
    take(handles: Handles | null, camera: Camera, canvas: HTMLElement, drags: (on: boolean) => void): void {
        this.handles = handles;
        if (!handles) return this.release();
        if (!this.controls) {
            const controls = new TransformControls(camera, canvas);
            controls.size = 0.9;
            controls.attach(this.handle);
            controls.addEventListener('change', () => this.changed());
            controls.addEventListener('dragging-changed', ({ value }) => drags(value === true));
            controls.addEventListener('objectChange', () => this.handles?.dragged(this.poseOfHandle));
            controls.addEventListener('mouseUp', () => this.handles?.released());
            this.controls = controls;
            this.group.add(controls.getHelper());
        }
        this.controls.camera = camera;
        this.controls.setMode(handles.turns ? 'rotate' : 'translate');
        this.controls.setSpace(handles.inToolAxes ? 'local' : 'world');
        if (!this.controls.dragging) {
            this.handle.position.fromArray(handles.pose.position);
            this.handle.quaternion.fromArray(handles.pose.orientation);
        }
        this.handle.updateMatrixWorld();
        this.changed();
    }

    /** Another camera looks. */
    see(camera: Camera): void {
        if (this.controls) this.controls.camera = camera;
    }

    private get poseOfHandle(): Pose {
        return { position: this.handle.position.toArray(), orientation: this.handle.quaternion.toArray() };
    }

    /** Where a place of the handles is on the canvas, from its middle, -1 to 1: for tests and for people's eyes. */
    placeOfHandle(along: readonly number[], camera: Camera): number[] {
        const at = new Vector3().fromArray(along).applyMatrix4(this.handle.matrixWorld);
        return at.project(camera).toArray();
    }

    private release(): void {
        this.controls?.detach();
        this.controls?.getHelper().removeFromParent();
        this.controls?.dispose();
        this.controls = null;
        this.changed();
    }

    dispose(): void {
        this.handles = null;
        this.release();
        this.robots.dispose();
        this.group.removeFromParent();
    }
}
