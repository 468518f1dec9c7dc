"""Fewer points for a densely sampled trajectory, with a known error: as many as `track_trajectory` takes."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_rt_control.vocabulary.capacities import MAX_TRAJECTORY_POINTS
from robot_rt_control.vocabulary.errors import DefinitionError

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Thinned:
    """Some of the samples, and how far the trajectory through these is from all of them."""

    times: Array
    """(m,) [s]"""
    positions: Array
    """(m, dof) [rad or m]"""
    velocities: Array
    """(m, dof)"""
    efforts: Array | None
    """(m, dof) [Nm or N]"""
    position_error: float
    """Greatest distance of a sample from the cubic pieces [rad or m]."""
    effort_error: float
    """Greatest distance of a sampled effort from the straight lines between the points [Nm or N]."""

    def parameters(self) -> dict[str, Any]:
        """Parameters of `track_trajectory`: times, positions, velocities and, if there are any, efforts."""
        given = {"times": self.times, "positions": self.positions, "velocities": self.velocities}
        if self.efforts is not None:
            given["efforts"] = self.efforts
        return {name: array.ravel().tolist() for name, array in given.items()}


def thinned(
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike,
    efforts: ArrayLike | None = None,
    *,
    position_error: float = 1e-5,
    effort_error: float = 1e-2,
    most: int = MAX_TRAJECTORY_POINTS,
) -> Thinned:
    """Choose samples, so that cubic pieces, and straight lines between the efforts, pass all samples closely.

    Pieces are split at their worst sample, the worst piece first, until all errors are kept or there are `most` points:
    so the result tells its errors. (As Ramer, Douglas and Peucker do for lines, 1972, 1973.)

    Args:
        times: (n,) [s] increasing, at least two.
        positions, velocities: (n, dof) [rad or m, per s].
        efforts: (n, dof) [Nm or N].
        position_error, effort_error: what is small enough [rad or m; Nm or N].
        most: number of points.

    Raises:
        DefinitionError: shapes that do not fit together, numbers that are not finite, times that do not increase.
    """
    t, q = np.array(times, float), np.array(positions, float)
    v = np.array(velocities, float)
    e = np.zeros((len(q), 0)) if efforts is None else np.array(efforts, float)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise DefinitionError("thinned: times", expected="at least two, each above the one before", got=str(t[:8]))
    for name, array in (("positions", q), ("velocities", v), ("efforts", e)):
        shape = (len(t), array.shape[1] if name == "efforts" and efforts is None else q.shape[-1])
        if array.shape != shape:
            raise DefinitionError(f"thinned: {name}", expected=f"shape {shape}", got=str(array.shape))
        if not np.isfinite(array).all():
            raise DefinitionError(f"thinned: {name}", expected="finite numbers", got="others")

    def judge(i: int, k: int) -> tuple[float, int, int, int, float, float]:
        """The piece from sample i to k: what is to be split first, lowest first; where; both errors."""
        inner = slice(i + 1, k)
        dq = np.abs(q[inner] - _cubic(t, q, v, i, k)).max(axis=1, initial=0.0)
        s = ((t[inner] - t[i]) / (t[k] - t[i]))[:, None]
        de = np.abs(e[inner] - (1.0 - s) * e[i] - s * e[k]).max(axis=1, initial=0.0)
        if len(dq) == 0:
            return 0.0, i, k, i, 0.0, 0.0
        share = np.maximum(dq / position_error, de / effort_error)
        worst = int(np.argmax(share))
        return -float(share[worst]), i, k, i + 1 + worst, float(dq.max()), float(de.max())

    pieces = [judge(0, len(t) - 1)]
    while pieces[0][0] < -1.0 and len(pieces) + 1 < most:
        _, i, k, at, _, _ = heapq.heappop(pieces)
        heapq.heappush(pieces, judge(i, at))
        heapq.heappush(pieces, judge(at, k))
    kept = sorted({0, *(piece[2] for piece in pieces)})
    return Thinned(
        times=t[kept],
        positions=q[kept],
        velocities=v[kept],
        efforts=None if efforts is None else e[kept],
        position_error=max(piece[4] for piece in pieces),
        effort_error=max(piece[5] for piece in pieces),
    )


def _cubic(t: Array, q: Array, v: Array, i: int, k: int) -> Array:
    """(k - i - 1, dof) The cubic piece from sample i to k at the samples between."""
    h = t[k] - t[i]
    s = ((t[i + 1 : k] - t[i]) / h)[:, None]
    rest: Array = 1.0 - s
    begin = rest**2 * ((1.0 + 2.0 * s) * q[i] + s * h * v[i])
    return begin + s**2 * ((1.0 + 2.0 * rest) * q[k] - rest * h * v[k])
