"""Triangles of a mesh, whatever file they come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class MeshPiece:
    """Triangles of one material."""

    vertices: Array
    """(n, 3), in the unit of the URDF's scale."""
    faces: NDArray[np.int32]
    """(triangles, 3) which vertices are corners, counter-clockwise seen from outside."""
    normals: Array
    """(n, 3) at the vertices; (0, 3): the file has none."""
    texcoords: Array
    """(n, 2) from the left and the bottom of the texture, 0 to 1; (0, 2): the file has none."""
    color: tuple[float, float, float] | None
    texture: Path | None
    """A PNG that is there."""


def mesh_piece(
    corners: NDArray[np.int64],
    v: Array,
    vt: Array,
    vn: Array,
    color: tuple[float, float, float] | None,
    texture: Path | None = None,
) -> MeshPiece:
    """Triangles whose corners have numbers.

    Args:
        corners: (3 * triangles, 3) numbers of vertex, texture coordinates and normal; -1: it has none.
        v, vt, vn: (any, 3 or 2) of the whole file.

    Raises:
        ValueError: there is no vertex, texture coordinate or normal of such a number.
    """
    points, faces = np.unique(corners, axis=0, return_inverse=True)

    def chosen(column: int, given: Array) -> Array:
        numbers = points[:, column]
        if column and numbers.min() < 0:
            return given[:0]
        if numbers.min() < 0 or numbers.max() >= len(given):
            raise ValueError(f"a face names point {numbers.max() + 1} of {len(given)}")
        return given[numbers]

    return MeshPiece(
        vertices=chosen(0, v),
        faces=faces.reshape(-1, 3).astype(np.int32),
        normals=chosen(2, vn),
        texcoords=chosen(1, vt),
        color=color,
        texture=texture,
    )
