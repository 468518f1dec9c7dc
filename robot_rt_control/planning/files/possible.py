"""What no plan can do, with figures: said of a task and its workcell, before anything is planned and without MuJoCo.

Bounds are generous: what passes here may still turn out to be impossible. One is a convention: how far a body slides
after a blow counts the fastest joint alone; joints together could throw it farther, which nobody plans.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.hardware.world.of_workcell import world_of
from robot_rt_control.hardware.world.parameters import ObjectParameters
from robot_rt_control.hardware.world.urdf_shapes import DEFAULT_FRICTION, PLANE_FRICTION, collision_shapes
from robot_rt_control.model.rotation_formulas import vector_of_rotation
from robot_rt_control.planning.scene.contact_model import Face, faces_of
from robot_rt_control.planning.scene.task_cell import TaskCell
from robot_rt_control.planning.task import COORDINATES, Task
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]

_NO_WAY = 1e-4
"""[m] and"""
_NO_TURN = 1e-3
"""[rad]: a target that is nearer is the start."""
_INSIDE = 0.005
"""[m] deeper in something fixed than at the start."""
_FLOATING = 0.005
"""[m] over all that could carry it."""
_LEVEL = 0.002
"""[m] Corners that are as high as the lowest one carry a body."""
_BEFORE = 0.005
"""[m] A geometry needs as much room before a face."""
_EDGE = 0.9
"""Fraction of half a face: so far from its middle it is looked at."""
_MESH = 0.25
"""[m] size of a link's shape that is a mesh."""
_PULLS = -math.sqrt(0.5)
"""Cosine between a face's inward normal and the way: beyond, not even a friction of 1 moves the body that way."""
_OPPOSITE = -0.9
"""Cosine between inward normals of two faces that hold a body between them."""


def impossible(task: Task, cell: TaskCell) -> Iterator[tuple[str, DefinitionError]]:
    """The key of the task file, and what no plan can do: reach, faces, stability, targets inside things, no way."""
    start = cell.start_of(task.body) if task.start.body is None else task.start.body.matrix
    its = _Checked(task, cell, start, task.target.matrix)
    if not its.way and not its.turn:
        got = f"{1e3 * its.exact_way:.2f} mm and {its.exact_turn:.4f} rad from it"
        yield "target", DefinitionError("target", expected="another pose than that at the start", got=got)
        return
    if task.body not in cell.objects:
        return
    yield from its.inside()
    yield from its.resting()
    yield from its.faces()
    yield from its.reach()


def refuse_impossible(task: Task) -> None:
    """Refuse a task from a start that was measured.

    Raises:
        DefinitionError: the first thing that no plan can do.
    """
    for _, error in impossible(task, TaskCell(task.workcell)):
        raise error


@dataclass(frozen=True, kw_only=True)
class _Arm:
    """What bounds where a geometry gets."""

    base: Array
    """(3,) [m] of its first moving joint."""
    reach: float
    """[m] from there to the geometry's farthest point."""
    speed: float
    """[m/s] of the geometry at most, by one joint."""


