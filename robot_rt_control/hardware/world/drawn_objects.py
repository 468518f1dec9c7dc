"""The objects of a simulated world as shapes, where they are now: for RViz and for browsers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.drawing.shape import Color, Shape, ShapeKind, points_of
from robot_rt_control.hardware.world.parameters import ObjectParameters
from robot_rt_control.hardware.world.profile_mesh import profile_mesh
from robot_rt_control.hardware.world.urdf_shapes import LinkShape, drawn_shapes, material_colors
from robot_rt_control.model.paths import resolve_path
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf_reader import read_urdf
from robot_rt_control.model.workcell.robot_description import WORLD

Array = NDArray[np.float64]

UNPAINTED: Color = (0.7, 0.7, 0.7, 1.0)
_DIGITS = 4
"""Of a position [m] and of a quaternion: what moves less has not moved."""
_KINDS = {"box": ShapeKind.BOX, "sphere": ShapeKind.SPHERE, "cylinder": ShapeKind.CYLINDER, "mesh": ShapeKind.MESH}


class Poses(Protocol):
    """A simulated world."""

    def object_pose(self, name: str, link: str | None = None) -> Pose:
        """X_WO."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Solid:
    """One shape of an object.

    Attributes:
        name: of the object; empty: the world's own, which never moves.
        link: None: the object's own frame.
        X_LS: (4, 4) of the shape in its link.
        shape: as it would be drawn in the origin.
        triangles: (3 n, 3) [m] corners of a shape that is no other one.
    """

    name: str
    link: str | None = None
    X_LS: Array
    shape: Shape
    triangles: Array | None = None


class DrawnObjects:
    """Looks where objects are.

    Args:
        solids: of all of them.
    """

    def __init__(self, solids: Sequence[Solid]) -> None:
        self._solids = list(solids)
        self._drawn: dict[int, tuple[Pose, Shape]] = {}
        """Number of a solid → pose of its link, and its shape there."""

    def shapes(self, world: Poses) -> list[Shape]:
        """The shapes in the world's frame, always in the same order. One that has not moved is the same as before."""
        poses: dict[tuple[str, str | None], Pose] = {}
        for solid in self._solids:
            if (key := (solid.name, solid.link)) not in poses:
                poses[key] = _rounded(world.object_pose(*key)) if solid.name else Pose()
        return [self._shape(i, solid, poses[solid.name, solid.link]) for i, solid in enumerate(self._solids)]

    def _shape(self, number: int, solid: Solid, pose: Pose) -> Shape:
        before = self._drawn.get(number)
        if before is not None and before[0] == pose:
            return before[1]
        X = pose.matrix @ solid.X_LS
        if solid.triangles is not None:
            shape = replace(solid.shape, points=points_of(solid.triangles @ X[:3, :3].T + X[:3, 3]))
        else:
            placed = Pose.of_matrix(X)
            shape = replace(solid.shape, points=(placed.position,), orientation=placed.orientation)
        self._drawn[number] = pose, shape
        return shape


def _rounded(pose: Pose) -> Pose:
    position, orientation = (tuple(round(x, _DIGITS) for x in given) for given in (pose.position, pose.orientation))
    return Pose.model_construct(position=position, orientation=orientation)


def solid_shape(device: str, name: str, kind: ShapeKind, color: Color | None) -> Shape:
    """A shape without its place and size."""
    return Shape(namespace=device, frame=WORLD, kind=kind, points=(), size=0.0, color=color or UNPAINTED, text=name)


def solids_of(device: str, things: Sequence[ObjectParameters]) -> list[Solid]:
    """The solids of objects of a workcell file; a plane has none, since RViz and browsers draw a ground."""
    return [solid for thing in things for solid in _solids_of(device, thing)]


def _solids_of(device: str, thing: ObjectParameters) -> Iterator[Solid]:
    color = None if thing.color is None else (*thing.color, 1.0)[:4]
    if thing.urdf is not None:
        path = resolve_path(thing.urdf, Path.cwd(), f"object {thing.name!r}")
        root = ElementTree.fromstring(read_urdf(path).content)
        colors = material_colors(root)
        for link in root.findall("link"):
            found = drawn_shapes(link, "visual", path.parent, colors)
            for each in found or drawn_shapes(link, "collision", path.parent, colors):
                yield _solid(device, thing.name, each, color, link.get("name"))
    elif thing.profile is not None:
        vertices, indices, _ = profile_mesh(thing.profile)
        corners = np.array(vertices)[indices]
        shape = solid_shape(device, thing.name, ShapeKind.TRIANGLES, color)
        yield Solid(name=thing.name, X_LS=np.eye(4), shape=shape, triangles=corners)
    elif not thing.plane:
        yield _solid(device, thing.name, _simple(thing), color)


def _simple(thing: ObjectParameters) -> LinkShape:
    if thing.box is not None:
        return LinkShape(kind="box", size=thing.box.size, X_LS=np.eye(4))
    if thing.sphere is not None:
        return LinkShape(kind="sphere", size=(thing.sphere.radius,), X_LS=np.eye(4))
    assert thing.cylinder is not None
    return LinkShape(kind="cylinder", size=(thing.cylinder.radius, thing.cylinder.height), X_LS=np.eye(4))


def _solid(device: str, name: str, of: LinkShape, color: Color | None, link: str | None = None) -> Solid:
    shape = solid_shape(device, name, _KINDS[of.kind], color or of.color)
    if of.kind == "sphere":
        shape = replace(shape, size=2.0 * of.size[0])
    elif of.kind == "cylinder":
        shape = replace(shape, edges=(2.0 * of.size[0], 2.0 * of.size[0], of.size[1]))
    else:
        shape = replace(shape, edges=(of.size[0], of.size[1], of.size[2]))
    if of.file is not None:
        shape = replace(shape, mesh=of.file.as_uri())
    return Solid(name=name, link=link, X_LS=of.X_LS, shape=shape)
