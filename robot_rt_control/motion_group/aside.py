"""Motion aside of a trajectory: a tool that is moved across its path, and what limits of the joints leave for that.

Joints follow by `lead`, a table at equal steps with cubics between them: joint positions are those of the trajectory
plus lead · w, for a displacement w (2,) [m] of the tool. After the table the last row holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.motion_group.curve import Curve
from robot_rt_control.motion_group.limits import PlanLimits

Array = NDArray[np.float64]

_LOOKS = 4
"""Between two rows of the table and two points of the trajectory."""
_BESIDE = 1e-6
"""[s]"""
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Of the displacement along each of its two axes."""

    most: float
    """[m]"""
    speed: float
    """[m/s]"""
    acceleration: float
    """[m/s^2]"""


def slopes(lead: Array, step: float) -> Array:
    """(N + 1, 2, n) [1/s] derivatives of a table (N + 1, 2, n) at its rows [s]; the last one is 0."""
    found = np.zeros_like(lead)
    found[1:-1] = (lead[2:] - lead[:-2]) / (2.0 * step)
    found[0] = (lead[1] - lead[0]) / step
    return found


def cubic(lead: Array, slope: Array, step: float, times: Array) -> tuple[Array, Array, Array]:
    """(times, 2, n) the table, and its first two derivatives, at times [s]."""
    i = np.clip((times / step).astype(int), 0, len(lead) - 2)
    x = np.clip(times / step - i, 0.0, 1.0)[:, None, None]
    a, b, da, db = lead[i], lead[i + 1], step * slope[i], step * slope[i + 1]
    c2, c3 = 3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db
    inside = (times < step * (len(lead) - 1))[:, None, None]
    first = np.where(inside, (da + x * (2.0 * c2 + 3.0 * x * c3)) / step, 0.0)
    second = np.where(inside, (2.0 * c2 + 6.0 * x * c3) / step**2, 0.0)
    return a + x * (da + x * (c2 + x * c3)), first, second


def exceeded(curve: Curve, limits: PlanLimits, lead: Array, step: float, bounds: Bounds) -> str:
    """Which limit a joint may exceed, wherever the tool is moved within its bounds; empty: none."""
    end = float(curve.x[-1])
    times = np.linspace(0.0, end, 1 + _LOOKS * max(len(curve.x), len(lead)))
    # Accelerations may differ at both sides of a point, and of a row.
    knots = np.concatenate([curve.x, step * np.arange(len(lead))])
    times = np.unique(np.clip(np.concatenate([times, knots - _BESIDE, knots + _BESIDE]), 0.0, end - _BESIDE))
    q, v, a = (curve(times, order) for order in range(3))
    G, dG, ddG = (np.abs(its).sum(axis=1) for its in cubic(lead, slopes(lead, step), step, times))
    aside = G * bounds.most
    speed = np.abs(v) + G * bounds.speed + dG * bounds.most
    acceleration = np.abs(a) + G * bounds.acceleration + 2.0 * dG * bounds.speed + ddG * bounds.most
    for name, over in (
        ("position", np.maximum(limits.lower - (q - aside), q + aside - limits.upper)),
        ("velocity", speed - limits.velocity),
        ("acceleration", acceleration - limits.acceleration),
    ):
        if (over > _ROUNDING).any():
            i, j = np.unravel_index(int(np.argmax(over)), over.shape)
            return f"joint {limits.names[j]!r} at {times[i]:.3f} s by {over[i, j]:.3g}: its limit of {name}"
    return ""
