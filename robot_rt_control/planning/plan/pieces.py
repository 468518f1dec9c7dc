"""A motion as the cubic pieces that the robot plays: whether they keep its limits between control steps, too.

The check is the one of `track_trajectory`, so that it takes each plan that is a success.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.trajectory import curve_through, find_excess
from robot_rt_control.planning.plan.plan import braking_steps
from robot_rt_control.planning.scene.actuated import Actuated

Array = NDArray[np.float64]

_OVERSPEED = 1.05
"""Factor of the limit, at the ends of control steps: where efforts lead to."""
_ROUNDING = 1e-6
"""Fraction of a limit: what the solver's tolerance takes."""
_MOST = 0.02
"""Fraction of a joint's range that is kept free."""


def planned_limits(actuated: Actuated, step: float) -> tuple[Array, Array, Array]:
    """Lower, upper and velocity limits (n,) for the ends of control steps [s].

    Between two of them a joint turns back at most a t² / 8 beyond.
    """
    room = np.minimum(actuated.acceleration * step**2 / 8.0, _MOST * (actuated.upper - actuated.lower))
    room = np.where(np.isfinite(room), room, 0.0)
    lower, upper = np.minimum(actuated.lower + room, actuated.start), np.maximum(actuated.upper - room, actuated.start)
    return lower, upper, (1.0 - _ROUNDING) * actuated.velocity


def excess(actuated: Actuated, position: Array, velocity: Array, step: float) -> str:
    """What limit is exceeded, by which joint, when; empty: none.

    Args:
        position, velocity: (N + 1, n) at the ends of control steps.
        step: [s]
    """
    driven, free = actuated.velocity_driven, np.full(len(actuated.names), math.inf)
    limits = PlanLimits(
        names=actuated.names,
        lower=actuated.lower,
        upper=actuated.upper,
        velocity=np.where(driven, actuated.velocity, free),
        acceleration=np.where(driven, actuated.acceleration, free),
        jerk=free,
    )
    braking = braking_steps(velocity[-1], actuated.acceleration, step) if driven.any() else 1
    times = step * np.append(np.arange(len(position)), len(position) - 1 + braking)
    q = np.concatenate([position, position[-1:] + 0.5 * step * braking * velocity[-1:]])
    v = np.concatenate([velocity, np.zeros_like(velocity[:1])])
    found = find_excess(curve_through(times, q, v), limits)
    if found is not None:
        return str(found.error("plan"))
    fast = np.argwhere(np.abs(v) > _OVERSPEED * actuated.velocity)
    if len(fast):
        i, j = fast[0]
        return f"plan: joint {actuated.names[j]!r} has {v[i, j]:.3f} at {times[i]:.3f} s, above its velocity limit"
    return ""
