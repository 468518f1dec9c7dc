// Triangles as the server sends them: robot_rt_control/view/mesh.py, `encoded`.

export interface Piece {
    positions: Float32Array;
    /** Empty: it has none. */
    normals: Float32Array;
    corners: Uint32Array;
    /** Red, green, blue, 0 to 1; null: it has none. */
    color: [number, number, number] | null;
}

/** Throws RangeError: the bytes end too early. */
export function decode(bytes: ArrayBuffer): Piece[] {
    const words = new DataView(bytes);
    const pieces: Piece[] = [];
    let at = 4;
    const floats = (n: number): Float32Array => {
        at += 4 * n;
        return new Float32Array(bytes, at - 4 * n, n);
    };
    for (let left = words.getUint32(0, true); left > 0; left--) {
        const [vertices, triangles, hasNormals] = [0, 4, 8].map((more) => words.getUint32(at + more, true));
        at += 12;
        const [red, green, blue] = floats(3) as unknown as [number, number, number];
        const positions = floats(3 * (vertices as number));
        const normals = floats(hasNormals ? 3 * (vertices as number) : 0);
        const corners = new Uint32Array(bytes, at, 3 * (triangles as number));
        at += corners.byteLength;
        pieces.push({ positions, normals, corners, color: Number.isNaN(red) ? null : [red, green, blue] });
    }
    return pieces;
}

/** Several meshes, each after its length: editor/scenes.py, `meshes`. Throws RangeError: the bytes end too early. */
export function split(bytes: ArrayBuffer): ArrayBuffer[] {
    const words = new DataView(bytes);
    const found: ArrayBuffer[] = [];
    for (let at = 0; at < bytes.byteLength; ) {
        const length = words.getUint32(at, true);
        found.push(bytes.slice(at + 4, at + 4 + length));
        at += 4 + length;
    }
    return found;
}
