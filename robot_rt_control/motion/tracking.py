"""Following a goal that moves, one step at a time, within the limits of velocity, acceleration and jerk.

Near the goal: in each step the first part of the quintic that would reach the moving goal a *horizon* later, which
is a linear law, s^3 + 9/T s^2 + 36/T^2 s + 60/T^3, smooth and well damped. Wherever that would break a limit, and
so from far away: in each step the first part of the time-optimal way to rest beside the goal, in the frame that
moves with it (`plan_position`), so that a goal of constant velocity is met without overshoot.
"""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.motion.extremes import position_range
from robot_rt_control.motion.position import plan_position
from robot_rt_control.motion.profile import advance, sample_profile
from robot_rt_control.motion.velocity import plan_velocity
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import Status

OK = int(Status.OK)
SLOWEST = 0.02
"""Fraction of the velocity limit that is left to catch up with a goal that moves at the limit."""
MARGIN = 0.8
"""Fraction of the acceleration limit with which a goal may be braked before a position limit."""


@realtime
def speed_before_stop(distance: float, amax: float, jmax: float) -> float:
    """Highest speed at zero acceleration from which a stop takes no more than this distance."""
    if distance <= 0.0:
        return 0.0
    # v (v / amax + amax / jmax) / 2 = distance
    half = amax * amax / (2.0 * jmax)
    return math.sqrt(half * half + 2.0 * amax * distance) - half


@realtime
def keeps_velocity(v: float, a: float, vmax: float, jmax: float) -> bool:
    """Whether the velocity stays within its limit if the acceleration is taken back from now on."""
    return abs(v) <= vmax and abs(v + a * abs(a) / (2.0 * jmax)) <= vmax


@realtime
def come_to_rest(
    profile: np.record, q: float, v: float, a: float, amax: float, jmax: float, dt: float
) -> tuple[float, float, float, int]:
    """One step of the fastest way to rest. Arguments and result as `track`."""
    if dt <= 0.0 or (v == 0.0 and a == 0.0):
        return q, v, a, OK
    status = plan_velocity(profile, q, v, a, 0.0, amax, jmax)
    if status != OK:
        return q, v, a, status
    next_q, next_v, next_a = sample_profile(profile, dt)
    return next_q, next_v, next_a, OK


@realtime
def stops_inside(
    profile: np.record, q: float, v: float, a: float, low: float, high: float, amax: float, jmax: float
) -> bool:
    """Whether the fastest way to rest from this state stays between low and high. `profile` is scratch."""
    if q < low or q > high:
        return False
    fastest = abs(v) + a * a / (2.0 * jmax)
    longest = fastest * (fastest / amax + 2.0 * amax / jmax)  # more than it takes, without planning
    if q - longest > low and q + longest < high:
        return True
    if plan_velocity(profile, q, v, a, 0.0, amax, jmax) != OK:
        return False
    lowest, highest = position_range(profile)
    return lowest >= low and highest <= high


@realtime
def _towards(
    profile: np.record,
    q: float,
    v: float,
    a: float,
    goal: float,
    goal_velocity: float,
    vmax: float,
    amax: float,
    jmax: float,
    horizon: float,
    dt: float,
) -> tuple[float, float, float, int]:
    """As `track`, without a range."""
    follow = min(max(goal_velocity, -vmax), vmax)
    error = goal - follow * dt - q  # to where the goal is now
    t = max(horizon, 3.0 * dt)
    jerk = (60.0 * error + 36.0 * t * (follow - v) - 9.0 * t * t * a) / (t * t * t)
    next_q, next_v, next_a = advance(q, v, a, jerk, dt)
    if abs(jerk) <= jmax and abs(next_a) <= amax and keeps_velocity(next_v, next_a, vmax, jmax):
        return next_q, next_v, next_a, OK
    room = vmax - follow if error > 0.0 else vmax + follow
    status = plan_position(profile, 0.0, v - follow, a, error, 0.0, max(room, SLOWEST * vmax), amax, jmax)
    if status != OK:
        return q, v, a, status
    moved, relative, next_a = sample_profile(profile, dt)
    if keeps_velocity(relative + follow, next_a, vmax, jmax):
        return q + moved + follow * dt, relative + follow, next_a, OK
    # The frame's velocity changes from step to step: what was within the limit in the last one need not be in this.
    status = plan_velocity(profile, q, v, a, math.copysign(vmax, relative + follow), amax, jmax)
    if status != OK:
        return q, v, a, status
    next_q, next_v, next_a = sample_profile(profile, dt)
    return next_q, next_v, next_a, OK


@realtime
def track(
    profile: np.record,
    q: float,
    v: float,
    a: float,
    goal: float,
    goal_velocity: float,
    low: float,
    high: float,
    vmax: float,
    amax: float,
    jmax: float,
    horizon: float,
    dt: float,
) -> tuple[float, float, float, int]:
    """The state one step later.

    From a state that can stop between low and high, all later ones can: a step to one that cannot is replaced by
    one of the fastest way to rest. From outside it comes back in.

    Args:
        profile: record of `profile_dtype`, scratch.
        q, v, a: the present state: position, velocity, acceleration.
        goal, goal_velocity: where the goal is at the end of the step, and how fast. Finite.
        low, high: range of the position; may be infinite.
        vmax, amax, jmax: limits, positive.
        horizon: [s] in which an error decays; with a goal that accelerates by b the error is 0.15 horizon^2 b.
        dt: length of the step [s]; 0: the state stays.

    Returns:
        position, velocity, acceleration, status (of `plan_position`; then the state is as it was).
    """
    if dt <= 0.0:
        return q, v, a, OK
    next_q, next_v, next_a, status = _towards(profile, q, v, a, goal, goal_velocity, vmax, amax, jmax, horizon, dt)
    if status != OK:
        return q, v, a, status
    # From outside, every step back in is welcome.
    if stops_inside(profile, next_q, next_v, next_a, min(low, q), max(high, q), amax, jmax):
        return next_q, next_v, next_a, OK
    return come_to_rest(profile, q, v, a, amax, jmax, dt)


@realtime
def track_velocity(
    profile: np.record,
    q: float,
    v: float,
    a: float,
    goal_velocity: float,
    low: float,
    high: float,
    vmax: float,
    amax: float,
    jmax: float,
    dt: float,
) -> tuple[float, float, float, int]:
    """The state one step later on the fastest way to a velocity, which is reduced before the end of the range.

    From a state that can stop between low and high, all later ones can.

    Args:
        goal_velocity: finite; beyond vmax it counts as vmax.

    Returns:
        And the other arguments: as `track`.
    """
    if dt <= 0.0:
        return q, v, a, OK
    goal = min(max(goal_velocity, -vmax), vmax)
    goal = min(goal, speed_before_stop(high - q, MARGIN * amax, jmax))
    goal = max(goal, -speed_before_stop(q - low, MARGIN * amax, jmax))
    status = plan_velocity(profile, q, v, a, goal, amax, jmax)
    if status != OK:
        return q, v, a, status
    next_q, next_v, next_a = sample_profile(profile, dt)
    if stops_inside(profile, next_q, next_v, next_a, min(low, q), max(high, q), amax, jmax):
        return next_q, next_v, next_a, OK
    return come_to_rest(profile, q, v, a, amax, jmax, dt)
