"""Shapes of robots' links, made of lofts: closed surfaces through rings along a path, each rounded off at both ends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

Array = NDArray[np.float64]
Vector = tuple[float, float, float]

_CREASE = math.cos(math.radians(38.0))
"""Faces that meet at more than this angle have an edge between them; others look like one smooth surface."""


@dataclass(frozen=True)
class Ring:
    """A cross-section of a loft."""

    center: Vector
    """[m]"""
    normal: Vector
    """The direction of the path there; any length."""
    radius: float | tuple[float, float]
    """[m] or the half axes along `Loft.side` and across it."""
    power: float = 2.0
    """2: an ellipse; more: a rectangle with ever sharper corners."""


@dataclass(frozen=True)
class End:
    """How a loft is rounded off: by a quarter of an ellipse outward from its last ring; what is left is a flat face."""

    height: float
    """[m]"""
    share: float = 1.0
    """Of the ring's radius that is rounded off. 1: a dome without a flat face."""


@dataclass(frozen=True)
class Loft:
    """A closed surface through rings; the path between them is curved.

    Of two rings whose centers are the same, the path has no direction: give each ring its normal.
    """

    rings: tuple[Ring, ...]
    side: Vector = (1.0, 0.0, 0.0)
    """Roughly the direction of each ring's first half axis; never along a ring's normal."""
    start: End = End(0.0, 0.0)
    end: End = End(0.0, 0.0)
    straight: bool = False
    """Whether rings are joined by straight lines."""


@dataclass(frozen=True)
class Mesh:
    """A closed surface; its faces are counter-clockwise from outside."""

    vertices: Array
    """(n, 3) [m]"""
    faces: list[tuple[int, ...]]


def mesh_of(loft: Loft, sides: int = 22, steps: int = 3, dome_steps: int = 4) -> Mesh:
    """Its surface: `sides` points a ring, `steps` rings from one given ring to the next, `dome_steps` in a dome."""
    table = np.array([_numbers(ring) for ring in loft.rings])
    rows = table if loft.straight else _curved(table, steps)
    points: list[Array] = []
    for angle in _angles(loft.start, dome_steps):
        points.append(_ring(rows[0], loft.side, sides, angle, loft.start, -1.0))
    points += [_ring(row, loft.side, sides, 0.0, loft.start, 0.0) for row in rows]
    for angle in reversed(_angles(loft.end, dome_steps)):
        points.append(_ring(rows[-1], loft.side, sides, angle, loft.end, 1.0))
    # Rings that are points become poles; before others there is a flat face.
    first, last = points[0].mean(0), points[-1].mean(0)
    if loft.start.share == 1.0:
        points = points[1:]
    if loft.end.share == 1.0:
        points = points[:-1]
    n = len(points)
    vertices = np.vstack([*points, first, last])
    faces: list[tuple[int, ...]] = []
    for j in range(sides):
        k = (j + 1) % sides
        faces += [(i * sides + j, i * sides + k, (i + 1) * sides + k, (i + 1) * sides + j) for i in range(n - 1)]
        faces.append((n * sides, k, j))
        faces.append((n * sides + 1, (n - 1) * sides + j, (n - 1) * sides + k))
    return Mesh(vertices, faces)


def hull_of(meshes: Iterable[Mesh]) -> Mesh:
    """The convex hull of all of them, as triangles."""
    points = np.round(np.vstack([mesh.vertices for mesh in meshes]), 4)
    hull = ConvexHull(points)
    number = {int(old): new for new, old in enumerate(hull.vertices)}
    faces: list[tuple[int, ...]] = []
    for (a, b, c), equation in zip(hull.simplices, hull.equations, strict=True):
        normal = np.cross(points[b] - points[a], points[c] - points[a])
        if normal @ equation[:3] < 0.0:
            b, c = c, b
        faces.append((number[int(a)], number[int(b)], number[int(c)]))
    return Mesh(points[hull.vertices], faces)


def mass_properties(solid: Mesh, mass: float) -> tuple[Array, Array]:
    """Center of mass [m] and (3, 3) inertia about it [kg m^2] of a body of triangles, of one density."""
    corners = solid.vertices[np.array(solid.faces)]  # (n, 3 corners, 3)
    volumes = np.linalg.det(corners) / 6.0  # of the tetrahedra from the origin
    center = np.einsum("n,nci->i", volumes, corners) / 4.0 / volumes.sum()
    corners = corners - center
    volumes = np.linalg.det(corners) / 6.0
    sums = corners.sum(1)
    second = np.einsum("n,nci,ncj->ij", volumes, corners, corners) + np.einsum("n,ni,nj->ij", volumes, sums, sums)
    second *= mass / volumes.sum() / 20.0
    return center, np.trace(second) * np.eye(3) - second


