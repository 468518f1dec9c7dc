"""Triangles of a mesh's file, as a browser takes them. Nothing else of a file leaves this module."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_rt_control.hardware.world.dae_mesh import read_dae
from robot_rt_control.hardware.world.mesh_piece import MeshPiece
from robot_rt_control.hardware.world.obj_mesh import read_obj
from robot_rt_control.hardware.world.stl_mesh import read_stl

_READERS = {".stl": read_stl, ".obj": read_obj, ".dae": read_dae}
LARGEST_FILE = {".stl": 32 << 20, ".obj": 16 << 20, ".dae": 16 << 20}
"""[bytes] Text takes longer to read."""
MOST_TRIANGLES = 400_000
"""Of one mesh: more than a picture shows, and as much as a small computer draws."""


def mesh_bytes(file: Path) -> bytes:
    """The mesh in a file, see `encoded`.

    Raises:
        ValueError: it is not taken; the text says why.
    """
    kind = file.suffix.lower()
    if kind not in _READERS:
        raise ValueError(f"a mesh of the kind {kind or file.name!r}; expected one of {', '.join(_READERS)}")
    try:
        if not file.is_file():
            raise ValueError(f"nothing at {file}")
        if (size := file.stat().st_size) > LARGEST_FILE[kind]:
            most = LARGEST_FILE[kind] >> 20
            raise ValueError(f"{file} has {size / 2**20:.0f} MB; expected at most {most} MB for {kind}")
        pieces = _READERS[kind](file)
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}") from None
    triangles = sum(len(piece.faces) for piece in pieces)
    if triangles > MOST_TRIANGLES:
        raise ValueError(f"{file} has {triangles} triangles; expected at most {MOST_TRIANGLES}")
    return encoded(pieces)


def encoded(pieces: Sequence[MeshPiece]) -> bytes:
    """Little-endian words of 4 bytes: the number of pieces; then of each piece

    - how many vertices n, how many triangles, whether it has normals (0 or 1);
    - its red, green and blue as float32, 0 to 1; NaN: it has no color;
    - float32 positions (n, 3), in the file's unit, and normals (n, 3), if it has them;
    - uint32 corners (triangles, 3), counter-clockwise seen from outside.
    """
    parts = [struct.pack("<I", len(pieces))]
    for piece in pieces:
        if not np.all(np.isfinite(piece.vertices)) or not np.all(np.isfinite(piece.normals)):
            raise ValueError("a coordinate is not finite")
        has_normals = len(piece.normals) == len(piece.vertices)
        parts.append(struct.pack("<III", len(piece.vertices), len(piece.faces), has_normals))
        parts.append(struct.pack("<fff", *(piece.color or (np.nan,) * 3)))
        parts.append(piece.vertices.astype("<f4").tobytes())
        if has_normals:
            parts.append(piece.normals.astype("<f4").tobytes())
        parts.append(piece.faces.astype("<u4").tobytes())
    return b"".join(parts)
