"""What RViz shows of a task and its plan, as plain data: target, faces that may touch, path, virtual forces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot_description import WORLD
from robot_rt_control.planning.contact_model import Face
from robot_rt_control.planning.plan import Plan
from robot_rt_control.server.markers.shape import (
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

Array = NDArray[np.float64]

AXIS = 0.08
"""[m] Length of the axes that show the target's orientation."""
FORCE = 0.1
"""[m] Length of the arrow of the greatest virtual force."""
_LEAST = 0.02
"""Of the greatest virtual force: smaller ones are not drawn."""


def task_shapes(start: Pose, target: Pose, faces: Sequence[Face]) -> list[Shape]:
    """The target: its axes x y z in red, green, blue, and the faces there; and the faces at the start.

    Args:
        start, target: X_WB of the body.
        faces: of the body that may touch; several pairs may have the same one.
    """
    seen = list({face.name: face for face in faces}.values())
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
    for name, pose, color in (("contact_target", target, GREEN), ("contact_faces", start, ORANGE)):
        if seen:
            found.append(_shape(name, ShapeKind.LINES, _edges(seen, pose.matrix), 0.003, color))
    return found


def plan_shapes(plan: Plan, faces: Sequence[Face]) -> list[Shape]:
    """The way of the body, and the virtual forces that found the contacts, along it.

    Args:
        faces: one for each pair of the plan.
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
        for face, gamma in zip(faces, gammas, strict=True):
            if gamma > _LEAST * greatest:
                head = p + R @ face.center
                tail = head + FORCE * gamma / greatest * (R @ face.axes[0])  # it pushes inward
                found.append(_shape("virtual_force", ShapeKind.ARROW, points_of([tail, head]), 0.004, RED))
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
