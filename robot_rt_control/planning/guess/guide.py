"""Start guesses made of geometry: place a geometry of the robot at a face that has to be pushed, and push it through.

A way of the body is a row of straight pushes, one for each face that points the right way, in each order. In between,
the geometry goes around the body. The optimizer gets the joints' inputs that follow such a path as its first guess;
when, where and how hard the body is touched is its own result.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.planning.scene.contact_model import Face

Array = NDArray[np.float64]

_CLEARANCE = 0.03
"""[m] between geometry and body on the way around it."""
_TOUCH = 0.002
"""[m] between them where the geometry halts; from there it creeps on,"""
_AGAIN = 0.006
"""[m] the same before later pushes: the one before left the body a little elsewhere, or turned,"""
_FELT = 0.0005
"""[m] beyond the face: engines differ by a millimetre in where geometries touch."""
_CREEPING = 3.0
"""Time per length of that, of that of free motion."""
_APART = 0.02
"""[m] Nearer to the body, a path is about to push it."""
_LEAST_PUSH = 0.02
"""Shorter pushes, per way of the body, are left to the optimizer."""
_PUSHING = 1.5
"""Time per length of a push, of that of free motion."""
_SETTLING = 0.06
"""[m] added to each length when the horizon is shared out: motion begins and ends at rest."""


@dataclass(frozen=True, kw_only=True)
class Push:
    """One push at one face."""

    pair: int
    """Index of its pair, in the scene."""
    length: float
    """[m] of the body's way."""


@dataclass(frozen=True, kw_only=True)
class Body:
    """A box-shaped body at the beginning: its faces, by pair."""

    position: Array  # (3,)
    rotation: Array  # (3, 3) R_WB
    target: Array
    """(3,) [m]"""
    up: Array
    """(3,) unit vector against gravity; the geometry goes around the body across it."""


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """A geometry of the robot at the beginning."""

    center: Array  # (3,)
    extents: Array
    """(pairs,) [m] from its centre towards each pair's face."""


@dataclass(frozen=True, kw_only=True)
class Path:
    """Path of one geometry of the robot, at the N + 1 ends of the control steps."""

    centers: Array
    """(N + 1, 3) [m]"""
    bodies: Array
    """(N + 1, 3) [m] where the body is that it pushes."""
    apart: NDArray[np.bool_]
    """(N + 1,) whether it goes around the body, before the first push, and keeps clear of it."""
    line: NDArray[np.int_]
    """(N + 1,) index of the line on which it is then: each is passed from rest to rest."""
    creeping: NDArray[np.bool_]
    """(N + 1,) whether it creeps up to a face."""


def pushes(body: Body, faces: Sequence[Face], least: float = 0.0) -> list[tuple[Push, ...]]:
    """The rows of pushes that bring the body to its target, if it goes straight; `faces`: of each pair.

    The first has the longest push first. Pushes shorter than `least` [m] are left out.
    """
    way = body.rotation.T @ (body.target - body.position)
    found: dict[tuple[float, ...], Push] = {}
    least = max(least, _LEAST_PUSH * float(np.linalg.norm(way)))
    for i, face in enumerate(faces):
        length = float(-face.axes[0] @ way)
        key = tuple(np.round(face.axes[0], 6))
        if length > least and key not in found:
            found[key] = Push(pair=i, length=length)
    ordered = sorted(found.values(), key=lambda push: -push.length)
    return list(itertools.permutations(ordered)) if len(ordered) <= 2 else [tuple(ordered)]


def path(
    row: Sequence[Push],
    body: Body,
    geometry: Geometry,
    faces: Sequence[Face],
    *,
    steps: int,
    share: float = 1.0,
    halting: bool = False,
    durations: Sequence[float] | None = None,
) -> Path:
    """Positions of the geometry's centre that push so; it rests after `share` of the horizon.

    Args:
        halting: it comes to rest just before it touches, and so begins each push without a blow; and at each corner of
            its way, and once it has drawn back from a push.
        durations: that each line needs, per horizon; what is left, and all time without them, is shared out by lengths.
    """
    lines: list[tuple[Array, float]] = []
    places: list[tuple[Array, Array, Array]] = []
    at, place, still = geometry.center, body.position.copy(), np.zeros(3)
    first = 0
    for push in row:
        face = faces[push.pair]
        inward = -body.rotation @ face.axes[0]
        contact = _contact(face, place, body, at, geometry.extents[push.pair])
        before = contact - _CLEARANCE * inward
        touch = contact - (_AGAIN if lines else _TOUCH) * inward
        around = np.array(_around(at, before, place, body, faces, float(geometry.extents.max())))
        free = [around] if not halting else [around[i : i + 2] for i in range(len(around) - 1)]
        first = first or len(free)
        after = contact + push.length * inward
        begin = before
        moving = [(place, contact, inward)]
        if halting:
            begin, back = contact + _FELT * inward, after - _CLEARANCE * inward
            free.append(np.array([before, touch]))
            moving *= 2
        lines += [(line, 1.0) for line in free]
        places += [(place, contact, still)] * len(free) + moving
        if halting:
            lines.append((np.array([touch, begin]), _CREEPING))
        lines.append((np.array([begin, after]), _PUSHING))
        place = place + push.length * inward
        at = after
        if halting and push is not row[-1]:
            lines.append((np.array([after, back]), 1.0))  # beside a face it would turn the body
            places.append((place, after, still))
            at = back
    slow = [j for j, (_, pace) in enumerate(lines) if pace == _CREEPING]
    centers, which = _timed(lines, steps, share, durations)
    bodies, apart = np.zeros_like(centers), np.zeros(len(centers), dtype=bool)
    for i, (center, j) in enumerate(zip(centers, which, strict=True)):
        place, contact, inward = places[j]
        bodies[i] = place + max(float(inward @ (center - contact)), 0.0) * inward
        apart[i] = j < first and _gap(center - place, body, faces, float(geometry.extents.max())) > _APART
    return Path(centers=centers, bodies=bodies, apart=apart, line=np.array(which), creeping=np.isin(which, slow))


