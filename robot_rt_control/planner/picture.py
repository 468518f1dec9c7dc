"""What RViz shows of a task and its plan, as plain data: target, faces that may touch, path, virtual forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.drawing.shape import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    Color,
    Point,
    Shape,
    ShapeKind,
    points_of,
)
from robot_rt_control.hardware.world.urdf_shapes import collision_shapes
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf import Urdf
from robot_rt_control.model.workcell.robot_description import WORLD
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.scene.contact_model import Face, box_faces

Array = NDArray[np.float64]

AXIS = 0.08
"""[m] Length of the axes that show the target's orientation."""
FORCE = 0.1
"""[m] Length of the arrow of the greatest virtual force."""
_LEAST = 0.02
"""Fraction of the greatest virtual force: smaller ones are not drawn."""


class Pair(Protocol):
    """A contact pair, such as `planning.scene.ScenePair`."""

    @property
    def face(self) -> Face: ...

    @property
    def fixed(self) -> tuple[Array, Array] | None:
        """p_WO (3,) and R_WO (3, 3) of the fixed object that has the face; None: the body has it."""
        ...

    def push(self, R_WB: Array, /) -> Array:
        """(3,) direction of the virtual force on the body."""
        ...


def link_faces(urdf: Urdf, link: str) -> list[Face]:
    """The faces of a box around the collision shapes of a link, in its frame; none if it has none, or meshes."""
    corners = []
    for shape in collision_shapes(urdf, link):
        if shape.kind == "mesh":
            return []
        if shape.kind == "box":
            half = 0.5 * np.array(shape.size)
        else:  # radius, and of a cylinder its length
            half = np.array([shape.size[0], shape.size[0], 0.5 * shape.size[1] if shape.size[1:] else shape.size[0]])
        signs = np.array(list(product((-1.0, 1.0), repeat=3)))
        corners.append(signs * half @ shape.X_LS[:3, :3].T + shape.X_LS[:3, 3])
    if not corners:
        return []
    least, most = np.min(np.concatenate(corners), axis=0), np.max(np.concatenate(corners), axis=0)
    middle = 0.5 * (least + most)
    return [replace(face, center=face.center + middle) for face in box_faces(most - least).values()]


def task_shapes(start: Pose, target: Pose, pairs: Sequence[Pair], outline: Sequence[Face] = ()) -> list[Shape]:
    """The target: its axes x y z in red, green, blue, and the body's faces there; and all faces at the start.

    Args:
        start, target: X_WB of the body.
        pairs: what may touch; several may have the same face.
        outline: further faces of the body that are shown at the target alone.
    """
    seen = list({pair.face.name: pair.face for pair in pairs if pair.fixed is None}.values())
    X = target.matrix
    corner = points_of([X[:3, 3]])[0]
    ends = points_of(X[:3, 3] + AXIS * X[:3, :3].T)
    axes = _shape(
        "contact_target",
        ShapeKind.LINES,
        tuple(point for end in ends for point in (corner, end)),
        0.006,
        GREEN,
        colors=tuple(color for color in (RED, GREEN, BLUE) for _ in range(2)),
    )
    found = [axes]
    if ghost := [*seen, *outline]:
        found.append(_shape("contact_target", ShapeKind.LINES, _edges(ghost, X), 0.003, GREEN))
    lines = list(_edges(seen, start.matrix))
    for pair in pairs:
        if pair.fixed is not None:
            placed = np.eye(4)
            placed[:3, 3], placed[:3, :3] = pair.fixed
            lines += _edges([pair.face], placed)
    found.append(_shape("contact_faces", ShapeKind.LINES, tuple(lines), 0.003, ORANGE))
    return found


def plan_shapes(plan: Plan, pairs: Sequence[Pair]) -> list[Shape]:
    """The way of the body, and the virtual forces that found the contacts, along it.

    Args:
        pairs: those of the plan.
    """
    found = [
        _shape("contact_path", ShapeKind.LINE_STRIP, points_of(plan.body_position), 0.006, BLUE),
        _shape(
            "contact_path",
            ShapeKind.LINES,
            tuple(
                point
                for R, p in zip(plan.body_rotation, plan.body_position, strict=True)
                for point in points_of([p, p + 0.5 * AXIS * R[:, 0]])
            ),
            0.002,
            GREY,
        ),
    ]
    greatest = float(np.max(plan.virtual_force, initial=0.0))
    if greatest <= 0.0:
        return found
    for i, gammas in enumerate(plan.virtual_force):
        R, p = plan.body_rotation[i], plan.body_position[i]
        for pair, gamma in zip(pairs, gammas, strict=True):
            if gamma > _LEAST * greatest:
                force = FORCE * gamma / greatest * pair.push(R)
                p_WO, R_WO = (p, R) if pair.fixed is None else pair.fixed
                at = p_WO + R_WO @ pair.face.center
                ends = [at - force, at] if pair.fixed is None else [at, at + force]
                found.append(_shape("virtual_force", ShapeKind.ARROW, points_of(ends), 0.004, RED))
    return found


def _edges(faces: Sequence[Face], X: Array) -> tuple[Point, ...]:
    """Lines around rectangles in a body's frame."""
    found: list[Point] = []
    for face in faces:
        u, v = face.half[0] * face.axes[1], face.half[1] * face.axes[2]
        corners = [face.center + a * u + b * v for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
        points = points_of([X[:3, :3] @ corner + X[:3, 3] for corner in corners])
        for i in range(4):
            found += points[i], points[(i + 1) % 4]
    return tuple(found)


def _shape(
    namespace: str,
    kind: ShapeKind,
    points: tuple[Point, ...],
    size: float,
    color: Color,
    colors: tuple[Color, ...] = (),
) -> Shape:
    return Shape(namespace=namespace, frame=WORLD, kind=kind, points=points, size=size, color=color, colors=colors)