class _Checked:
    def __init__(self, task: Task, cell: TaskCell, start: Array, target: Array) -> None:
        self.task, self.cell, self.start, self.target = task, cell, start, target
        counts = np.array([name not in task.free for name in COORDINATES])
        self.path = np.where(counts[:3], target[:3, 3] - start[:3, 3], 0.0)
        self.exact_way = float(np.linalg.norm(self.path))
        turned = vector_of_rotation(start[:3, :3].T @ target[:3, :3])
        self.exact_turn = float(np.linalg.norm(turned[counts[3:]]))
        self.way = self.exact_way if self.exact_way > _NO_WAY else 0.0
        self.turn = self.exact_turn if self.exact_turn > _NO_TURN else 0.0
        self.world = world_of(cell.workcell)
        self.gravity = np.array(self.world.gravity, dtype=float)
        weight = float(np.linalg.norm(self.gravity))
        self.up = -self.gravity / weight if weight > 0.0 else np.zeros(3)
        self.body = cell.objects.get(task.body)

    @property
    def _fixed(self) -> Iterator[ObjectParameters]:
        """What cannot be moved, with a shape that is simple."""
        for thing in self.cell.objects.values():
            if thing.plane or (thing.fixed and (thing.box is not None or thing.cylinder is not None)):
                yield thing

    # --- the target -----------------------------------------------------------------------------

    def inside(self) -> Iterator[tuple[str, DefinitionError]]:
        """A target in the ground, or in something fixed."""
        assert self.body is not None
        if set(self.task.free) & {"x", "y", "z"}:
            return
        for thing in self._fixed:
            depth = _depth(self.body, self.target, thing)
            if depth > max(_depth(self.body, self.start, thing), 0.0) + _INSIDE:
                expected = f"{self.task.body!r} outside {thing.name!r}"
                yield "target", DefinitionError("target", expected=expected, got=f"{1e3 * depth:.1f} mm inside")

    def resting(self) -> Iterator[tuple[str, DefinitionError]]:
        """A target at which the body does not stay, if nothing holds it."""
        assert self.body is not None
        if not self.task.at_rest or not self.up.any() or "z" in self.task.free or self._held:
            return
        gaps = []
        for thing in self.cell.objects.values():
            if thing.name != self.task.body and (thing.plane or _support(thing, self.up) is not None):
                gaps.append((_gap_below(self.body, self.target, thing, self.up), thing.name))
        gap, name = min(gaps, default=(math.inf, ""))
        if loose := bool({"rx", "ry"} & set(self.task.free)):  # it may end on any side
            gap -= _radius(self.body)
        if gap > _FLOATING:
            over = f"{1e3 * gap:.1f} mm over {name!r}" if math.isfinite(gap) else "nothing below it"
            expected = "a place where it stays, as nothing holds it there"
            hint = "`rest: false`, or two geometries at opposite faces, which grip it"
            yield "target", DefinitionError("target", expected=expected, got=over, hint=hint)
        elif self.body.box is not None and not loose and gap > -_INSIDE:
            heights = np.sort(_corners(self.body, self.target) @ self.up)
            if heights[2] > heights[0] + _LEVEL:
                on = "an edge" if heights[1] <= heights[0] + _LEVEL else "a corner"
                tilt = math.acos(min(float(np.max(np.abs(self.target[:3, :3].T @ self.up))), 1.0))
                expected, got = "an orientation in which it stays", f"{on}, {tilt:.3f} rad from standing on a face"
                yield "target", DefinitionError("target", expected=expected, got=got)

    # --- faces ----------------------------------------------------------------------------------

    @property
    def _pairs(self) -> list[tuple[str, Face]]:
        """Robot geometry and face, of those that the body itself has."""
        assert self.body is not None
        named = faces_of(self.body)
        return [(group.robot, named[face]) for group in self.task.pairs for face in group.faces if face in named]

    @property
    def _held(self) -> bool:
        """Whether two geometries may hold the body between them."""
        if self.task.patches:
            return True
        pairs = [(robot, -face.axes[0]) for robot, face in self._pairs]
        return any(a != b and float(m @ n) < _OPPOSITE for (a, m), (b, n) in itertools.combinations(pairs, 2))

    def faces(self) -> Iterator[tuple[str, DefinitionError]]:
        """Faces that nobody can get at, and those that push the wrong way."""
        assert self.body is not None
        if self.task.patches:
            return
        free = [(robot, face) for robot, face in self._pairs if self._before(face) is None]
        if not free:
            said = ", ".join(f"{face.name} is against {self._before(face)!r}" for _, face in self._pairs)
            expected = f"a face of {self.task.body!r} that a geometry can get at"
            yield "pairs", DefinitionError("pairs", expected=expected, got=said)
            return
        if self.turn or not self.way or self._held:
            return
        direction, R = self.path / self.way, self.start[:3, :3]
        best = max(float(-R @ face.axes[0] @ direction) for _, face in free)
        if best < _PULLS:
            expected = f"a face that is pushed towards the target, along ({_triple(direction)})"
            names = dict.fromkeys(face.name for _, face in free)
            got = ", ".join(f"{name}, pushed along ({_triple(-R @ self._axis(name))})" for name in names)
            yield "pairs", DefinitionError("pairs", expected=expected, got=got)

    def _axis(self, name: str) -> Array:
        return next(face.axes[0] for _, face in self._pairs if face.name == name)

    def _before(self, face: Face) -> str | None:
        """What is so near before all of a face, at the start, that nothing gets in between; None: nothing."""
        found = []
        for u, v in ((0.0, 0.0), *itertools.product((-_EDGE, _EDGE), repeat=2)):
            inside = u * face.half[0] * face.axes[1] + v * face.half[1] * face.axes[2]
            point = self.start[:3, 3] + self.start[:3, :3] @ (face.center + inside + _BEFORE * face.axes[0])
            found.append(next((thing.name for thing in self._fixed if _holds(thing, point)), None))
        return found[0] if all(found) else None

    # --- reach ----------------------------------------------------------------------------------

    def reach(self) -> Iterator[tuple[str, DefinitionError]]:
        """A body out of reach at the start; or at the target, and farther than it slides after a blow."""
        assert self.body is not None
        size = _radius(self.body)
        lacking: list[tuple[float, str, _Arm]] = []
        for robot in dict.fromkeys(group.robot for group in self.task.pairs):
            if (arm := self._arm(robot)) is None:
                return  # it moves without bounds
            far = float(np.linalg.norm(self.start[:3, 3] - arm.base)) - size
            lacking.append((far - arm.reach, robot, arm))
        missing, robot, arm = min(lacking, key=lambda row: row[0])
        if missing > 0.0:
            expected = f"{self.task.body!r} within reach at the start: {arm.reach:.2f} m of {robot}"
            got = f"{arm.reach + missing:.2f} m: {missing:.2f} m are missing"
            yield "pairs", DefinitionError("pairs", expected=expected, got=got)
            return
        ends = [(float(np.linalg.norm(self.start[:3, 3] + self.path - arm.base)) - size - arm.reach, robot, arm)
                for _, robot, arm in lacking]  # fmt: skip
        missing, robot, arm = min(ends, key=lambda row: row[0])
        slide = self._slide(arm)
        if missing > slide:
            expected = f"within reach: {arm.reach:.2f} m of {robot}"
            lacks = f"{arm.reach + missing:.2f} m: {missing:.2f} m are missing"
            got = f"{lacks}; after a blow it slides {slide:.2f} m at most"
            yield "target", DefinitionError("target", expected=expected, got=got)

    def _slide(self, arm: _Arm) -> float:
        """[m] how far the body slides after a blow, at most; infinite: nothing brakes it."""
        assert self.body is not None
        own = DEFAULT_FRICTION if self.body.friction is None else self.body.friction
        grounds = [
            thing.friction if thing.friction is not None else PLANE_FRICTION if thing.plane else DEFAULT_FRICTION
            for thing in self._fixed
        ]
        braking = own * min(grounds, default=0.0) * float(np.linalg.norm(self.gravity))
        return arm.speed**2 / (2.0 * braking) if braking > 0.0 else math.inf

    def _arm(self, name: str) -> _Arm | None:
        """Bounds of a geometry; None: it moves without bounds, or is not described."""
        part, _, link = name.partition(".")
        urdf, size, offset = self.cell.robots.get(part), 0.0, 0.0
        if urdf is None:
            return None
        for tool in self.world.tools:
            if tool.part_of == part and tool.name == link:
                shape = tool.box or tool.sphere or tool.cylinder
                assert shape is not None
                size, offset = _size_of(shape), float(np.linalg.norm(tool.pose.position))
                link = tool.link
        if link not in urdf.links:
            return None
        for form in () if offset or size else collision_shapes(urdf, link):
            far = float(np.linalg.norm(form.X_LS[:3, 3]))
            size = max(size, far + (_MESH if form.kind == "mesh" else float(np.linalg.norm(form.size))))
        X, base, reach, levers = self.cell.parts[part].root.matrix, None, size + offset, []
        for joint in urdf.path_to(urdf.root, link):
            if base is None:
                X = X @ joint.X_PJ
            else:
                reach += float(np.linalg.norm(joint.X_PJ[:3, 3]))
            if joint.type == "fixed":
                continue
            base = X[:3, 3].copy() if base is None else base
            if joint.type == "prismatic":
                reach += max(abs(joint.lower), abs(joint.upper))
            levers.append((joint.type == "prismatic", joint.velocity, reach))
        if base is None or not math.isfinite(reach):
            return None
        speeds = [
            math.inf if velocity is None else velocity * (1.0 if straight else reach - before + size)
            for straight, velocity, before in levers
        ]
        return _Arm(base=base, reach=reach, speed=max(speeds)) if np.isfinite(speeds).all() else None


