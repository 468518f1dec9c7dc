"""Meshes in the format COLLADA (.dae): many robots' descriptions come with such, and MuJoCo does not read them.

As in RViz, the file's unit counts and its `up_axis` does not: robots' meshes are drawn in the frames of their links.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.world.mesh_piece import MeshPiece, mesh_piece

Array = NDArray[np.float64]

_CACHED_MESHES = 32
_DEEPEST = 64
"""Levels of nodes: a file that names itself ends here."""


def read_dae(file: Path) -> tuple[MeshPiece, ...]:
    """The pieces of a mesh: one for each list of triangles or polygons in each place where the scene has it.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not valid, or has no triangles.
    """
    return _read(file, file.stat().st_mtime_ns)


@lru_cache(_CACHED_MESHES)
def _read(file: Path, _changed_ns: int) -> tuple[MeshPiece, ...]:
    try:
        return tuple(_Document(file).pieces())
    except (ElementTree.ParseError, AttributeError, KeyError, IndexError) as error:
        raise ValueError(f"{file} is no valid COLLADA: {error}") from None


class _Document:
    def __init__(self, file: Path) -> None:
        self._file, self._root = file, ElementTree.parse(file).getroot()
        for element in self._root.iter():
            element.tag = element.tag.rpartition("}")[2]  # each version has a namespace of its own
        self._by_id = {element.get("id"): element for element in self._root.iter() if element.get("id")}

    def _named(self, url: str | None) -> ElementTree.Element:
        return self._by_id[(url or "").removeprefix("#")]

    def pieces(self) -> list[MeshPiece]:
        unit = self._root.find("asset/unit")
        scale = 1.0 if unit is None else float(unit.get("meter", 1.0))
        shown = self._root.find("scene/instance_visual_scene")
        scene = self._root.find(".//visual_scene") if shown is None else self._named(shown.get("url"))
        found: list[MeshPiece] = []
        for node in scene.findall("node") if scene is not None else ():
            for geometry, X, symbols in self._placed(node, np.diag([scale, scale, scale, 1.0]), 0):
                found += self._of_geometry(geometry, X, symbols)
        if not found:
            raise ValueError(f"{self._file} has no triangles")
        return found

    def _placed(
        self, node: ElementTree.Element, X: Array, depth: int
    ) -> Iterator[tuple[ElementTree.Element, Array, dict[str, str]]]:
        """Geometries below a node with their (4, 4) poses, and the materials that their symbols mean."""
        if depth > _DEEPEST:
            raise ValueError(f"{self._file} has more than {_DEEPEST} levels of nodes")
        for element in node:
            X = X @ _transform(element)
        for used in node.findall("instance_geometry"):
            materials = used.findall("bind_material/technique_common/instance_material")
            symbols = {m.get("symbol", ""): m.get("target", "") for m in materials}
            yield self._named(used.get("url")), X, symbols
        for used in node.findall("instance_node"):
            yield from self._placed(self._named(used.get("url")), X, depth + 1)
        for child in node.findall("node"):
            yield from self._placed(child, X, depth + 1)

    def _of_geometry(self, geometry: ElementTree.Element, X: Array, symbols: dict[str, str]) -> Iterator[MeshPiece]:
        R, mirrored = X[:3, :3], float(np.linalg.det(X[:3, :3])) < 0.0
        for primitive in geometry.findall("mesh/*"):
            if primitive.tag not in ("triangles", "polylist", "polygons"):
                continue
            inputs = {i.get("semantic"): i for i in reversed(primitive.findall("input"))}  # of several the first
            corners = _corners(primitive, inputs)
            if not len(corners):
                continue
            vertices = self._named(inputs["VERTEX"].get("source"))
            positions = next(i for i in vertices.findall("input") if i.get("semantic") == "POSITION")
            v = self._numbers(positions)[:, :3] @ R.T + X[:3, 3]
            vn = self._numbers(inputs["NORMAL"])[:, :3] @ np.linalg.inv(R) if "NORMAL" in inputs else np.zeros((0, 3))
            lengths = np.linalg.norm(vn, axis=1, keepdims=True)
            vn = np.divide(vn, lengths, out=np.tile([0.0, 0.0, 1.0], (len(vn), 1)), where=lengths > 0.0)
            if mirrored:
                corners = corners.reshape(-1, 3, 3)[:, ::-1].reshape(-1, 3)
            color = self._color(symbols.get(primitive.get("material", ""), primitive.get("material", "")))
            yield mesh_piece(corners, v, np.zeros((0, 2)), vn, color)

    def _numbers(self, given: ElementTree.Element) -> Array:
        """(n, stride) of a source."""
        source = self._named(given.get("source"))
        array = source.find("float_array")
        if array is None:
            raise KeyError(f"source {given.get('source')} has no float_array")
        accessor = source.find("technique_common/accessor")
        stride = int(accessor.get("stride", 1)) if accessor is not None else 3
        return np.array((array.text or "").split(), np.float64).reshape(-1, stride)

    def _color(self, material: str) -> tuple[float, float, float] | None:
        """The diffuse colour of a material; None: it has none."""
        found = self._by_id.get(material.removeprefix("#"))
        effect = None if found is None else found.find("instance_effect")
        color = None if effect is None else self._named(effect.get("url")).find(".//diffuse/color")
        if color is None:
            return None
        red, green, blue = (float(word) for word in (color.text or "").split()[:3])
        return red, green, blue


def _transform(element: ElementTree.Element) -> Array:
    """(4, 4) of one element of a node; the identity of all others."""
    X = np.eye(4)
    if element.tag not in ("matrix", "translate", "scale", "rotate"):
        return X
    given = np.array((element.text or "").split(), np.float64)
    if element.tag == "matrix":
        return given.reshape(4, 4)
    if element.tag == "translate":
        X[:3, 3] = given
    elif element.tag == "scale":
        X[:3, :3] = np.diag(given)
    else:  # Rodrigues' formula
        axis, angle = given[:3] / np.linalg.norm(given[:3]), math.radians(given[3])
        K = np.cross(np.eye(3), axis)
        X[:3, :3] += math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K
    return X


def _corners(primitive: ElementTree.Element, inputs: dict[str | None, ElementTree.Element]) -> NDArray[np.int64]:
    """(3 * triangles, 3) numbers of vertex, -1, and normal or -1; polygons are cut into fans."""
    width = 1 + max(int(i.get("offset", 0)) for i in primitive.findall("input"))
    lists = [np.array((p.text or "").split(), np.int64).reshape(-1, width) for p in primitive.findall("p")]
    every = np.concatenate(lists) if lists else np.zeros((0, width), np.int64)
    chosen = np.full((len(every), 3), -1, np.int64)
    for column, semantic in ((0, "VERTEX"), (2, "NORMAL")):
        if semantic in inputs:
            chosen[:, column] = every[:, int(inputs[semantic].get("offset", 0))]
    if primitive.tag == "triangles":
        return chosen
    counts = primitive.find("vcount")
    sizes = [len(p) for p in lists] if counts is None else [int(word) for word in (counts.text or "").split()]
    fans, first = [], 0
    for size in sizes:
        for second in range(first + 1, first + size - 1):
            fans += [first, second, second + 1]
        first += size
    return chosen[np.array(fans, np.int64)]
