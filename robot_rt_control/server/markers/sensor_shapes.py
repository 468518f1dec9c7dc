"""What sensors measure: the force of a force-torque sensor, the ray of a rangefinder."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.drawing.shape import GREY, ORANGE, RED, Shape, ShapeKind
from robot_rt_control.model.workcell.part_description import PartDescription

METRES_PER_NEWTON = 0.02
"""As the display of the wrench in config/workcell.rviz."""
LONGEST_ARROW = 0.6
"""[m] A larger force has this length."""
LEAST_FORCE = 0.5
"""[N] A smaller force is not shown: its direction is mostly noise."""


def force_shapes(frame: str, measured: np.record) -> list[Shape]:
    """An arrow along the measured force; none if it is unknown or small.

    Args:
        frame: of the sensor's messages: the force is along its axes.
        measured: `layout.measured_dtype` of a force-torque sensor.
    """
    force = np.array(measured.wrench[:3])
    size = float(np.linalg.norm(force))
    if not (math.isfinite(size) and size >= LEAST_FORCE):
        return []
    x, y, z = (float(v) for v in force * (min(METRES_PER_NEWTON * size, LONGEST_ARROW) / size))
    arrow = Shape(
        namespace="contact_force",
        frame=frame,
        kind=ShapeKind.ARROW,
        points=((0.0, 0.0, 0.0), (x, y, z)),
        size=0.01,
        color=ORANGE,
    )
    return [arrow]


def ray_shapes(part: PartDescription, frame: str, measured: np.record) -> list[Shape]:
    """The ray of a rangefinder: red up to what it hits, with a dot there; grey over its whole range if it hits nothing
    or the distance is unknown. Too near to be measured (-inf): red up to the range's begin.

    Nothing is drawn if the workcell file does not say how long the grey ray would be.

    Args:
        frame: of the sensor's messages: the ray is its x axis.
        measured: `layout.measured_dtype` of the rangefinder.
    """
    low, high = part.range or (0.0, math.inf)
    distance = float(measured.distance)
    hits = math.isfinite(distance) or distance == -math.inf
    length = high if not hits else low if distance == -math.inf else distance
    if not math.isfinite(length):
        return []
    end = (length, 0.0, 0.0)
    line = Shape(
        namespace="rays",
        frame=frame,
        kind=ShapeKind.LINES,
        points=((0.0, 0.0, 0.0), end),
        size=0.004,
        color=RED if hits else GREY,
    )
    dot = Shape(namespace="rays", frame=frame, kind=ShapeKind.SPHERE, points=(end,), size=0.02, color=RED)
    return [line, dot] if hits else [line]
