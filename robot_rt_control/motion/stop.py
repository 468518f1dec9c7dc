"""Stopping: the fastest way to rest, for one joint or for several that come to rest together."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.motion.profile import OK, begin_profile, finish_profile
from robot_rt_control.motion.ramp import append_ramp
from robot_rt_control.motion.velocity import plan_velocity
from robot_rt_control.native.realtime_code import realtime

PRECISION = 1e-9
"""Durations that differ by less than this fraction are made equal."""
_NOTHING = 1e-150
"""An acceleration whose square is no number any more."""


@realtime
def plan_stop(profile: np.record, q0: float, v0: float, a0: float, amax: float, jmax: float) -> int:
    """Plan the fastest motion from (q0, v0, a0) to rest. Arguments and status as `plan_velocity`."""
    return plan_velocity(profile, q0, v0, a0, 0.0, amax, jmax)


@realtime
def plan_stop_synchronized(
    profiles: np.ndarray, n: int, q0: np.ndarray, v0: np.ndarray, a0: np.ndarray, amax: np.ndarray, jmax: np.ndarray
) -> int:
    """Plan the stops of n joints so that all come to rest when the slowest one does.

    The others brake with a lower acceleration, never with more jerk. A joint that comes to rest just by
    ramping its acceleration to zero has no freedom; it is at rest earlier.

    Args:
        profiles: array of at least n records of `profile_dtype`, overwritten.
        n: number of joints.
        q0, v0, a0: arrays, at least n long: the state to start from.
        amax, jmax: arrays, at least n long: limits, positive.

    Returns:
        OK or PLANNING_FAILED: the first joint that failed has a rejected profile; the others stop independently.
    """
    status = OK
    total = 0.0
    for j in range(n):
        joint_status = plan_stop(profiles[j], q0[j], v0[j], a0[j], amax[j], jmax[j])
        if status == OK:
            status = joint_status
        total = max(total, profiles[j].total)
    if status != OK:
        return status
    for j in range(n):
        if 0.0 < profiles[j].total < total:
            reduced = stretched_acceleration(v0[j], a0[j], amax[j], jmax[j], total)
            begin_profile(profiles[j], q0[j], v0[j], a0[j])
            travelled = append_ramp(profiles[j], 0.0, v0[j], a0[j], 0.0, reduced, jmax[j])
            joint_status = finish_profile(profiles[j], q0[j] + travelled, 0.0)
            if abs(profiles[j].total - total) <= PRECISION * total:
                profiles[j].total = total
            if status == OK:
                status = joint_status
    return status


@realtime
def stretched_acceleration(v0: float, a0: float, amax: float, jmax: float, total: float) -> float:
    """The acceleration limit, at most amax, with which the ramp from (v0, a0) to rest takes `total` [s].

    `total` is at least the duration with amax.
    """
    v_release = v0 + a0 * abs(a0) / (2.0 * jmax)
    if v_release == 0.0:
        return amax
    direction = 1.0 if v_release < 0.0 else -1.0
    start = direction * a0
    change = -direction * v0
    peak_squared = jmax * change + 0.5 * start * start
    time_held = total - start / jmax
    if start > 0.0 and jmax * start * total > peak_squared and time_held > 0.0:
        # Held below the start: total = start / j + (change - start^2 / 2j) / held.
        held = (change - start * start / (2.0 * jmax)) / time_held
    else:
        # Held above the start: total = (held - start) / j + peak^2 / (j held); the smaller root.
        sum_of_roots = jmax * total + start
        discriminant = max(sum_of_roots * sum_of_roots - 4.0 * peak_squared, 0.0)
        held = 2.0 * peak_squared / (sum_of_roots + math.sqrt(discriminant))
    # After rounding, there may be nothing to brake.
    return min(held, amax) if held > _NOTHING else amax
