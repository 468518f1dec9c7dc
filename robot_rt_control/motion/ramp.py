"""The time-optimal change from one velocity to another: jerk in, hold the acceleration, jerk out.

A ramp is a tuple (jerk_in, time_in, time_hold, jerk_out, time_out). It ends with zero acceleration.
It does not depend on the position; `plan_position` joins two ramps.
"""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.motion.profile import advance, append_segment
from robot_rt_control.native.realtime_code import realtime

ROUNDING = 2.0**-50
"""A few units in the last place: differences below this, relative to their terms, count as zero."""

Ramp = tuple[float, float, float, float, float]


@realtime
def velocity_ramp(v0: float, a0: float, v1: float, amax: float, jmax: float) -> Ramp:
    """The time-optimal ramp from (v0, a0) to (v1, 0).

    If the acceleration were ramped to zero at once, the velocity would end at v0 + a0 |a0| / (2 jmax). The
    direction of the ramp is from there towards v1. An acceleration beyond amax is reduced first.
    """
    v_release = v0 + a0 * abs(a0) / (2.0 * jmax)
    direction = 1.0 if v1 >= v_release else -1.0
    start = direction * a0
    change = direction * (v1 - v0)
    # With both sides of the peak at full jerk: (peak^2 - start^2) / 2j + peak^2 / 2j = change.
    peak_squared = jmax * change + 0.5 * start * start
    # The root would amplify rounding to 1e-8, so such a remainder counts as zero.
    if peak_squared <= ROUNDING * (jmax * (abs(v0) + abs(v1)) + start * start):
        peak_squared = 0.0
    peak = max(math.sqrt(peak_squared), start)
    if peak <= amax:
        return direction * jmax, (peak - start) / jmax, 0.0, -direction * jmax, peak / jmax
    if start <= amax:
        hold = (change - (2.0 * amax * amax - start * start) / (2.0 * jmax)) / amax
        return direction * jmax, (amax - start) / jmax, max(hold, 0.0), -direction * jmax, amax / jmax
    hold = (change - start * start / (2.0 * jmax)) / amax
    return -direction * jmax, (start - amax) / jmax, max(hold, 0.0), -direction * jmax, amax / jmax


@realtime
def ramp_duration(ramp: Ramp) -> float:
    """Duration of a ramp [s]."""
    return ramp[1] + ramp[2] + ramp[4]


@realtime
def ramp_displacement(ramp: Ramp, v0: float, a0: float) -> float:
    """Distance travelled during the ramp from (v0, a0)."""
    jerk_in, time_in, time_hold, jerk_out, time_out = ramp
    q1, v1, a1 = advance(0.0, v0, a0, jerk_in, time_in)
    q2 = q1 + time_hold * (v1 + time_hold * a1 / 2.0)
    v2 = v1 + time_hold * a1
    return q2 + time_out * (v2 + time_out * (a1 / 2.0 + time_out * jerk_out / 6.0))


@realtime
def ramp_segment(ramp: Ramp, place: int) -> tuple[float, float]:
    """Jerk and duration of segment 0, 1 or 2 of a ramp."""
    if place == 0:
        return ramp[0], ramp[1]
    if place == 1:
        return 0.0, ramp[2]
    return ramp[3], ramp[4]


@realtime
def append_ramp(
    profile: np.record, travelled: float, v0: float, a0: float, v1: float, amax: float, jmax: float
) -> float:
    """Append the ramp from (v0, a0) to (v1, 0) to a profile. Returns the distance travelled at its end."""
    ramp = velocity_ramp(v0, a0, v1, amax, jmax)
    v = v0
    a = a0
    for place in range(3):
        jerk, duration = ramp_segment(ramp, place)
        append_segment(profile, travelled, v, a, jerk, duration)
        travelled, v, a = advance(travelled, v, a, jerk, duration)
    return travelled
