"""Something to draw, as plain data: the node makes a visualization_msgs/Marker of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

Point = tuple[float, float, float]
Color = tuple[float, float, float, float]
"""Red, green, blue, opacity: each from 0 to 1."""

RED: Color = (0.9, 0.1, 0.1, 1.0)
ORANGE: Color = (1.0, 0.6, 0.0, 1.0)
GREEN: Color = (0.1, 0.7, 0.2, 1.0)
BLUE: Color = (0.1, 0.4, 0.9, 1.0)
GREY: Color = (0.6, 0.6, 0.6, 0.6)


class ShapeKind(Enum):
    """What the points of a shape mean."""

    LINE_STRIP = auto()
    """A line through all points."""
    LINES = auto()
    """A line from the first point to the second, from the third to the fourth …"""
    SPHERE = auto()
    """Around the only point."""
    ARROW = auto()
    """From the first point to the second."""
    TEXT = auto()
    """Around the only point; it faces the camera."""
    BOX = auto()
    """Around the only point, turned by `orientation`, with `edges`."""
    CYLINDER = auto()
    """Around the only point; its axis is z, turned by `orientation`. `edges` are diameter, diameter, length."""
    MESH = auto()
    """The file `mesh` at the only point, turned by `orientation`, scaled by `edges`."""
    TRIANGLES = auto()
    """One of the first three points, one of the next three …, counter-clockwise seen from outside."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One shape; it keeps its place in its frame while that moves."""

    namespace: str
    """What RViz shows and hides together: goal, path, planned_path, contact_force, rays, limits, faults; of objects
    their device."""
    frame: str
    """A link of robot_description."""
    kind: ShapeKind
    points: tuple[Point, ...]
    """[m] in the frame."""
    size: float
    """[m] width of lines and of an arrow's shaft, diameter of a sphere, height of letters."""
    color: Color
    colors: tuple[Color, ...] = ()
    """Color of each point; empty: all have `color`."""
    text: str = ""
    """Of an object its name."""
    orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    """Unit quaternion x y z w."""
    edges: Point = (0.0, 0.0, 0.0)
    """[m] along x, y, z; of a mesh its scale."""
    mesh: str = ""
    """URI of a file."""


def points_of(numbers: Sequence[np.ndarray] | np.ndarray) -> tuple[Point, ...]:
    """Points from numbers of shape (n, 3) [m]."""
    return tuple((float(x), float(y), float(z)) for x, y, z in numbers)
