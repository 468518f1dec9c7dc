"""Directions that actions take as parameters: axes turned about their z by a heading, and orientations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_rt_control.vocabulary.errors import DefinitionError


def turned_about_z(vector: Sequence[float] | NDArray[np.float64], heading: float) -> NDArray[np.float64]:
    """Convert a vector (3,) from axes turned by `heading` [rad] about z to the unturned axes."""
    c, s = math.cos(heading), math.sin(heading)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], vector[2]])


def unit_quaternion(values: ArrayLike, where: str) -> NDArray[np.float64]:
    """(4,) x y z w, scaled to length 1. Raises DefinitionError: the length is off by more than 0.001."""
    quaternion = np.array(values, float)
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > 1e-3:
        raise DefinitionError(
            where, expected="a quaternion x y z w of length 1 (within 0.001)", got=f"length {length:.4f}"
        )
    return quaternion / length