def _triple(values: Array) -> str:
    return ", ".join(f"{value + 0.0:.2f}" for value in values)


def _size_of(shape: object) -> float:
    """[m] from the middle of a box, sphere or cylinder to its farthest point."""
    if hasattr(shape, "size"):
        return float(np.linalg.norm(shape.size)) / 2.0
    radius = float(getattr(shape, "radius"))  # noqa: B009
    return math.hypot(radius, float(getattr(shape, "height", 0.0)) / 2.0)


def _radius(thing: ObjectParameters) -> float:
    shape = thing.box or thing.sphere or thing.cylinder
    return math.inf if shape is None else _size_of(shape)


def _support(thing: ObjectParameters, axis: Array, R: Array | None = None) -> float | None:
    """[m] half of a thing's extent along an axis in the world; None: its shape is not simple."""
    local = (thing.pose.matrix[:3, :3] if R is None else R).T @ axis
    if thing.box is not None:
        return float(np.abs(local) @ np.array(thing.box.size)) / 2.0
    if thing.sphere is not None:
        return float(thing.sphere.radius)
    if thing.cylinder is not None:
        return float(thing.cylinder.radius * math.hypot(local[0], local[1]) + thing.cylinder.height / 2 * abs(local[2]))
    return None


def _holds(thing: ObjectParameters, point: Array) -> bool:
    """Whether a point (3,) [m] is in something fixed."""
    X = thing.pose.matrix
    local = X[:3, :3].T @ (point - X[:3, 3])
    if thing.plane:
        return bool(local[2] < 0.0)
    if thing.box is not None:
        return bool((np.abs(local) < np.array(thing.box.size) / 2.0).all())
    assert thing.cylinder is not None
    across = math.hypot(local[0], local[1])
    return across < thing.cylinder.radius and abs(float(local[2])) < thing.cylinder.height / 2.0


