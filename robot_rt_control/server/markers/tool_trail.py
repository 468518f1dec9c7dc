"""The way of a tool in the last seconds."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from robot_rt_control.drawing.shape import BLUE, Point, Shape, ShapeKind
from robot_rt_control.model.workcell.robot_description import WORLD

SECONDS = 10.0
"""[s] of the workcell's time that a trail goes back."""
LEAST_STEP = 0.002
"""[m] A tool that has moved less has no new point."""
MOST_POINTS = 1000
"""If simulated time passes slowly, there are many points in `SECONDS`."""


class ToolTrail:
    """Where one tool was. It begins with the first `add`, and anew when the position was unknown or time went back."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, Point]] = deque(maxlen=MOST_POINTS)

    def add(self, time: float, position: np.ndarray) -> None:
        """Take the tool's position.

        Args:
            time: of the workcell [s].
            position: p_WT (3,) [m]; NaN: unknown.
        """
        x, y, z = (float(v) for v in position)
        if not math.isfinite(x + y + z) or (self._points and time < self._points[-1][0]):
            self._points.clear()
        if not math.isfinite(x + y + z):
            return
        while self._points and self._points[0][0] < time - SECONDS:
            self._points.popleft()
        if not self._points or math.dist(self._points[-1][1], (x, y, z)) >= LEAST_STEP:
            self._points.append((time, (x, y, z)))

    def shapes(self) -> list[Shape]:
        """A line through where it was; none as long as it has not moved."""
        points = tuple(point for _, point in self._points)
        if len(points) < 2:
            return []
        return [
            Shape(namespace="path", frame=WORLD, kind=ShapeKind.LINE_STRIP, points=points, size=0.006, color=BLUE)
        ]
