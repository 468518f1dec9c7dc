/** Position [m] and orientation (x y z w) of a tool in the world. */
export interface Pose {
    position: number[];
    orientation: number[];
}