def _depth(body: ObjectParameters, X: Array, thing: ObjectParameters) -> float:
    """[m] how deep a body at X is in something fixed; negative: apart."""
    Y, R = thing.pose.matrix, X[:3, :3]
    between = X[:3, 3] - Y[:3, 3]
    if thing.plane:
        normal = Y[:3, 2]
        own = _support(body, normal, R)
        return -math.inf if own is None else own - float(normal @ between)
    axes = [*R.T, *Y[:3, :3].T, *(np.cross(a, b) for a in R.T for b in Y[:3, :3].T), between]
    depths = []
    for axis in axes:
        length = float(np.linalg.norm(axis))
        if length > 1e-6:
            one, other = _support(body, axis / length, R), _support(thing, axis / length)
            if one is not None and other is not None:
                depths.append(one + other - abs(float(between @ axis)) / length)
    return min(depths, default=-math.inf)


def _gap_below(body: ObjectParameters, X: Array, thing: ObjectParameters, up: Array) -> float:
    """[m] between a body at X and what is below it; infinite: it is not."""
    own = _support(body, up, X[:3, :3])
    if own is None:
        return -math.inf  # unknown: it may be carried
    low = float(up @ X[:3, 3]) - own
    Y = thing.pose.matrix
    if thing.plane:
        return low - float(up @ Y[:3, 3])
    across = X[:3, 3] - Y[:3, 3]
    across = across - float(across @ up) * up
    top = _support(thing, up)
    length = float(np.linalg.norm(across))
    if length > 1e-9:
        half = _support(thing, across / length)
        if half is None or length > half + _radius(body):
            return math.inf
    return math.inf if top is None else low - float(up @ Y[:3, 3]) - top


def _corners(body: ObjectParameters, X: Array) -> Array:
    assert body.box is not None
    signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    return np.asarray(X[:3, 3] + (signs * np.array(body.box.size)) @ X[:3, :3].T)
