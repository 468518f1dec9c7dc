"""Motion aside of a trajectory: a tool that is moved across its path, and what limits of the joints leave for that.

Joints follow by `lead`, a table at equal steps with cubics between them: joint positions are those of the trajectory
plus lead · w, for a displacement w (2,) [m] of the tool. After the table the last row holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.motion_group.curve import Curve, cubic
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
    found = np.gradient(lead, step, axis=0)
    found[-1] = 0.0
    return found


def along(lead: Array, step: float, times: Array) -> tuple[Array, Array, Array]:
    """(times, 2, n) the table, and its first two derivatives, at times [s]."""
    rows = step * np.arange(len(lead))
    table = cubic(rows, lead.reshape(len(lead), -1), slopes(lead, step).reshape(len(lead), -1))
    inside = (times < rows[-1])[:, None]
    found = (table(np.minimum(times, rows[-1]), order) * (inside if order else 1.0) for order in range(3))
    G, dG, ddG = (values.reshape(-1, *lead.shape[1:]) for values in found)
    return G, dG, ddG


def exceeded(curve: Curve, limits: PlanLimits, lead: Array, step: float, bounds: Bounds) -> str:
    """Which limit a joint may exceed, wherever the tool is moved within its bounds; empty: none."""
    end = float(curve.x[-1])
    knots = np.unique(np.clip(np.concatenate([curve.x, step * np.arange(len(lead))]), 0.0, end))
    between = (knots[:-1, None] + np.diff(knots)[:, None] * np.linspace(0.0, 1.0, _LOOKS + 2)[1:-1]).ravel()
    # Accelerations may differ at both sides of a point, and of a row.
    times = np.clip(np.concatenate([knots - _BESIDE, between, knots + _BESIDE]), 0.0, end - _BESIDE)
    q, v, a = (curve(times, order) for order in range(3))
    with np.errstate(over="ignore", invalid="ignore"):  # of tables that are refused below
        G, dG, ddG = (np.abs(its).sum(axis=1) for its in along(lead, step, times))
    aside = G * bounds.most
    speed = np.abs(v) + G * bounds.speed + dG * bounds.most
    acceleration = np.abs(a) + G * bounds.acceleration + 2.0 * dG * bounds.speed + ddG * bounds.most
    for name, over in (
        ("position", np.maximum(limits.lower - (q - aside), q + aside - limits.upper)),
        ("velocity", speed - limits.velocity),
        ("acceleration", acceleration - limits.acceleration),
    ):
        if not (over <= _ROUNDING).all():  # what is no number is none within
            i, j = np.unravel_index(int(np.argmax(over)), over.shape)
            return f"joint {limits.names[j]!r} at {times[i]:.3f} s by {over[i, j]:.3g}: its limit of {name}"
    return ""
