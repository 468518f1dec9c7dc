"""Meshes in the format OBJ, as they are drawn: one piece for each material.

MuJoCo itself reads no materials, and of most files with several objects the triangles of the first one alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from robot_rt_control.hardware.world.mesh_piece import MeshPiece, mesh_piece

_CACHED_MESHES = 32


def read_obj(file: Path) -> tuple[MeshPiece, ...]:
    """The pieces of a mesh.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not valid.
    """
    return _read(file, file.stat().st_mtime_ns)


@lru_cache(_CACHED_MESHES)
def _read(file: Path, _changed_ns: int) -> tuple[MeshPiece, ...]:
    points: dict[str, list[list[float]]] = {"v": [], "vt": [], "vn": []}
    widths = {"v": 3, "vt": 2, "vn": 3}
    corners: dict[str, list[tuple[int, int, int]]] = {}
    materials: dict[str, tuple[tuple[float, float, float] | None, Path | None]] = {}
    triangles = corners.setdefault("", [])
    for keyword, words in _lines(file):
        if keyword in points:
            points[keyword].append([float(word) for word in words[: widths[keyword]]])
        elif keyword == "f":
            counts = len(points["v"]), len(points["vt"]), len(points["vn"])
            polygon = [_corner(word, counts) for word in words]
            for second, third in zip(polygon[1:], polygon[2:], strict=False):
                triangles += (polygon[0], second, third)
        elif keyword == "usemtl":
            triangles = corners.setdefault(" ".join(words), [])
        elif keyword == "mtllib":
            materials |= _materials(file.parent / " ".join(words))
    v, vt, vn = (np.array(points[kind], np.float64).reshape(-1, widths[kind]) for kind in ("v", "vt", "vn"))
    pieces = []
    for name, used in corners.items():
        if used:
            color, texture = materials.get(name, (None, None))
            pieces.append(mesh_piece(np.array(used, np.int64), v, vt, vn, color, texture))
    if not pieces:
        raise ValueError(f"{file} has no faces")
    return tuple(pieces)


def _corner(word: str, counts: tuple[int, int, int]) -> tuple[int, int, int]:
    """Indices of vertex, texture and normal from 0, or -1; in the file they count from 1, or from the last one back."""
    given = [int(index) if index else 0 for index in word.split("/")]
    v, vt, vn = ([*given, 0, 0])[:3]
    a, b, c = counts
    return v - 1 if v >= 0 else v + a, vt - 1 if vt >= 0 else vt + b, vn - 1 if vn >= 0 else vn + c


def _materials(file: Path) -> dict[str, tuple[tuple[float, float, float] | None, Path | None]]:
    """Color and texture by name; none of a file that is not there."""
    found: dict[str, tuple[tuple[float, float, float] | None, Path | None]] = {}
    name = ""
    for keyword, words in _lines(file) if file.is_file() else ():
        color, texture = found.get(name, (None, None))
        if keyword == "newmtl":
            name = " ".join(words)
        elif keyword == "Kd":
            red, green, blue = (float(word) for word in words[:3])
            found[name] = (red, green, blue), texture
        elif keyword == "map_Kd":
            picture = file.parent / " ".join(words)
            if picture.suffix.lower() == ".png" and picture.is_file():
                found[name] = color, picture
    return found


def _lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    """Keyword and words of each line, without comments."""
    for line in file.read_text(errors="replace").splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words[0], words[1:]