def write_obj(meshes: Iterable[Mesh], file: Path, *, normals: bool) -> None:
    """Write them as one OBJ file [m]; with normals, which make curved surfaces look smooth."""
    lines: list[str] = []
    directions: dict[tuple[str, ...], int] = {}
    faces: list[str] = []
    before = 1
    for mesh in meshes:
        lines += ["v " + " ".join(_text(row, 4)) for row in mesh.vertices]
        if normals:
            at_corners = _corner_normals(mesh)
            for face, rows in zip(mesh.faces, at_corners, strict=True):
                words = []
                for vertex, row in zip(face, rows, strict=True):
                    index = directions.setdefault(_text(row, 2), len(directions) + 1)
                    words.append(f"{vertex + before}//{index}")
                faces.append("f " + " ".join(words))
        else:
            faces += ["f " + " ".join(str(vertex + before) for vertex in face) for face in mesh.faces]
        before += len(mesh.vertices)
    lines += ["vn " + " ".join(direction) for direction in directions]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*lines, *faces]) + "\n")


def _numbers(ring: Ring) -> list[float]:
    radii = ring.radius if isinstance(ring.radius, tuple) else (ring.radius, ring.radius)
    normal = np.array(ring.normal) / np.linalg.norm(ring.normal)
    return [*ring.center, *normal, *radii, ring.power]


def _curved(table: Array, steps: int) -> list[Array]:
    """Rows between rows, by a Catmull-Rom curve."""
    padded = np.vstack([2.0 * table[0] - table[1], table, 2.0 * table[-1] - table[-2]])
    rows = []
    for p0, p1, p2, p3 in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        for t in np.arange(steps) / steps:
            slope, bend, twist = p2 - p0, 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3, 3.0 * (p1 - p2) + p3 - p0
            rows.append(p1 + 0.5 * t * (slope + t * (bend + t * twist)))
    return [*rows, table[-1]]


def _angles(end: End, steps: int) -> list[float]:
    """Of the rings of an end, from outside; an edge that is rounded off needs few."""
    if end.height == 0.0:
        return []
    return [float(x) for x in np.linspace(np.pi / 2, 0.0, steps if end.share == 1.0 else 2, endpoint=False)]


def _ring(row: Array, side: Vector, sides: int, angle: float, end: End, sign: float) -> Array:
    """(sides, 3) points; `angle` goes along an end's rounding, from its ring, 0, to its outermost points, pi / 2."""
    center, normal, radii, power = row[:3], row[3:6] / np.linalg.norm(row[3:6]), row[6:8], row[8]
    u = np.array(side) - np.dot(side, normal) * normal
    u /= np.linalg.norm(u)
    v = np.cross(normal, u)
    smallest = radii.min()
    radii = radii - end.share * (radii if end.share == 1.0 else smallest) * (1.0 - math.cos(angle))
    center = center + sign * end.height * math.sin(angle) * normal
    turn = 2.0 * np.pi * np.arange(sides) / sides
    x, y = (np.sign(w) * np.abs(w) ** (2.0 / power) for w in (np.cos(turn), np.sin(turn)))
    return center + radii[0] * x[:, None] * u + radii[1] * y[:, None] * v


def _corner_normals(mesh: Mesh) -> list[list[Array]]:
    """Of each face at each of its corners: the mean of those faces there that it meets smoothly."""
    weighted: list[Array] = []
    around: list[list[int]] = [[] for _ in mesh.vertices]
    for i, face in enumerate(mesh.faces):
        edges = mesh.vertices[list(face[1:])] - mesh.vertices[face[0]]
        weighted.append(np.cross(edges[:-1], edges[1:]).sum(0))
        for vertex in face:
            around[vertex].append(i)
    lengths = [max(float(np.linalg.norm(w)), 1e-12) for w in weighted]
    result = []
    for i, face in enumerate(mesh.faces):
        rows = []
        for vertex in face:
            near = [j for j in around[vertex] if weighted[i] @ weighted[j] >= _CREASE * lengths[i] * lengths[j]]
            total = np.sum([weighted[j] for j in near or [i]], axis=0)
            rows.append(total / max(float(np.linalg.norm(total)), 1e-12))
        result.append(rows)
    return result


def _text(row: Sequence[float] | Array, digits: int) -> tuple[str, ...]:
    return tuple(f"{round(float(x), digits) + 0.0:.{digits}f}".rstrip("0").rstrip(".") for x in row)
