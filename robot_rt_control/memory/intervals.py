"""How evenly something repeats: mean, deviation and maximum of the times between its starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def interval_values(name: str, times_ns: NDArray[np.int64]) -> dict[str, str]:
    """As values of a `Health`; empty: there are fewer than two starts.

    Args:
        name: of the interval: period.
        times_ns: the starts, in order [ns].
    """
    if len(times_ns) < 2:
        return {}
    between = np.diff(times_ns) * 1e-9
    figures = {"mean": between.mean(), "deviation": between.std(), "maximum": between.max()}
    return {f"{name} {what} [s]": f"{value:.4g}" for what, value in figures.items()}
