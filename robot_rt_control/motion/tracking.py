"""Following a moving goal, one step at a time, within the limits of velocity, acceleration and jerk.

Near the goal, each step is the first part of the quintic that would reach the moving goal a *horizon* later. This
is a linear law, s^3 + 9/T s^2 + 36/T^2 s + 60/T^3, smooth and well damped. If it would exceed a limit, as it does
from far away, each step is the first part of the time-optimal motion to rest relative to the goal, in the frame that
moves with the goal (`plan_position`). So a goal of constant velocity is reached without overshoot.
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
"""Fraction of the velocity limit that is reserved for catching up with a goal that moves at the limit."""
MARGIN = 0.8
"""Fraction of the acceleration limit with which a goal may be braked before a position limit."""


@realtime
def speed_before_stop(distance: float, amax: float, jmax: float) -> float:
    """Highest speed, at zero acceleration, from which a stop needs at most this distance."""
    if distance <= 0.0:
        return 0.0
    # v (v / amax + amax / jmax) / 2 = distance
    half = amax * amax / (2.0 * jmax)
    return math.sqrt(half * half + 2.0 * amax * distance) - half


def stopping_distance(speed: float, amax: float, jmax: float) -> float:
    """The distance at whose end `track_velocity` stops from this speed: the inverse of `speed_before_stop`, with
    MARGIN."""
    return speed * (speed / (MARGIN * amax) + MARGIN * amax / jmax) / 2.0


@realtime
def keeps_velocity(v: float, a: float, vmax: float, jmax: float) -> bool:
    """Whether the velocity stays within its limit if the acceleration is ramped to zero from now on."""
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
    longest = fastest * (fastest / amax + 2.0 * amax / jmax)  # an upper bound, without planning
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
    """As `track`, without a position range."""
    follow = min(max(goal_velocity, -vmax), vmax)
    error = goal - follow * dt - q  # relative to the goal's present position
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
    # The frame's velocity changes at each step, so a velocity within the limit in the last step may exceed it now.
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

    If the start state can stop between low and high, all later states can: a step to a state that cannot is replaced
    by a step of the fastest way to rest. From outside the range it returns into the range.

    Args:
        profile: record of `profile_dtype`, scratch.
        q, v, a: the present state: position, velocity, acceleration.
        goal, goal_velocity: position and velocity of the goal at the end of the step. Finite.
        low, high: range of the position; may be infinite.
        vmax, amax, jmax: limits, positive.
        horizon: [s] in which an error decays; with a goal that accelerates by b the error is 0.15 horizon^2 b.
        dt: length of the step [s]; 0: the state stays.

    Returns:
        position, velocity, acceleration, status (of `plan_position`; if not OK, the state is unchanged).
    """
    if dt <= 0.0:
        return q, v, a, OK
    next_q, next_v, next_a, status = _towards(profile, q, v, a, goal, goal_velocity, vmax, amax, jmax, horizon, dt)
    if status != OK:
        return q, v, a, status
    # From outside, every step towards the range is accepted.
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
    """The state one step later on the fastest way to a velocity, which is reduced near the end of the range.

    If the start state can stop between low and high, all later states can.

    Args:
        goal_velocity: finite; beyond vmax it counts as vmax.

    Returns:
        As `track`, like the other arguments.
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
