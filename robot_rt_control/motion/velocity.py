"""Time-optimal motion to a velocity."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.motion.profile import begin_profile, finish_profile, reject_profile
from robot_rt_control.motion.ramp import append_ramp
from robot_rt_control.native.realtime_code import realtime


@realtime
def plan_velocity(profile: np.record, q0: float, v0: float, a0: float, v1: float, amax: float, jmax: float) -> int:
    """Plan the fastest motion from (q0, v0, a0) to velocity v1 with zero acceleration.

    Jerk stays within jmax and acceleration within amax; an acceleration beyond amax is reduced first.
    After the end, velocity v1 continues.

    Args:
        profile: record of `profile_dtype`, overwritten.
        q0, v0, a0: the state to start from.
        v1: velocity to reach.
        amax, jmax: limits of acceleration and jerk, positive.

    Returns:
        OK or PLANNING_FAILED (see the package's docstring).
    """
    begin_profile(profile, q0, v0, a0)
    finite = math.isfinite(q0) and math.isfinite(v0) and math.isfinite(a0) and math.isfinite(v1)
    if not (finite and limits_valid(amax, jmax)):
        return reject_profile(profile)
    travelled = append_ramp(profile, 0.0, v0, a0, v1, amax, jmax)
    return finish_profile(profile, q0 + travelled, v1)


@realtime
def limits_valid(amax: float, jmax: float) -> bool:
    """Whether both limits are positive and finite."""
    return amax > 0.0 and jmax > 0.0 and math.isfinite(amax) and math.isfinite(jmax)
