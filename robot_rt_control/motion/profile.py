"""The trajectory of one degree of freedom: segments of constant jerk, in a record that actions keep in their state.

Units are those of the joint: rad or m, per s, s^2, s^3; times in s.
"""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.memory.layout import record
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import Status

MAX_SEGMENTS = 8
"""Three towards the cruise velocity, the cruise, three towards the end, one to correct rounding."""

LARGEST = 1e100
"""Larger times and states are refused, so that no sample can overflow. NaN is also refused."""

OK = int(Status.OK)
PLANNING_FAILED = int(Status.PLANNING_FAILED)

profile_dtype = record(
    [
        ("n", "i8"),  # segments in use
        ("total", "f8"),  # [s] duration
        ("position", "f8"),  # at t = 0
        ("velocity", "f8"),
        ("acceleration", "f8"),
        ("end_position", "f8"),  # at t = total; the acceleration is then 0
        ("end_velocity", "f8"),  # kept after the end
        ("duration", "f8", (MAX_SEGMENTS,)),  # [s]
        ("jerk", "f8", (MAX_SEGMENTS,)),
        # The state at the start of each segment. It follows from the other fields, but rounding would accumulate: an
        # acceleration of 1e-15 instead of 0 matters at the end of a long cruise.
        ("travelled", "f8", (MAX_SEGMENTS,)),  # since t = 0
        ("start_velocity", "f8", (MAX_SEGMENTS,)),
        ("start_acceleration", "f8", (MAX_SEGMENTS,)),
    ]
)


@realtime
def advance(q: float, v: float, a: float, jerk: float, t: float) -> tuple[float, float, float]:
    """The state after time t at constant jerk."""
    return (
        q + t * (v + t * (a / 2.0 + t * jerk / 6.0)),
        v + t * (a + t * jerk / 2.0),
        a + t * jerk,
    )


@realtime
def sample_profile(profile: np.record, t: float) -> tuple[float, float, float]:
    """The state at time t.

    Args:
        profile: record of `profile_dtype`.
        t: time since the start [s]. Before 0 (and for NaN) the result is the start state; from `total` on
            the velocity is the end velocity, and the position continues with it.

    Returns:
        Position, velocity, acceleration.
    """
    if not t > 0.0 and profile.total > 0.0:
        return profile.position, profile.velocity, profile.acceleration
    if not t < profile.total:
        q = profile.end_position
        if profile.end_velocity != 0.0 and t > profile.total:
            q += profile.end_velocity * (t - profile.total)
        return q, profile.end_velocity, 0.0
    i = 0
    while i < profile.n - 1 and t > profile.duration[i]:
        t -= profile.duration[i]
        i += 1
    q, dq, ddq = advance(
        profile.travelled[i],
        profile.start_velocity[i],
        profile.start_acceleration[i],
        profile.jerk[i],
        min(t, profile.duration[i]),
    )
    return profile.position + q, dq, ddq


@realtime
def progress(profile: np.record, t: float) -> float:
    """Fraction of the duration that has passed at time t [s]: 0 at the start, 1 from the end on."""
    if not t < profile.total:
        return 1.0 if t >= profile.total else 0.0
    if not t > 0.0:
        return 0.0
    return t / profile.total


@realtime
def begin_profile(profile: np.record, q0: float, v0: float, a0: float) -> None:
    """Empty the profile and set its start."""
    profile.n = 0
    profile.total = 0.0
    profile.position = q0
    profile.velocity = v0
    profile.acceleration = a0
    profile.end_position = q0
    profile.end_velocity = v0
    for i in range(MAX_SEGMENTS):
        profile.duration[i] = 0.0
        profile.jerk[i] = 0.0
        profile.travelled[i] = 0.0
        profile.start_velocity[i] = 0.0
        profile.start_acceleration[i] = 0.0


@realtime
def append_segment(profile: np.record, travelled: float, v: float, a: float, jerk: float, duration: float) -> None:
    """Append a piece of constant jerk that starts with this state.

    A zero duration adds nothing; a segment of equal jerk is extended.
    """
    if duration > 0.0:
        n = profile.n
        if n > 0 and profile.jerk[n - 1] == jerk:
            profile.duration[n - 1] += duration
        elif n < MAX_SEGMENTS:
            profile.duration[n] = duration
            profile.jerk[n] = jerk
            profile.travelled[n] = travelled
            profile.start_velocity[n] = v
            profile.start_acceleration[n] = a
            profile.n = n + 1
        profile.total += duration


@realtime
def finish_profile(profile: np.record, end_position: float, end_velocity: float) -> int:
    """Set the end. Returns OK, or PLANNING_FAILED if a number is too large; the profile then rests."""
    profile.end_position = end_position
    profile.end_velocity = end_velocity
    usable = abs(profile.position) <= LARGEST and abs(end_position) <= LARGEST and profile.total <= LARGEST
    usable = usable and abs(profile.velocity) <= LARGEST and abs(end_velocity) <= LARGEST
    usable = usable and abs(profile.acceleration) <= LARGEST
    for i in range(profile.n):
        usable = usable and abs(profile.travelled[i]) <= LARGEST
        usable = usable and abs(profile.start_velocity[i]) <= LARGEST
        usable = usable and abs(profile.start_acceleration[i]) <= LARGEST
    if usable:
        return OK
    return reject_profile(profile)


@realtime
def reject_profile(profile: np.record) -> int:
    """Make the profile rest at its start, or at 0 if the start is not finite. Returns PLANNING_FAILED."""
    q0 = profile.position if math.isfinite(profile.position) else 0.0
    begin_profile(profile, q0, 0.0, 0.0)
    return PLANNING_FAILED
