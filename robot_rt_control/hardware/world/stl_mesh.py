"""Meshes in the format STL, binary or text: triangles without materials."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.world.mesh_piece import MeshPiece

_HEADER = 84
"""[bytes] before the first triangle of a binary file: a comment, then the number of triangles."""
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)")


def read_stl(file: Path) -> tuple[MeshPiece]:
    """The one piece of a mesh. Normals are not taken: files often have wrong ones, and the order of corners tells.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not valid, or has no triangles.
    """
    corners = _corners(file.read_bytes(), file)
    if not len(corners):
        raise ValueError(f"{file} has no triangles")
    # Bytes are compared, not numbers: -0 and 0 are two corners, which is right as well.
    rows = np.ascontiguousarray(corners.reshape(-1, 3)).view("V12").ravel()
    _, first, faces = np.unique(rows, return_index=True, return_inverse=True)
    return (
        MeshPiece(
            vertices=corners.reshape(-1, 3)[first].astype(np.float64),
            faces=faces.reshape(-1, 3).astype(np.int32),
            normals=np.zeros((0, 3)),
            texcoords=np.zeros((0, 2)),
            color=None,
            texture=None,
        ),
    )


def _corners(content: bytes, file: Path) -> NDArray[np.float32]:
    """(triangles, 3, 3) [unit of the file]. Its length tells a binary file: some begin with `solid`, as text does."""
    count = int.from_bytes(content[_HEADER - 4 : _HEADER], "little")
    if len(content) >= _HEADER and len(content) == _HEADER + count * _TRIANGLE.itemsize:
        found = np.frombuffer(content, _TRIANGLE, count, _HEADER)["corners"]
    elif content.lstrip()[:5] == b"solid":
        numbers = [float(word) for vertex in _VERTEX.findall(content) for word in vertex]
        if len(numbers) % 9:
            raise ValueError(f"{file} is no valid STL: {len(numbers) // 3} corners are not three for each triangle")
        found = np.array(numbers, np.float32).reshape(-1, 3, 3)
    else:
        raise ValueError(f"{file} is no valid STL: neither text, nor binary with {count} triangles")
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{file} is no valid STL: a coordinate is not finite")
    return found
