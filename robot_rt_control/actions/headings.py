"""Task frames: axes turned about their z by a heading, so that "along x" can be any direction in the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def turned_about_z(vector: Sequence[float] | NDArray[np.float64], heading: float) -> NDArray[np.float64]:
    """Convert a vector (3,) from axes turned by `heading` [rad] about z to the unturned axes."""
    c, s = math.cos(heading), math.sin(heading)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], vector[2]])
