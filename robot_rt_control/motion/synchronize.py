"""Motion of several joints that arrive together."""

from __future__ import annotations

import numpy as np

from robot_rt_control.motion.position import (
    CRUISE,
    PRECISION,
    find_change,
    plan_position,
    travel_direction,
    write_change,
)
from robot_rt_control.motion.profile import OK, begin_profile, finish_profile
from robot_rt_control.motion.ramp import ROUNDING
from robot_rt_control.motion.root import MAX_STEPS, next_fraction
from robot_rt_control.motion.stop import plan_stop, plan_stop_synchronized
from robot_rt_control.native.realtime_code import realtime

__all__ = ["plan_position_in", "plan_position_synchronized", "plan_stop", "plan_stop_synchronized"]


@realtime
def plan_position_synchronized(
    profiles: np.ndarray,
    n: int,
    q0: np.ndarray,
    v0: np.ndarray,
    a0: np.ndarray,
    q1: np.ndarray,
    vmax: np.ndarray,
    amax: np.ndarray,
    jmax: np.ndarray,
) -> int:
    """Plan the motions of n joints to rest at q1 so that all arrive when the slowest one does.

    The slowest joint moves as planned by `plan_position`. The others cruise more slowly; so joints that
    start with a velocity, overshoot, or start beyond a limit also take exactly this time. Only a joint that
    reaches its target by braking right now has no freedom: it arrives earlier. Limits hold as in `plan_position`.

    Args:
        profiles: array of at least n records of `profile_dtype`, overwritten.
        n: number of joints.
        q0, v0, a0: arrays, at least n long: the state to start from.
        q1: array, at least n long: the positions to reach.
        vmax, amax, jmax: arrays, at least n long: limits, positive.

    Returns:
        OK or PLANNING_FAILED: the joints that failed have a rejected profile; the others move independently.
    """
    return plan_position_in(profiles, n, q0, v0, a0, q1, vmax, amax, jmax, 0.0)


@realtime
def plan_position_in(
    profiles: np.ndarray,
    n: int,
    q0: np.ndarray,
    v0: np.ndarray,
    a0: np.ndarray,
    q1: np.ndarray,
    vmax: np.ndarray,
    amax: np.ndarray,
    jmax: np.ndarray,
    duration: float,
) -> int:
    """As `plan_position_synchronized`, but all joints arrive after `duration` [s] if that is later."""
    status, fastest = plan_fastest(profiles, n, q0, v0, a0, q1, vmax, amax, jmax)
    if status != OK:
        return status
    return stretch_together(profiles, n, q0, v0, a0, q1, vmax, amax, jmax, max(duration, fastest))


@realtime
def plan_fastest(
    profiles: np.ndarray,
    n: int,
    q0: np.ndarray,
    v0: np.ndarray,
    a0: np.ndarray,
    q1: np.ndarray,
    vmax: np.ndarray,
    amax: np.ndarray,
    jmax: np.ndarray,
) -> tuple[int, float]:
    """Each joint's fastest motion, the first half of `plan_position_in`. Returns its status, and the longest
    duration."""
    status = OK
    total = 0.0
    for j in range(n):
        joint_status = plan_position(profiles[j], q0[j], v0[j], a0[j], q1[j], 0.0, vmax[j], amax[j], jmax[j])
        if status == OK:
            status = joint_status
        total = max(total, profiles[j].total)
    return status, total


@realtime
def stretch_together(
    profiles: np.ndarray,
    n: int,
    q0: np.ndarray,
    v0: np.ndarray,
    a0: np.ndarray,
    q1: np.ndarray,
    vmax: np.ndarray,
    amax: np.ndarray,
    jmax: np.ndarray,
    total: float,
) -> int:
    """Let fastest motions take `total` [s], the second half of `plan_position_in`. Returns its status."""
    status = OK
    for j in range(n):
        if profiles[j].total < total:
            joint_status = stretch_position(profiles[j], q0[j], v0[j], a0[j], q1[j], vmax[j], amax[j], jmax[j], total)
            if status == OK:
                status = joint_status
    return status


@realtime
def stretch_position(
    profile: np.record, q0: float, v0: float, a0: float, q1: float, vmax: float, amax: float, jmax: float, total: float
) -> int:
    """Plan a motion to rest at q1 that takes `total` [s], at least the shortest duration, by a lower cruise velocity.

    If braking now reaches the target, that motion is kept. Arguments and status as `plan_position`;
    the profile must hold the fastest motion.
    """
    direction, distance, missing = travel_direction(q0, v0, a0, q1, 0.0, amax, jmax)
    if direction == 0.0:
        return OK
    v = direction * v0
    a = direction * a0
    # Search for f(cruise) = cruise * (duration - total) = 0. Towards cruise = 0 the duration grows like
    # missing / cruise, so that f is finite and continuous there.
    x1 = vmax
    f1 = vmax * (profile.total - total)
    x2 = 0.0
    f2 = missing
    x3 = x1
    f3 = f1
    place, moment, duration = find_change(distance, v, a, 0.0, x1, amax, jmax)
    for _ in range(MAX_STEPS):
        width = abs(x2 - x1)
        if abs(duration - total) <= PRECISION * total or width <= 4.0 * ROUNDING * x1:
            break
        smallest = ROUNDING * x1 / width
        x = x1 + next_fraction(x1, f1, x2, f2, x3, f3, smallest) * (x2 - x1)
        place, moment, duration = find_change(distance, v, a, 0.0, x, amax, jmax)
        f = x * (duration - total)
        if (f < 0.0) == (f1 < 0.0):
            x3 = x1
            f3 = f1
        else:
            x3 = x2
            f3 = f2
            x2 = x1
            f2 = f1
        x1 = x
        f1 = f
    if place == CRUISE:
        moment = max(moment + total - duration, 0.0)
    begin_profile(profile, q0, v0, a0)
    write_change(profile, direction, place, moment, q1, 0.0, x1, amax, jmax)
    profile.total = total
    return finish_profile(profile, q1, 0.0)
