"""Near time-optimal motion to a position, from any state.

The idea: *leave* on the fastest way to the cruise velocity, and at some moment *change over* to the
fastest way to the end velocity. The later the change, the further the motion goes, so the moment is
found by a bracketed search; if it lies after the cruise velocity is reached, the length of
the cruise follows by division. Both ways are velocity ramps (ramp.py), which keep the limits from any
state. So the same method covers the ordinary cases and those that start beyond a limit, overshoot,
or release a brake halfway and brake again. For a target at rest and a start within the limits the
result is time-optimal; it has the structure of R. Haschke, E. Weitnauer, H. Ritter, "On-line planning of
time-optimal, jerk-limited trajectories", IROS 2008.
"""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.motion.profile import append_segment, begin_profile, finish_profile, reject_profile
from robot_rt_control.motion.ramp import (
    ROUNDING,
    advance,
    append_ramp,
    ramp_displacement,
    ramp_duration,
    ramp_segment,
    velocity_ramp,
)
from robot_rt_control.motion.root import MAX_STEPS, next_fraction
from robot_rt_control.motion.velocity import limits_valid
from robot_rt_control.native.realtime_code import realtime

CRUISE = 3
"""The place of a change during the cruise, after the three segments of the leaving ramp."""
PRECISION = 1e-13
"""The search ends when the missing distance is below this fraction of the travel."""
PIECES = 8
"""Number of parts into which each segment is divided to find the earliest of several solutions."""
LONGEST_CORRECTION = 1e-6
"""Longest correction as a fraction of the duration: with v1 near 0, a correction of rounding would take longer."""


@realtime
def plan_position(
    profile: np.record, q0: float, v0: float, a0: float, q1: float, v1: float, vmax: float, amax: float, jmax: float
) -> int:
    """Plan a fast motion from (q0, v0, a0) to position q1 with velocity v1 and zero acceleration.

    Jerk stays within jmax. Velocity and acceleration stay within vmax and amax if the start allows it;
    otherwise they return on a ramp to the limit. The end is exactly q1, v1. With v1 = 0 the
    motion is time-optimal; with v1 != 0 a faster motion may be missed in rare cases.

    Args:
        profile: record of `profile_dtype`, overwritten.
        q0, v0, a0: the state to start from.
        q1, v1: the position to reach and the velocity there, |v1| <= vmax.
        vmax, amax, jmax: limits, positive.

    Returns:
        OK or PLANNING_FAILED (see the package's docstring; also for |v1| > vmax).
    """
    begin_profile(profile, q0, v0, a0)
    if not arguments_valid(q0, v0, a0, q1, v1, vmax, amax, jmax):
        return reject_profile(profile)
    direction, distance, _ = travel_direction(q0, v0, a0, q1, v1, amax, jmax)
    if direction == 0.0:
        append_ramp(profile, 0.0, v0, a0, v1, amax, jmax)
        return finish_profile(profile, q1, v1)
    place, moment, _ = find_change(distance, direction * v0, direction * a0, direction * v1, vmax, amax, jmax)
    write_change(profile, direction, place, moment, q1, v1, vmax, amax, jmax)
    return finish_profile(profile, q1, v1)


@realtime
def arguments_valid(
    q0: float, v0: float, a0: float, q1: float, v1: float, vmax: float, amax: float, jmax: float
) -> bool:
    """Whether all values are finite, the limits are positive and the end velocity is within its limit."""
    finite = math.isfinite(q0) and math.isfinite(v0) and math.isfinite(a0) and math.isfinite(q1)
    return finite and math.isfinite(vmax) and vmax > 0.0 and abs(v1) <= vmax and limits_valid(amax, jmax)


@realtime
def travel_direction(
    q0: float, v0: float, a0: float, q1: float, v1: float, amax: float, jmax: float
) -> tuple[float, float, float]:
    """Choose the direction of departure: from the point where the fastest way to v1 would end towards the target.

    Returns:
        direction: 1, -1, or 0 if that way ends at the target. Rounding errors are ignored: with v1 != 0 a
            tiny step back would cost a whole loop.
        distance: to the target in that direction; negative if the target lies in the other direction.
        missing: how far before the target that way ends.
    """
    ramp = velocity_ramp(v0, a0, v1, amax, jmax)
    reach = ramp_displacement(ramp, v0, a0)
    distance = q1 - q0
    missing = distance - reach
    path = ramp_duration(ramp) * (abs(v0) + abs(v1) + a0 * a0 / jmax)
    if abs(missing) <= ROUNDING * (abs(q0) + abs(q1) + path):
        return 0.0, distance, 0.0
    if missing > 0.0:
        return 1.0, distance, missing
    return -1.0, -distance, -missing


