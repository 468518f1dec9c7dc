// The picture of the workcell: camera, light, ground, frames, and what the control server draws. It is loaded when
// somebody opens it.

import type { Drawer } from '../server.ts';
import type { DrawnShape, SceneLink, Scene as SceneOfRobots } from '../wire.ts';
import { drawingCanvas } from './canvas.ts';
import { GoalGhost, type Handles } from './goal_ghost.ts';
import { decode, type Piece, split } from './mesh.ts';
import { Robots } from './robots.ts';
import { Shapes } from './shapes.ts';
import {
    AxesHelper,
    Box3,
    BoxGeometry,
    Color,
    DirectionalLight,
    GridHelper,
    Group,
    HemisphereLight,
    Mesh,
    MeshLambertMaterial,
    OrbitControls,
    OrthographicCamera,
    PerspectiveCamera,
    Raycaster,
    Scene,
    Vector2,
    Vector3,
    WebGLRenderer,
} from './three.ts';

const SKY = 0xf4f6f9;
/** [rad or m] A joint that moves less is not drawn anew: sensors are noisy, and a picture costs a browser much. */
const SEEN = 1e-5;
/** Without a graphics card: pixels of the picture for each of the page, while it changes, and once it rests. */
const COARSE = 0.5;
const FINE = 2;
/** [ms] without a change after which it rests. */
const RESTS_MS = 250;
/** Opacity of a second robot. */
const GHOST = 0.35;
/** Beside the namespaces of shapes. */
const OBJECTS = 'objects';
/** Meshes that one request asks for. */
const AT_ONCE = 24;
/** Links that the workcell adds for tools and sensors. */
const FRAME = /_(tool|frame)$/;

/** Directions from which a workcell is looked at. */
export const DIRECTIONS = { any: [1, -1.3, 0.7], front: [1, 0, 0], left: [0, 1, 0], top: [0, 0, 1] } as const;

export interface StoredView {
    eye: number[];
    target: number[];
    orthographic: boolean;
}

export class View implements Drawer {
    private readonly renderer: WebGLRenderer;
    private readonly world = new Scene();
    private readonly perspective = new PerspectiveCamera(40, 1, 0.01, 200);
    private readonly parallel = new OrthographicCamera(-1, 1, 1, -1, -100, 200);
    private camera: PerspectiveCamera | OrthographicCamera = this.perspective;
    private controls: OrbitControls;
    robots: Robots | null = null;
    /** What simulators have besides: links that stand in the world. */
    objects: Robots | null = null;
    /** A second robot, drawn transparent: where another recording has it. */
    ghost: Robots | null = null;
    /** A part at the goal that somebody looks at. */
    goal: GoalGhost | null = null;
    /** Of the scene that is shown. */
    version = -1;
    /** Whether the joints of the scene were drawn at least once. */
    shown = false;
    /** [rad or m] of the scene's joints. */
    positions = new Float32Array();
    /** The last bytes that came: they come again only when a joint has moved. */
    private latest: ArrayBuffer | null = null;
    private faulted: ReadonlySet<string> = new Set();
    private readonly frames = new Group();
    readonly shapes = new Shapes();
    private followed = '';
    private followedAt: Vector3 | null = null;
    private waiting = 0;
    private resting: ReturnType<typeof setTimeout> | undefined;
    /** [ms] When the last picture of one that changes was drawn. */
    private drawnAt = 0;
    private readonly isSlow: boolean;
    private isFilmed = false;
    private isClosed = false;
    private hasBegun = false;
    /** Somebody has aimed the camera: what comes later does not. */
    private isAimed = false;
    private readonly pieces = new Map<string, Promise<Piece[]>>();
    private readonly observer: ResizeObserver;
    /** Pictures that were drawn. */
    drawn = 0;
    private ground: GridHelper | null = null;

