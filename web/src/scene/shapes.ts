// What the control server draws beside the robots: goals, paths, forces, rays, limits. Each is in the frame of a link.

import type { DrawnShape } from '../wire.ts';
import type { Robots } from './robots.ts';
import {
    ArrowHelper,
    BufferAttribute,
    BufferGeometry,
    CanvasTexture,
    Color,
    Line,
    LineBasicMaterial,
    LineSegments,
    Mesh,
    MeshBasicMaterial,
    type Object3D,
    SphereGeometry,
    Sprite,
    SpriteMaterial,
    Vector3,
} from './three.ts';

/** [pixels] Height of letters in their picture. */
const LETTERS = 48;

export class Shapes {
    all: DrawnShape[] = [];
    /** Namespaces that are not drawn. */
    hidden: ReadonlySet<string> = new Set();
    private drawn: Object3D[] = [];

    /** Draw these, and no others. What names a frame that there is not is left out. */
    show(shapes: DrawnShape[], robots: Robots): void {
        for (const each of this.drawn) {
            each.removeFromParent();
            each.traverse(release);
        }
        this.drawn = [];
        this.all = shapes;
        for (const shape of shapes) {
            const link = robots.link(shape.frame);
            if (!link || this.hidden.has(shape.namespace)) continue;
            const made = made3D(shape);
            if (!made) continue;
            made.userData.namespace = shape.namespace;
            link.add(made);
            this.drawn.push(made);
        }
    }
}

function made3D(shape: DrawnShape): Object3D | null {
    const points = shape.points.map(([x = 0, y = 0, z = 0]) => new Vector3(x, y, z));
    const [first, second] = points;
    const color = paint(shape.color);
    const opacity = shape.color[3] ?? 1;
    const look = { color, opacity, transparent: opacity < 1 };
    if (!first) return null;
    if (shape.kind === 'sphere') {
        const mesh = new Mesh(new SphereGeometry(shape.size / 2, 20, 12), new MeshBasicMaterial(look));
        mesh.position.copy(first);
        return mesh;
    }
    if (shape.kind === 'text') return label(shape, first);
    if (!second) return null;
    if (shape.kind === 'arrow') {
        const along = second.clone().sub(first);
        const length = along.length();
        if (length === 0) return null;
        const head = Math.min(3 * shape.size, length / 2);
        return new ArrowHelper(along.normalize(), first, length, color, head, 2 * shape.size);
    }
    const geometry = new BufferGeometry().setFromPoints(points);
    const material = new LineBasicMaterial(look);
    if (shape.colors.length === points.length) {
        const colors = shape.colors.flatMap((each) => paint(each).toArray());
        geometry.setAttribute('color', new BufferAttribute(new Float32Array(colors), 3));
        material.vertexColors = true;
        material.color.set(0xffffff);
    }
    return shape.kind === 'lines' ? new LineSegments(geometry, material) : new Line(geometry, material);
}

/** A text that faces the camera. */
function label(shape: DrawnShape, at: Vector3): Sprite {
    const canvas = document.createElement('canvas');
    const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
    const font = `${LETTERS}px system-ui, sans-serif`;
    pen.font = font;
    canvas.width = Math.ceil(pen.measureText(shape.text).width) + 8;
    canvas.height = Math.ceil(1.3 * LETTERS);
    pen.font = font; // a canvas that gets another size forgets it
    pen.fillStyle = `#${paint(shape.color).getHexString()}`;
    pen.textBaseline = 'middle';
    pen.fillText(shape.text, 4, canvas.height / 2);
    const sprite = new Sprite(new SpriteMaterial({ map: new CanvasTexture(canvas), depthTest: false }));
    sprite.position.copy(at);
    sprite.scale.set((shape.size * canvas.width) / LETTERS, (shape.size * canvas.height) / LETTERS, 1);
    return sprite;
}

function paint([red = 0, green = 0, blue = 0]: number[]): Color {
    return new Color().setRGB(red, green, blue, 'srgb');
}

function release(each: Object3D): void {
    const { geometry, material } = each as Partial<Mesh>;
    if (!(each instanceof Sprite)) geometry?.dispose(); // all sprites share one
    for (const one of [material ?? []].flat()) {
        (one as SpriteMaterial).map?.dispose();
        one.dispose();
    }
}
