// What the robot does now, as the socket brings it; it waits here while the page
// shows the past, and for the next picture.

import type { Drawer } from '../server.ts';
import type { DrawnShape, SceneLink } from '../wire.ts';

export class Present implements Drawer {
    private to: Drawer | null = null;
    private isHeld = false;
    private joints: ArrayBuffer | null = null;
    private shapes: DrawnShape[] | null = null;
    private objects: SceneLink[] | null = null;

    /** Show it there from now on; null: nowhere. */
    follow(to: Drawer | null): void {
        this.to = to;
        if (!to || this.isHeld) return;
        // The server sends what has changed alone: a robot that stands was sent to the picture before this one.
        if (this.shapes) to.takeShapes(this.shapes);
        if (this.objects) to.takeObjects(this.objects);
        if (this.joints) to.takeJoints(this.joints);
    }

    /** Show nothing of it; or all of it again, as it is by then. */
    hold(on: boolean): void {
        if (on === this.isHeld) return;
        this.isHeld = on;
        // Of the past these are not known.
        if (on || this.shapes) this.to?.takeShapes(on ? [] : (this.shapes ?? []));
        if (on || this.objects) this.to?.takeObjects(on ? [] : (this.objects ?? []));
        if (!on && this.joints) this.to?.takeJoints(this.joints);
    }

    takeJoints(frame: ArrayBuffer): void {
        this.joints = frame;
        if (!this.isHeld) this.to?.takeJoints(frame);
    }

    takeShapes(shapes: DrawnShape[]): void {
        this.shapes = shapes;
        if (!this.isHeld) this.to?.takeShapes(shapes);
    }

    takeObjects(objects: SceneLink[]): void {
        this.objects = objects;
        if (!this.isHeld) this.to?.takeObjects(objects);
    }
}

/** Of this page: it has one picture at most. */
export const present = new Present();
