"""The exact ranges of position, velocity and acceleration of a profile, known before it moves."""

from __future__ import annotations

import math

import numpy as np

from robot_rt_control.motion.profile import advance
from robot_rt_control.native.realtime_code import realtime


@realtime
def position_range(profile: np.record) -> tuple[float, float]:
    """Lowest and highest position from start to end. The turning points lie where the velocity is zero."""
    low = min(profile.position, profile.end_position)
    high = max(profile.position, profile.end_position)
    for i in range(profile.n):
        q = profile.position + profile.travelled[i]
        v = profile.start_velocity[i]
        a = profile.start_acceleration[i]
        jerk = profile.jerk[i]
        duration = profile.duration[i]
        discriminant = a * a - 2.0 * jerk * v
        if discriminant >= 0.0:
            # Roots of v + a t + jerk t^2 / 2 in the form that does not cancel.
            s = -(a + math.copysign(math.sqrt(discriminant), a))
            for k in range(2):
                numerator = s if k == 0 else 2.0 * v
                denominator = jerk if k == 0 else s
                t = numerator / denominator if denominator != 0.0 else 0.0
                if 0.0 < t < duration:
                    turn, _, _ = advance(q, v, a, jerk, t)
                    low = min(low, turn)
                    high = max(high, turn)
        q, _, _ = advance(q, v, a, jerk, duration)
        low = min(low, q)
        high = max(high, q)
    return low, high


@realtime
def velocity_range(profile: np.record) -> tuple[float, float]:
    """Lowest and highest velocity from start to end."""
    low = min(profile.velocity, profile.end_velocity)
    high = max(profile.velocity, profile.end_velocity)
    for i in range(profile.n):
        q = profile.position + profile.travelled[i]
        v = profile.start_velocity[i]
        a = profile.start_acceleration[i]
        jerk = profile.jerk[i]
        duration = profile.duration[i]
        t = -a / jerk if jerk != 0.0 else 0.0
        if 0.0 < t < duration:
            _, turn, _ = advance(q, v, a, jerk, t)
            low = min(low, turn)
            high = max(high, turn)
        _, v, _ = advance(q, v, a, jerk, duration)
        low = min(low, v)
        high = max(high, v)
    return low, high


@realtime
def acceleration_range(profile: np.record) -> tuple[float, float]:
    """Lowest and highest acceleration from start to end."""
    low = min(profile.acceleration, 0.0)
    high = max(profile.acceleration, 0.0)
    for i in range(profile.n):
        a = profile.start_acceleration[i] + profile.jerk[i] * profile.duration[i]
        low = min(low, a)
        high = max(high, a)
    return low, high
