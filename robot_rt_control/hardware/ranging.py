"""What a rangefinder reports at the ends of its range, as in ROS (REP 117)."""

from __future__ import annotations

import math

_TOLERANCE = 1e-6
"""A distance exactly at an end is still in the range."""


def ranged(distance: float, measuring_range: tuple[float, float]) -> float:
    """A measured distance [m]; nearer than the range: -inf, beyond it: inf; NaN stays unknown."""
    least, greatest = measuring_range
    if distance < least * (1.0 - _TOLERANCE):
        return -math.inf
    return math.inf if distance > greatest * (1.0 + _TOLERANCE) else distance