    /**
     * Throws Error: the browser draws no 3D.
     * @param load the bytes of meshes: scene/mesh.ts, `split`.
     * @param outdated called with the version of the scene that the joints are of, if another one is shown.
     */
    constructor(
        private readonly container: HTMLElement,
        private readonly load: (meshes: string[]) => Promise<ArrayBuffer | null>,
        private readonly outdated: (version: number) => void,
    ) {
        const { canvas, context, isSlow } = drawingCanvas();
        this.isSlow = isSlow;
        this.renderer = new WebGLRenderer({ canvas, context });
        this.renderer.setPixelRatio(isSlow ? COARSE : Math.min(window.devicePixelRatio, 2));
        this.renderer.setClearColor(SKY);
        container.append(this.renderer.domElement);
        for (const camera of [this.perspective, this.parallel]) camera.up.set(0, 0, 1);
        this.world.add(new HemisphereLight(0xffffff, 0x8d99a6, 2.2), this.frames);
        const sun = new DirectionalLight(0xffffff, 1.6);
        sun.position.set(3, -4, 6);
        this.world.add(sun);
        this.controls = this.controlled();
        this.observer = new ResizeObserver(() => this.resize());
        this.observer.observe(container);
        this.resize();
        this.aim();
        // While the scene is made: the first picture would wait for its shaders.
        this.renderer.compile(new Mesh(new BoxGeometry(), new MeshLambertMaterial()), this.camera, this.world);
    }

    close(): void {
        this.isClosed = true;
        this.observer.disconnect();
        this.controls.dispose();
        this.robots?.dispose();
        this.objects?.dispose();
        this.ghost?.dispose();
        this.goal?.dispose();
        cancelAnimationFrame(this.waiting);
        clearTimeout(this.resting);
        this.renderer.dispose();
        this.renderer.domElement.remove();
    }

    // --- what is shown --------------------------------------------------------------------------

    /** Show a scene, from now on. */
    show(scene: SceneOfRobots): void {
        this.version = scene.version;
        if (this.robots?.isOf(scene)) {
            // Its parts are known by now; nothing else has changed.
            this.robots.scene = scene;
            this.robots.setFaulted(this.faulted);
            if (this.latest) this.takeJoints(this.latest);
            this.draw();
            return;
        }
        this.robots?.dispose();
        void this.fetch(scene.links).then(() => this.begin());
        this.robots = new Robots(
            scene,
            (mesh) => this.piecesOf(mesh),
            () => this.aim(),
        );
        this.world.add(this.robots.group);
        this.shown = false;
        this.positions = new Float32Array();
        this.frames.clear();
        for (const [n, link] of scene.links.entries()) {
            if (!FRAME.test(link.name)) continue;
            const axes = new AxesHelper(0.08);
            axes.setColors(new Color(0xd00000), new Color(0x008a00), new Color(0x0000e0));
            axes.matrixAutoUpdate = false;
            axes.userData.link = n;
            this.frames.add(axes);
        }
        this.shapes.show(this.shapes.all, this.robots);
        this.robots.setFaulted(this.faulted);
        this.move();
        if (this.latest) this.takeJoints(this.latest);
        this.ground ??= this.addGround();
        this.aim();
    }

    /** Bytes of the joints' positions: editor/scenes.py, `frame`. */
    takeJoints(bytes: ArrayBuffer): void {
        this.latest = bytes;
        const version = new DataView(bytes).getUint32(0, true);
        if (version !== this.version) return this.outdated(version);
        const positions = new Float32Array(bytes, 4);
        const isNews = positions.some((q, i) => !(Math.abs(q - (this.positions[i] ?? Number.NaN)) < SEEN));
        if (this.shown && !isNews) return;
        this.positions = positions;
        this.move();
        if (!this.shown) this.aim();
        this.shown = this.isKnown;
    }

    setFaulted(parts: ReadonlySet<string>): void {
        this.faulted = parts;
        this.robots?.setFaulted(parts);
        this.draw();
    }

    showFrames(on: boolean): void {
        this.frames.visible = on;
        this.draw();
    }

    /** Draw these beside the robots, and no others. */
    takeShapes(shapes: DrawnShape[]): void {
        if (this.robots) this.shapes.show(shapes, this.robots);
        else this.shapes.all = shapes; // shown with the scene
        this.draw();
    }

