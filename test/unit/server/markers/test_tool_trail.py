"""What is kept of a tool's way."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.drawing.shape import ShapeKind
from robot_rt_control.server.markers.tool_trail import LEAST_STEP, MOST_POINTS, SECONDS, ToolTrail


def x_of(trail: ToolTrail) -> list[float]:
    return [x for shape in trail.shapes() for x, _, _ in shape.points]


def add(trail: ToolTrail, time: float, x: float) -> None:
    trail.add(time, np.array([x, 0.0, 1.0]))


def test_it_goes_back_some_seconds_and_ends_at_rest() -> None:
    trail = ToolTrail()
    for k in range(30):
        add(trail, 0.5 * k, 0.01 * k)
    (shape,) = trail.shapes()
    assert (shape.namespace, shape.frame, shape.kind) == ("path", "world", ShapeKind.LINE_STRIP)
    assert x_of(trail) == [0.01 * k for k in range(30) if 0.5 * k >= 14.5 - SECONDS]
    add(trail, 14.6, 0.29 + 0.5 * LEAST_STEP)
    assert x_of(trail)[-1] == 0.29, "it has not moved"
    add(trail, 14.5 + 2 * SECONDS, 0.29)
    assert trail.shapes() == []


def test_unknown_positions_and_a_new_time_begin_it_anew() -> None:
    trail = ToolTrail()
    for k in range(5):
        add(trail, k, k)
    add(trail, 5.0, math.nan)
    assert trail.shapes() == [], "no line over what nobody knows"
    for k in range(6, 9):
        add(trail, k, k)
    assert x_of(trail) == [6.0, 7.0, 8.0]
    add(trail, 0.0, 1.0)
    add(trail, 1.0, 2.0)
    assert x_of(trail) == [1.0, 2.0], "another executor counts from 0"


def test_it_is_bounded_if_time_passes_slowly() -> None:
    trail = ToolTrail()
    for k in range(MOST_POINTS + 50):
        add(trail, 1e-3 * k, k)
    assert len(x_of(trail)) == MOST_POINTS and x_of(trail)[-1] == MOST_POINTS + 49
