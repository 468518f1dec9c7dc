"""Hill climbing: takes excessive virtual stiffness away, as long as that brings the body nearer to its target.

Each non-zero k falls by the same step. The next step is the change of the normalized final cost over the last change
of k, so that k falls fast where it does harm. It ends where the cost no longer falls, or no k is left.

Source: the document's figure 2D and claim 9.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FIRST = 0.1
_LEAST = 0.01
"""A smaller step would not end."""
_MOST = 1.0
_ROUNDS = 20


def climb(stiffness: Array, cost: Callable[[Array], float]) -> Array:
    """The stiffness with the lowest cost on the way.

    Args:
        stiffness: (N, pairs) scaled k, at least 0.
        cost: the normalized final cost of such a stiffness; infinite where it cannot be computed.
    """
    k, value, step = stiffness, cost(stiffness), _FIRST
    for _ in range(_ROUNDS):
        if not (k > 0.0).any():
            break
        lower = np.maximum(k - step, 0.0)
        its = cost(lower)
        if not its < value:
            break
        k, value, step = lower, its, float(np.clip((value - its) / step, _LEAST, _MOST))
    return k