    takeObjects(links: SceneLink[]): void {
        if (!this.objects?.place(links)) {
            this.objects?.dispose();
            void this.fetch(links);
            this.objects = new Robots(
                { version: 0, name: '', links, joints: [], parts: [], problems: [] },
                (mesh) => this.piecesOf(mesh),
                () => this.draw(),
            );
            this.objects.group.visible = !this.shapes.hidden.has(OBJECTS);
            this.world.add(this.objects.group);
        }
        this.draw();
    }

    /** Show a second robot beside the first one, transparent. */
    showGhost(scene: SceneOfRobots): void {
        this.ghost?.dispose();
        void this.fetch(scene.links);
        this.ghost = new Robots(
            scene,
            (mesh) => this.piecesOf(mesh),
            () => this.draw(),
            GHOST,
        );
        this.world.add(this.ghost.group);
        this.draw();
    }

    hideGhost(): void {
        this.ghost?.dispose();
        this.ghost = null;
        this.draw();
    }

    /** Bytes of its joints' positions, as `takeJoints`. */
    moveGhost(bytes: ArrayBuffer): void {
        this.ghost?.move(new Float32Array(bytes, 4));
        this.draw();
    }

    /**
     * Draw a part at a goal.
     * @param joints name of each of its joints in the scene → its position there [rad or m].
     * @param isBad whether it cannot be there.
     * @param handles by which its tool is dragged; null: by none.
     */
    showGoal(part: string, joints: ReadonlyMap<string, number>, isBad: boolean, handles: Handles | null): void {
        const scene = this.robots?.scene;
        if (!scene) return;
        if (this.goal?.part !== part || this.goal.robots.scene.version !== scene.version) {
            this.goal?.dispose();
            void this.fetch(scene.links);
            this.goal = new GoalGhost(
                scene,
                part,
                (mesh) => this.piecesOf(mesh),
                () => this.draw(),
            );
            this.world.add(this.goal.group);
        }
        this.goal.place(this.positions, joints, isBad);
        this.goal.take(handles, this.camera, this.canvas, (on) => {
            this.controls.enabled = !on;
        });
    }

    hideGoal(): void {
        this.goal?.dispose();
        this.goal = null;
        this.controls.enabled = true;
        this.draw();
    }

    /** The pose of a link of the goal in the world: as `pose`. */
    goalPose(link: string): number[] | null {
        return this.goal?.robots.link(link)?.matrixWorld.toArray() ?? null;
    }

    /** Where on the page a place in the axes of the goal's handles is [pixels]. */
    placeOfHandle(along: readonly number[]): number[] | null {
        const [x = 0, y = 0] = this.goal?.placeOfHandle(along, this.camera) ?? [];
        const box = this.canvas.getBoundingClientRect();
        return this.goal && [box.left + ((1 + x) / 2) * box.width, box.top + ((1 - y) / 2) * box.height];
    }

    /** Draw the shapes of these namespaces no more. */
    hide(namespaces: ReadonlySet<string>): void {
        this.shapes.hidden = namespaces;
        if (this.objects) this.objects.group.visible = !namespaces.has(OBJECTS);
        this.takeShapes(this.shapes.all);
    }

    /** Keep a part in the middle; empty: none. */
    follow(part: string): void {
        this.isAimed = true;
        this.followed = part;
        this.followedAt = null;
        this.move();
    }

    /** Names of the scene's joints. */
    get joints(): string[] {
        return this.robots?.scene.joints.map((joint) => joint.name) ?? [];
    }

    /** The pose of a link in the world: 4 by 4, column by column; null: there is none. */
    pose(link: string): number[] | null {
        return this.robots?.link(link)?.matrixWorld.toArray() ?? null;
    }

    /** The link, or the object, at a place of the page. */
    linkAt(x: number, y: number): string {
        const box = this.renderer.domElement.getBoundingClientRect();
        const at = new Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
        const ray = new Raycaster();
        ray.setFromCamera(at, this.camera);
        const seen = [this.robots, this.objects].flatMap((each) => (each?.group.visible ? [each.group] : []));
        const hits = ray.intersectObjects(seen);
        return hits.find((hit) => hit.object instanceof Mesh)?.object.parent?.name ?? '';
    }

