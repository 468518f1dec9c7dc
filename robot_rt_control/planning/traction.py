"""Traction: residual virtual stiffness says where, when and how much force is missing; geometries are drawn there.

Here as a part of the optimization: a cost on the distance of each pair with residual k, see cost.py. A geometry must be
at its face before the force is needed, so the residual is spread backwards in time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DRAW = 3.0
"""κ of the greatest residual."""
_SPREAD = 0.2
"""Of the horizon: after this time before its use, κ has fallen to 1/e."""


def draw_of(stiffness: Array, *, weight: float = DRAW) -> Array:
    """(N + 1, pairs) κ for the residual, scaled stiffness (N, pairs); without any, zero."""
    steps, pairs = stiffness.shape
    greatest = float(np.max(stiffness, initial=0.0))
    draw = np.zeros((steps + 1, pairs))
    if greatest <= 0.0:
        return draw
    fade = np.exp(-1.0 / (_SPREAD * steps))
    draw[-1] = stiffness[-1] / greatest
    for i in reversed(range(steps)):
        # Both ends of a step with residual k belong to it.
        used = np.maximum(stiffness[i], stiffness[i - 1] if i > 0 else 0.0) / greatest
        draw[i] = np.maximum(used, fade * draw[i + 1])
    return weight * draw