@realtime
def find_change(
    distance: float, v0: float, a0: float, v1: float, cruise: float, amax: float, jmax: float
) -> tuple[int, float, float]:
    """Find when to change over from the ramp towards `cruise` to the ramp towards v1, moving in direction +1.

    Args:
        distance: to the target; the ramp towards v1 would end before it.
        v0, a0, v1: velocity and acceleration at the start, velocity at the end.
        cruise: largest velocity, positive.

    Returns:
        place: segment of the leaving ramp (0, 1, 2), or CRUISE.
        moment: time spent in that place before the change [s].
        total: duration of the whole motion [s].
    """
    leave = velocity_ramp(v0, a0, cruise, amax, jmax)
    tolerance = PRECISION * abs(distance)
    elapsed = 0.0
    q = 0.0
    v = v0
    a = a0
    f_begin = error_of_change(distance, q, v, a, 0.0, 0.0, v1, amax, jmax)
    # With rest at the end, a later change always leads further. Otherwise there may be several solutions; the
    # earliest is the fastest, so search in smaller parts.
    n_pieces = 1 if v1 == 0.0 else PIECES
    for place in range(CRUISE):
        jerk, duration = ramp_segment(leave, place)
        begin = 0.0
        for piece in range(n_pieces):
            end = duration * ((piece + 1.0) / n_pieces)
            f_end = error_of_change(distance, q, v, a, jerk, end, v1, amax, jmax)
            if f_end >= 0.0 and end > 0.0:
                moment = find_moment(distance, q, v, a, jerk, begin, end, f_begin, f_end, v1, amax, jmax, tolerance)
                _, v, a = advance(q, v, a, jerk, moment)
                return place, moment, elapsed + moment + ramp_duration(velocity_ramp(v, a, v1, amax, jmax))
            begin = end
            f_begin = f_end
        q, v, a = advance(q, v, a, jerk, duration)
        elapsed += duration
    arrive = velocity_ramp(cruise, 0.0, v1, amax, jmax)
    missing = distance - q - ramp_displacement(arrive, cruise, 0.0)
    moment = max(missing / cruise, 0.0)
    return CRUISE, moment, elapsed + moment + ramp_duration(arrive)


@realtime
def error_of_change(
    distance: float, q: float, v: float, a: float, jerk: float, t: float, v1: float, amax: float, jmax: float
) -> float:
    """How far beyond the distance the motion ends if it changes after time t at this jerk."""
    q, v, a = advance(q, v, a, jerk, t)
    return q + ramp_displacement(velocity_ramp(v, a, v1, amax, jmax), v, a) - distance


@realtime
def find_moment(
    distance: float,
    q: float,
    v: float,
    a: float,
    jerk: float,
    begin: float,
    end: float,
    f_begin: float,
    f_end: float,
    v1: float,
    amax: float,
    jmax: float,
    tolerance: float,
) -> float:
    """Find the time between begin and end of one segment at which a change to the ramp towards v1 ends at the distance.

    f_begin < 0 <= f_end are the errors of a change at begin and end. The result is the better end of the final
    bracket; with v1 != 0, the end from which continuing at v1 corrects the rest.
    """
    x1 = end
    f1 = f_end
    x2 = begin
    f2 = f_begin
    x3 = x1
    f3 = f1
    for _ in range(MAX_STEPS):
        width = abs(x2 - x1)
        best_x = x1 if abs(f1) < abs(f2) else x2
        if min(abs(f1), abs(f2)) <= tolerance or width <= 4.0 * ROUNDING * abs(best_x):
            break
        x = x1 + next_fraction(x1, f1, x2, f2, x3, f3, ROUNDING * abs(best_x) / width) * (x2 - x1)
        f = error_of_change(distance, q, v, a, jerk, x, v1, amax, jmax)
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
    if v1 == 0.0 or min(abs(f1), abs(f2)) <= tolerance:
        return x1 if abs(f1) < abs(f2) else x2
    return x1 if (f1 < 0.0) == (v1 > 0.0) else x2


@realtime
def write_change(
    profile: np.record,
    direction: float,
    place: int,
    moment: float,
    q1: float,
    v1: float,
    cruise: float,
    amax: float,
    jmax: float,
) -> None:
    """Write the segments of the motion that `find_change` found into a begun profile."""
    v = direction * profile.velocity
    a = direction * profile.acceleration
    q = 0.0
    leave = velocity_ramp(v, a, cruise, amax, jmax)
    for i in range(CRUISE):
        jerk, duration = ramp_segment(leave, i)
        if i == place:
            duration = moment
        if i <= place:
            append_segment(profile, direction * q, direction * v, direction * a, direction * jerk, duration)
            q, v, a = advance(q, v, a, jerk, duration)
    if place == CRUISE:
        append_segment(profile, direction * q, direction * cruise, 0.0, 0.0, moment)
        q += moment * cruise
        v = cruise
        a = 0.0
    travelled = append_ramp(profile, direction * q, direction * v, direction * a, v1, amax, jmax)
    if v1 != 0.0:
        # If the end depends on the square root of the change, the search leaves more than a rounding error;
        # a short continuation at v1 corrects it.
        correction = (q1 - profile.position - travelled) / v1
        if correction <= LONGEST_CORRECTION * profile.total:
            append_segment(profile, travelled, v1, 0.0, 0.0, correction)