    /** The color of a link's first shape, red, green, blue. */
    colorOf(link: string): number[] | null {
        const mesh = this.robots?.link(link)?.children.find((each) => each instanceof Mesh);
        const material = (mesh as Mesh | undefined)?.material as { color: Color } | undefined;
        return material?.color.toArray() ?? null;
    }

    // --- the camera -----------------------------------------------------------------------------

    /** Look at all robots, from a direction. */
    look(from: keyof typeof DIRECTIONS): void {
        this.isAimed = true;
        this.lookFrom(from);
    }

    /** Look at all robots, unless somebody has aimed the camera. */
    private aim(): void {
        if (!this.isAimed) this.lookFrom('any');
        this.draw();
    }

    private lookFrom(from: keyof typeof DIRECTIONS): void {
        const box = this.bounds();
        const target = box.getCenter(new Vector3());
        const radius = Math.max(box.getSize(new Vector3()).length() / 2, 0.2);
        const direction = new Vector3(...DIRECTIONS[from]).normalize();
        if (from === 'top') direction.set(0, -0.001, 1); // seen from above, x points to the right
        const distance = (1.15 * radius) / Math.sin((this.perspective.fov * Math.PI) / 360);
        this.put({
            eye: target.clone().addScaledVector(direction, distance).toArray(),
            target: target.toArray(),
            orthographic: this.camera === this.parallel,
        });
    }

    get stored(): StoredView {
        return {
            eye: this.camera.position.toArray(),
            target: this.controls.target.toArray(),
            orthographic: this.camera === this.parallel,
        };
    }

    restore(view: StoredView): void {
        this.isAimed = true;
        this.put(view);
    }

    private put(view: StoredView): void {
        const camera = view.orthographic ? this.parallel : this.perspective;
        if (camera !== this.camera) {
            this.controls.dispose();
            this.camera = camera;
            this.controls = this.controlled();
            this.goal?.see(camera);
        }
        camera.position.fromArray(view.eye);
        this.controls.target.fromArray(view.target);
        this.resize();
        this.controls.update();
        this.followedAt = null;
        this.draw();
    }

    setOrthographic(orthographic: boolean): void {
        this.restore({ ...this.stored, orthographic });
    }

    get canvas(): HTMLCanvasElement {
        return this.renderer.domElement;
    }

    /** What is seen now, as a PNG. */
    picture(): Promise<Blob | null> {
        this.paint();
        return new Promise((resolve) => this.renderer.domElement.toBlob(resolve, 'image/png'));
    }

    private controlled(): OrbitControls {
        const controls = new OrbitControls(this.camera, this.renderer.domElement);
        controls.addEventListener('change', () => this.draw());
        controls.addEventListener('start', () => {
            this.isAimed = true;
        });
        controls.minDistance = 0.05;
        controls.maxDistance = 100;
        return controls;
    }

