"""Time along a path: the rate at which it advances falls to 0, so that all joints come to rest on the path together."""

import math

from robot_rt_control.native.realtime_code import realtime

FASTEST_FALL = 100.0
"""[1/s] The rate changes no faster, also if nothing moves."""
_FLOOR = 0.1
"""This fraction of a joint's acceleration is left to the rate even if the path needs all of it, so that a stop ends."""
_STANDING = 1e-9
"""[rad/s or m/s of path time] A joint that is slower stands."""


@realtime
def possible_fall(fall: float, velocity: float, acceleration: float, rate: float, most: float) -> float:
    """[1/s] How fast the rate can fall within the acceleration limit of a further joint.

    The joint's acceleration is q'' r^2 + q' dr/dt, with the path's q' and q'' and the rate r.

    Args:
        fall: what the joints before allow, at first FASTEST_FALL.
        velocity, acceleration: q', q''.
        rate: r.
        most: the joint's limit.
    """
    if abs(velocity) <= _STANDING:
        return fall
    along = math.copysign(1.0, velocity) * acceleration * rate * rate
    return min(fall, max(most + along, _FLOOR * most) / abs(velocity))
