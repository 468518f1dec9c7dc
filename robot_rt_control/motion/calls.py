"""The motion generator as Python calls it: its native code needs no compiler, if it is in the cache.

Compiled code calls the functions themselves. Units as in `profile`; a motion has at most MAX_JOINTS joints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.memory.atomics import address_of, record_at
from robot_rt_control.memory.layout import record
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.motion.position import plan_position
from robot_rt_control.motion.profile import OK, profile_dtype, sample_profile
from robot_rt_control.motion.ramp import ramp_displacement, ramp_duration, velocity_ramp
from robot_rt_control.motion.synchronize import plan_position_in
from robot_rt_control.native.realtime_code import blocking_entry, entry
from robot_rt_control.vocabulary.capacities import MAX_JOINTS

Array = NDArray[np.float64]

_joints = ("f8", (MAX_JOINTS,))
_call_dtype = record(
    [
        ("n", "i8"),
        ("status", "i8"),
        ("duration", "f8"),  # [s] at least; a ramp's
        ("displacement", "f8"),
        ("start", *_joints),
        ("start_velocity", *_joints),
        ("start_acceleration", *_joints),
        ("end", *_joints),
        ("end_velocity", *_joints),
        ("velocity", *_joints),
        ("acceleration", *_joints),
        ("jerk", *_joints),
        ("profiles", profile_dtype, (MAX_JOINTS,)),
    ]
)
_call_at = record_at(_call_dtype)


@entry
def _plan(call: int) -> None:
    m = _call_at(call)
    m.status = plan_position_in(
        m.profiles,
        m.n,
        m.start,
        m.start_velocity,
        m.start_acceleration,
        m.end,
        m.velocity,
        m.acceleration,
        m.jerk,
        m.duration,
    )


@entry
def _plan_one(call: int) -> None:
    m = _call_at(call)
    m.status = plan_position(
        m.profiles[0],
        m.start[0],
        m.start_velocity[0],
        0.0,
        m.end[0],
        m.end_velocity[0],
        m.velocity[0],
        m.acceleration[0],
        m.jerk[0],
    )


@entry
def _ramp(call: int) -> None:
    m = _call_at(call)
    ramp = velocity_ramp(m.start_velocity[0], 0.0, m.end_velocity[0], m.acceleration[0], m.jerk[0])
    m.duration = ramp_duration(ramp)
    m.displacement = ramp_displacement(ramp, m.start_velocity[0], 0.0)


@blocking_entry
def _sample(call: int, times: int, count: int, q: int, v: int, a: int) -> None:
    m = _call_at(call)
    for i in range(count):
        t = load_f8(times + 8 * i)
        for j in range(m.n):
            at = 8 * (i * m.n + j)
            q_j, v_j, a_j = sample_profile(m.profiles[j], t)
            store_f8(q + at, q_j)
            store_f8(v + at, v_j)
            store_f8(a + at, a_j)


def planned(
    start: Array, goal: Array, velocity: Array, acceleration: Array, jerk: Array, duration: float = 0.0
) -> np.ndarray | None:
    """The motion from rest to rest that `plan_position_in` plans.

    Args:
        start, goal: (n,) [rad or m].
        velocity, acceleration, jerk: (n,) limits.
        duration: [s] all joints arrive after this time, if it is later than the slowest one's.

    Returns:
        (n,) of `profile_dtype`; None: numbers are not finite, or limits not above 0.
    """
    memory = np.zeros(1, _call_dtype)
    n = len(start)
    memory["n"], memory["duration"] = n, duration
    given = {"start": start, "end": goal, "velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    for name, values in given.items():
        memory[name][0, :n] = values
    _plan(address_of(memory))
    return memory["profiles"][0, :n].copy() if memory["status"][0] == OK else None


def planned_between(
    start: tuple[float, float], end: tuple[float, float], velocity: float, acceleration: float, jerk: float
) -> np.record | None:
    """The motion of one joint that `plan_position` plans, from and to zero acceleration.

    Args:
        start, end: position and velocity.
        velocity, acceleration, jerk: limits.

    Returns:
        Record of `profile_dtype`; None: numbers are not finite, or limits not above 0.
    """
    memory = np.zeros(1, _call_dtype)
    given = {"start": start[0], "start_velocity": start[1], "end": end[0], "end_velocity": end[1]}
    for name, value in (given | {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}).items():
        memory[name][0, 0] = value
    _plan_one(address_of(memory))
    profile: np.record = memory["profiles"][0, 0]
    return profile if memory["status"][0] == OK else None


def change_of_velocity(v0: float, v1: float, acceleration: float, jerk: float) -> tuple[float, float]:
    """Duration [s] and displacement of the fastest change between two velocities, from and to zero acceleration."""
    memory = np.zeros(1, _call_dtype)
    for name, value in {"start_velocity": v0, "end_velocity": v1, "acceleration": acceleration, "jerk": jerk}.items():
        memory[name][0, 0] = value
    _ramp(address_of(memory))
    return float(memory["duration"][0]), float(memory["displacement"][0])


def sampled(profiles: np.ndarray, times: Array) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations, to the bit what the loop samples.

    Args:
        profiles: (n,) of `profile_dtype`.
        times: (m,) [s].

    Returns:
        q, v, a: (m, n) each.
    """
    memory = np.zeros(1, _call_dtype)
    n = len(profiles)
    memory["n"] = n
    memory["profiles"][0, :n] = profiles
    at = np.ascontiguousarray(times, dtype=float)
    q, v, a = (np.empty((len(at), n)) for _ in range(3))
    _sample(address_of(memory), address_of(at), len(at), address_of(q), address_of(v), address_of(a))
    return q, v, a