    private bounds(): Box3 {
        const box = new Box3();
        if (this.robots) {
            this.robots.group.updateMatrixWorld(true);
            box.setFromObject(this.robots.group);
            for (const link of this.robots.links)
                box.expandByPoint(new Vector3().setFromMatrixPosition(link.matrixWorld));
        }
        return box.isEmpty() ? box.set(new Vector3(-0.5, -0.5, 0), new Vector3(0.5, 0.5, 1)) : box;
    }

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.container;
        if (width === 0 || height === 0) return;
        this.renderer.setSize(width, height);
        this.perspective.aspect = width / height;
        this.perspective.updateProjectionMatrix();
        // As large as the perspective shows what is in the middle.
        const distance = this.camera.position.distanceTo(this.controls.target);
        const half = distance * Math.tan((this.perspective.fov * Math.PI) / 360);
        [this.parallel.top, this.parallel.bottom] = [half, -half];
        [this.parallel.right, this.parallel.left] = [(half * width) / height, (-half * width) / height];
        this.parallel.updateProjectionMatrix();
        this.draw();
    }

    // --- pictures -------------------------------------------------------------------------------

    private move(): void {
        if (!this.robots) return;
        this.robots.move(this.positions);
        for (const axes of this.frames.children) {
            const link = this.robots.links[axes.userData.link as number];
            if (link) axes.matrix.copy(link.matrixWorld);
            axes.matrixWorldNeedsUpdate = true;
        }
        const part = this.robots.scene.parts.find((each) => each.name === this.followed);
        const link = part && this.robots.links[part.links.at(-1) ?? -1];
        if (link) {
            const at = new Vector3().setFromMatrixPosition(link.matrixWorld);
            const step = at.clone().sub(this.followedAt ?? this.controls.target);
            this.camera.position.add(step);
            this.controls.target.add(step);
            this.followedAt = at;
            this.controls.update();
        }
        this.draw();
    }

    /** Whether a joint's position is known, or there is none to know. */
    private get isKnown(): boolean {
        return this.robots?.scene.joints.length === 0 || this.positions.some((q) => !Number.isNaN(q));
    }

    private addGround(): GridHelper {
        const size = this.bounds().getSize(new Vector3());
        const half = Math.max(2, Math.ceil(Math.max(size.x, size.y)));
        const grid = new GridHelper(2 * half, 4 * half, 0x94a3b8, 0xd5dce4).rotateX(Math.PI / 2);
        this.world.add(grid);
        return grid;
    }

    /**
     * Ask for meshes that were not asked for yet; some at once, so that a large scene is not all or nothing. Fulfilled
     * when the first ones are there.
     */
    private fetch(links: SceneLink[]): Promise<unknown> {
        const meshes = new Set(links.flatMap((link) => link.shapes.map((shape) => shape.mesh)));
        const wanted = [...meshes].filter((mesh) => mesh !== '' && !this.pieces.has(mesh));
        const loads: Promise<unknown>[] = [];
        for (let first = 0; first < wanted.length; first += AT_ONCE) {
            const some = wanted.slice(first, first + AT_ONCE);
            const loaded = this.load(some).then((bytes) => {
                if (bytes) return split(bytes);
                for (const mesh of some) this.pieces.delete(mesh); // the next scene asks for them again
                return [];
            });
            loads.push(loaded);
            for (const [n, mesh] of some.entries())
                this.pieces.set(
                    mesh,
                    loaded.then((found) => (found[n] ? decode(found[n]) : [])),
                );
        }
        return loads.length > 0 ? Promise.race(loads) : Promise.resolve();
    }

    private piecesOf(mesh: string): Promise<Piece[]> {
        return this.pieces.get(mesh) ?? Promise.resolve([]);
    }

    /** There is something to see: without a graphics card, each picture before that would delay it. */
    private begin(): void {
        this.hasBegun = true;
        this.draw();
    }

    /** At the next picture of the browser. */
    private draw(): void {
        if (!this.hasBegun || this.isClosed) return;
        this.waiting ||= requestAnimationFrame(() => {
            this.waiting = 0;
            this.render(COARSE);
            clearTimeout(this.resting);
            if (!this.isSlow) return;
            const pace = performance.now() - this.drawnAt;
            this.drawnAt += pace; // a machine that draws seldom waits longer for the next picture
            this.resting = setTimeout(() => this.paint(), Math.max(RESTS_MS, pace < 1000 ? 3 * pace : 0));
        });
    }

    /** At once, as well as it can be drawn. */
    paint(): void {
        cancelAnimationFrame(this.waiting);
        clearTimeout(this.resting);
        this.waiting = 0;
        this.render(FINE);
    }

    setFilmed(on: boolean): void {
        this.isFilmed = on;
        if (!this.isClosed) this.paint();
    }

    private render(ratio: number): void {
        const wanted = this.isFilmed ? Math.min(window.devicePixelRatio, 2) : ratio;
        if (this.isSlow && this.renderer.getPixelRatio() !== wanted) this.renderer.setPixelRatio(wanted);
        this.renderer.render(this.world, this.camera);
        this.drawn++;
    }
}
