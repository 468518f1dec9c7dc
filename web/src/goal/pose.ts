// A pose in the world.

/** Of a tool in the world: position [m], orientation x y z w. */
export interface Pose {
    position: number[];
    orientation: number[];
}