def _contact(face: Face, place: Array, body: Body, at: Array, extent: float) -> Array:
    """The geometry's centre where it touches the middle of the face, as high as it is, but within the face."""
    middle = place + body.rotation @ face.center
    height = float(body.up @ (at - middle))
    half = sum(h * abs(float(body.up @ body.rotation @ axis)) for h, axis in zip(face.half, face.axes[1:], strict=True))
    return middle + float(np.clip(height, -half, half)) * body.up + extent * (body.rotation @ face.axes[0])


def _around(start: Array, end: Array, place: Array, body: Body, faces: Sequence[Face], extent: float) -> list[Array]:
    """The shortest way between two points, around the body where it is in between."""
    across = [axis for axis in body.rotation.T if abs(float(axis @ body.up)) < 0.5]
    if len(across) != 2:
        return [start, end]
    frame = np.array(across)
    half = _half(body, faces, frame) + extent
    a, b = frame @ (start - place), frame @ (end - place)
    corners = [np.array([x, y]) * (half + _CLEARANCE) for x, y in ((-1, -1), (-1, 1), (1, 1), (1, -1))]
    best: tuple[float, list[Array]] = math.inf, [a, b]
    for count in range(4):
        for middle in itertools.permutations(corners, count):
            line = [a, *middle, b]
            length = sum(float(np.linalg.norm(q - p)) for p, q in itertools.pairwise(line))
            if length < best[0] and not any(_crosses(p, q, half) for p, q in itertools.pairwise(line)):
                best = length, line
    rise = body.up @ (end - start)
    points = [start]
    for i, point in enumerate(best[1][1:-1]):
        height = body.up @ (start - place) + rise * (i + 1) / (len(best[1]) - 1)
        points.append(place + point @ frame + height * body.up)
    return [*points, end]


def _half(body: Body, faces: Sequence[Face], frame: Array) -> Array:
    """(2,) [m] half of the body's edges across `up`, as far as the faces of the pairs tell."""
    half = np.zeros(len(frame))
    for face in faces:
        size = abs(face.center) + sum(h * abs(axis) for h, axis in zip(face.half, face.axes[1:], strict=True))
        half = np.maximum(half, abs(frame @ body.rotation) @ size)
    return half


def _gap(at: Array, body: Body, faces: Sequence[Face], extent: float) -> float:
    """[m] between body and geometry, along the body's edge across `up` where it is greatest."""
    frame = np.array([axis for axis in body.rotation.T if abs(float(axis @ body.up)) < 0.5]).reshape(-1, 3)
    return float(np.max(np.abs(frame @ at) - _half(body, faces, frame) - extent, initial=-math.inf))


def _crosses(p: Array, q: Array, half: Array) -> bool:
    """Whether a line from p to q enters the rectangle within ± half, by more than 1 mm."""
    inner, way = half - 1e-3, q - p
    low, high = 0.0, 1.0
    for i in range(2):
        if abs(way[i]) < 1e-12:
            if abs(p[i]) >= inner[i]:
                return False
            continue
        one, two = sorted(((-inner[i] - p[i]) / way[i], (inner[i] - p[i]) / way[i]))
        low, high = max(low, one), min(high, two)
    return low < high


def _timed(
    lines: list[tuple[Array, float]], steps: int, share: float, durations: Sequence[float] | None
) -> tuple[Array, list[int]]:
    """The lines passed one after the other, each from rest to rest; and which one it is at each time."""
    lengths = [float(np.sum(np.linalg.norm(np.diff(line, axis=0), axis=1))) for line, _ in lines]
    weights = np.array([(length + _SETTLING) * slow for length, (_, slow) in zip(lengths, lines, strict=True)])
    if durations is not None:
        needed = np.array(durations)
        weights = needed + max(share - float(np.sum(needed)), 0.0) * weights / np.sum(weights)
    ends = share * np.cumsum(weights) / np.sum(weights)
    result, which = np.zeros((steps + 1, 3)), []
    for i in range(steps + 1):
        t = i / steps
        j = min(int(np.searchsorted(ends, t)), len(lines) - 1)
        begin = float(ends[j - 1]) if j else 0.0
        s = min((t - begin) / max(float(ends[j]) - begin, 1e-9), 1.0)
        result[i] = _along(lines[j][0], s * s * s * (10.0 - 15.0 * s + 6.0 * s * s))
        which.append(j)
    return result, which


def _along(line: Array, share: float) -> Array:
    """The point after a share of the line's length."""
    lengths = np.linalg.norm(np.diff(line, axis=0), axis=1)
    far = share * float(np.sum(lengths))
    for i, length in enumerate(lengths):
        if far <= length or i == len(lengths) - 1:
            return np.asarray(line[i] + (line[i + 1] - line[i]) * min(far / max(float(length), 1e-12), 1.0))
        far -= float(length)
    return np.asarray(line[-1])
