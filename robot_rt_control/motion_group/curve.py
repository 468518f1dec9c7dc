"""Curves through points: piecewise polynomials, without SciPy, which takes as long to load as ten goals to begin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Curve:
    """A piecewise polynomial of several joints over time.

    Args:
        c: (degree + 1, n - 1, dof) coefficients of each piece, highest power first, over the time from its begin.
        x: (n,) [s] where pieces begin, and where the last one ends; increasing. The first and the last piece go on
            beyond.
    """

    c: np.ndarray
    x: np.ndarray

    def __call__(self, times: ArrayLike, order: int = 0) -> np.ndarray:
        """Its values (…, dof) at times (…), or those of a derivative."""
        t = np.asarray(times, float)
        piece = np.clip(np.searchsorted(self.x, t, side="right") - 1, 0, len(self.x) - 2)
        return polynomial(self.c[:, piece], (t - self.x[piece])[..., None], order)


def polynomial(c: np.ndarray, s: np.ndarray, order: int) -> np.ndarray:
    """A derivative of polynomials with coefficients c, highest power first, at s."""
    degree = len(c) - 1
    if order >= degree:  # the same at all s
        value = c[0] * math.perm(degree, order)
        return np.array(np.broadcast_to(value, np.broadcast_shapes(value.shape, s.shape)))
    value = c[0] * math.perm(degree, order) * s + c[1] * math.perm(degree - 1, order)
    for k in range(2, degree - order + 1):
        value = value * s + c[k] * math.perm(degree - k, order)
    return value


def cubic(times: np.ndarray, positions: np.ndarray, velocities: np.ndarray) -> Curve:
    """The cubic pieces through points (n, dof) with these velocities, at times (n,)."""
    h = np.diff(times)[:, None]
    slope = np.diff(positions, axis=0) / h
    begin, end = velocities[:-1], velocities[1:]
    c = np.stack([(begin + end - 2.0 * slope) / h**2, (3.0 * slope - 2.0 * begin - end) / h, begin, positions[:-1]])
    return Curve(c, times)


def spline(times: np.ndarray, positions: np.ndarray, first: ArrayLike = 0.0, last: ArrayLike = 0.0) -> Curve:
    """The cubic spline through points (n, dof) at times (n,), whose acceleration is continuous, with velocities `first`
    and `last` (dof,) at its ends."""
    h = np.diff(times)
    v = np.empty_like(positions)
    v[0], v[-1] = first, last
    # h[i] v[i - 1] + 2 (h[i - 1] + h[i]) v[i] + h[i - 1] v[i + 1] = 3 (h[i] slope[i - 1] + h[i - 1] slope[i])
    slope = np.diff(positions, axis=0) / h[:, None]
    v[1:-1] = 3.0 * (h[1:, None] * slope[:-1] + h[:-1, None] * slope[1:])
    diagonal = 2.0 * (h[:-1] + h[1:])
    for i in range(1, len(v) - 1):  # eliminate v[i - 1], from the first on
        factor = h[i] / diagonal[i - 2] if i > 1 else h[i]
        v[i] -= factor * v[i - 1]
        if i > 1:
            diagonal[i - 1] -= factor * h[i - 2]
    for i in range(len(v) - 2, 0, -1):
        v[i] = (v[i] - h[i - 1] * v[i + 1]) / diagonal[i - 1]
    return cubic(times, positions, v)
