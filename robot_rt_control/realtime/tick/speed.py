"""The speed override on its way to what was asked for, so that no motion on its path needs more than the limits give.

A motion q(sigma) that is planned within velocity v and acceleration a runs at d(sigma)/dt = s. Its acceleration is
then q'' s^2 + q' ds/dt, at most a s^2 + v |ds/dt|. So that this stays within the system's limit A, the override changes
with at most (A - a s^2) / v: slowly at full speed, since the plan itself may need nearly all of it, and faster below.
"""

import math

from robot_rt_control.native.realtime_code import inlined, realtime
from robot_rt_control.realtime.tick.action_time import set_time
from robot_rt_control.vocabulary.enums import OperationalState

_ENABLED = int(OperationalState.ENABLED)
_FLOOR = 0.1
"""This fraction of A is left to the override even if a plan needs all of it, so that a stop always ends."""


@realtime
def _largest_rate(w, rising):
    """[1/s] Highest rate of change of the override that all commanded joints allow; inf: nothing moves."""
    s = w.speed
    rate = math.inf
    for p in range(w.n_parts):
        part = w.parts[p]
        pr = w.parts_runtime[p]
        if pr.state != _ENABLED or pr.active_action < 0:
            continue  # what the loop itself brakes knows no override
        for j in range(part.dof):
            # Standing at speed 0, a motion may be anywhere on its path; else a joint that stands is not moving on it.
            if part.velocity_limit[j] <= 0.0 or (s > 0.0 and part.commanded_velocity[j] == 0.0):
                continue
            most = w.limits[p].acceleration[j]
            reached = s
            if rising:
                reached = min(1.0, s + most / part.velocity_limit[j] * w.period)
            left = max(most - part.acceleration_limit[j] * reached * reached, _FLOOR * most)
            rate = min(rate, left / part.velocity_limit[j])
    return rate


@inlined
def advance_speed(w):
    """One tick of the way to `speed_target`. What conditions read as `speed` is what actions get as dt."""
    if w.speed != w.speed_target:
        _advance(w)


@realtime
def _advance(w):
    target = w.speed_target
    step = _largest_rate(w, target > w.speed) * w.period
    if abs(target - w.speed) <= step:
        w.speed = target
    elif target > w.speed:
        w.speed += step
    else:
        w.speed -= step
    for p in range(w.n_parts):
        set_time(w, p)
