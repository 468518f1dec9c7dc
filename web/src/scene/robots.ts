// The robots of a scene: a group for each link, moved by the joints' positions.

import type { Scene, SceneLink, SceneShape } from '../wire.ts';
import type { Piece } from './mesh.ts';
import {
    BoxGeometry,
    BufferAttribute,
    BufferGeometry,
    Color,
    CylinderGeometry,
    DoubleSide,
    Group,
    Matrix4,
    Mesh,
    MeshLambertMaterial,
    SphereGeometry,
    Vector3,
} from './three.ts';

const UNPAINTED = [0.7, 0.7, 0.7, 1];
const FAULTED = new Color(0xd00000);
/** How much of a faulted part's color is red. */
const REDNESS = 0.75;

interface Painted {
    material: MeshLambertMaterial;
    color: Color;
    link: number;
}

export class Robots {
    readonly group = new Group();
    readonly links: Group[] = [];
    private readonly painted: Painted[] = [];
    private readonly moving: { link: Group; of: SceneLink; X: Matrix4; axis: Vector3 }[] = [];
    private faulted: ReadonlySet<number> = new Set();
    private gone = false;
    /** Meshes that have not come yet. */
    loading = 0;

    /**
     * @param changed called when a mesh has come, and has to be drawn.
     * @param opacity of all of it.
     * @param tint what half of its color is.
     */
    constructor(
        public scene: Scene,
        piecesOf: (mesh: string) => Promise<Piece[]>,
        changed: () => void,
        private readonly opacity = 1,
        private readonly tint: Color | null = null,
    ) {
        for (const [n, of] of scene.links.entries()) {
            const link = new Group();
            link.name = of.name;
            link.matrixAutoUpdate = false;
            link.matrix.fromArray(of.X);
            (this.links[of.parent] ?? this.group).add(link);
            this.links.push(link);
            if (of.joint >= 0) this.moving.push({ link, of, X: link.matrix.clone(), axis: new Vector3(...of.axis) });
            for (const shape of of.shapes) this.addShape(link, n, shape, piecesOf, changed);
        }
    }

    /** Whether it would draw this scene alike. */
    isOf(scene: Scene): boolean {
        return JSON.stringify([scene.links, scene.joints]) === JSON.stringify([this.scene.links, this.scene.joints]);
    }

    /** Put links where these are, if they would be drawn alike otherwise. Returns whether. */
    place(links: SceneLink[]): boolean {
        const looks = (all: SceneLink[]): string => JSON.stringify(all.map((link) => ({ ...link, X: [] })));
        if (looks(links) !== looks(this.scene.links)) return false;
        for (const [n, link] of links.entries()) this.links[n]?.matrix.fromArray(link.X);
        this.group.updateMatrixWorld(true);
        return true;
    }

    /** Where each joint is [rad or m]; one that is not known stays. */
    move(positions: ArrayLike<number>): void {
        const motion = new Matrix4();
        for (const { link, of, X, axis } of this.moving) {
            const q = positions[of.joint] ?? Number.NaN;
            if (Number.isNaN(q)) continue;
            if (of.motion === 'turn') motion.makeRotationAxis(axis, q);
            else motion.makeTranslation(axis.x * q, axis.y * q, axis.z * q);
            link.matrix.multiplyMatrices(X, motion);
            link.matrixWorldNeedsUpdate = true;
        }
        this.group.updateMatrixWorld();
    }

    /** Color the links of these parts as faulted, and no others. */
    setFaulted(parts: ReadonlySet<string>): void {
        this.faulted = new Set(this.scene.parts.filter((part) => parts.has(part.name)).flatMap((part) => part.links));
        for (const each of this.painted) this.paint(each);
    }

    private paint({ material, color, link }: Painted): void {
        material.color.copy(color);
        if (this.tint) material.color.lerp(this.tint, 0.5);
        if (this.faulted.has(link)) material.color.lerp(FAULTED, REDNESS);
    }

    /** The link of this name. */
    link(name: string): Group | undefined {
        return this.links[this.scene.links.findIndex((link) => link.name === name)];
    }

    dispose(): void {
        this.gone = true;
        this.group.traverse((each) => {
            if (each instanceof Mesh) each.geometry.dispose();
        });
        for (const { material } of this.painted) material.dispose();
        this.group.removeFromParent();
    }

    private addShape(
        link: Group,
        number: number,
        shape: SceneShape,
        piecesOf: (mesh: string) => Promise<Piece[]>,
        changed: () => void,
    ): void {
        const [a = 0, b = 0, c = 0] = shape.size;
        const add = (geometry: BufferGeometry, color: number[], isFlat = false, isMirrored = false): void => {
            const [red = 0, green = 0, blue = 0, own = 1] = color;
            const opacity = own * this.opacity;
            const material = new MeshLambertMaterial({
                color: new Color().setRGB(red, green, blue, 'srgb'),
                flatShading: isFlat,
                transparent: opacity < 1,
                opacity,
                // A mesh may be open, or have its corners the wrong way round.
                ...((isFlat || isMirrored) && { side: DoubleSide }),
            });
            const mesh = new Mesh(geometry, material);
            mesh.matrixAutoUpdate = false;
            mesh.matrix.fromArray(shape.X);
            if (shape.kind === 'mesh') mesh.matrix.scale(new Vector3(a, b, c));
            const painted = { material, color: material.color.clone(), link: number };
            this.painted.push(painted);
            this.paint(painted);
            link.add(mesh);
        };
        const color = shape.color ?? UNPAINTED;
        if (shape.kind === 'box') add(new BoxGeometry(a, b, c), color);
        else if (shape.kind === 'sphere') add(new SphereGeometry(a, 32, 16), color);
        else if (shape.kind === 'cylinder') add(new CylinderGeometry(a, a, b, 40).rotateX(Math.PI / 2), color);
        else {
            this.loading++;
            void piecesOf(shape.mesh).then((pieces) => {
                this.loading--;
                if (this.gone) return;
                for (const piece of pieces) {
                    const geometry = new BufferGeometry();
                    geometry.setAttribute('position', new BufferAttribute(piece.positions, 3));
                    if (piece.normals.length) geometry.setAttribute('normal', new BufferAttribute(piece.normals, 3));
                    geometry.setIndex(new BufferAttribute(piece.corners, 1));
                    const painted = shape.color ?? (piece.color ? [...piece.color, 1] : UNPAINTED);
                    add(geometry, painted, !piece.normals.length, a * b * c < 0);
                }
                changed();
            });
        }
    }
}
