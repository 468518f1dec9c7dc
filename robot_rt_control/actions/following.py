"""Shared code of action types with joint motions: following planned profiles, and whether the part has settled."""

import math

from robot_rt_control.motion.hermite import hermite
from robot_rt_control.motion.profile import sample_profile
from robot_rt_control.motion.stop import plan_stop
from robot_rt_control.motion_group.led_onto import BLEND_TIME
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.part_kinds import JOINTED_KINDS

POSITION = int(CommandMode.POSITION)
JOINT_KINDS = JOINTED_KINDS


@realtime
def follow(plan, t, part):
    """Command the positions of the profiles at time t [s]."""
    part.command_mode = POSITION
    for j in range(part.dof):
        q, _, _ = sample_profile(plan[j], t)
        part.position_command[j] = q


@realtime
def plan_stops(plan, part):
    """Plan each joint's fastest motion to rest from the last command. Returns a status."""
    status = 0
    for j in range(part.dof):
        joint_status = plan_stop(
            plan[j],
            part.commanded_position[j],
            part.motion_velocity[j],
            part.motion_acceleration[j],
            part.acceleration_limit[j],
            part.jerk_limit[j],
        )
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def jerk_to_release(v, a, top, least, most):
    """The jerk, from `least` to `most`, that ends acceleration a before the speed exceeds `top`."""
    room = top - math.copysign(1.0, a) * v
    return min(max(least, a * a / (2.0 * room)), most) if room > 0.0 else most


@realtime
def vanishing(offset, velocity, t):
    """What is left at time t [s] of an offset, and of its velocity, which began at 0: nothing from BLEND_TIME on."""
    if t >= BLEND_TIME:
        return 0.0
    left, _, _ = hermite(offset, velocity, 0.0, 0.0, 0.0, 0.0, BLEND_TIME, t / BLEND_TIME)
    return left


@realtime
def towards(value, goal, step):
    """Move a value towards a goal by at most one step."""
    return value + min(max(goal - value, -step), step)


@realtime
def longest(plan, n):
    """Duration [s] of the longest of the first n profiles."""
    total = 0.0
    for j in range(n):
        total = max(total, plan[j].total)
    return total


@realtime
def distance(a, b, n):
    """Euclidean distance of the first n elements; NaN if one of them is unknown."""
    s = 0.0
    for j in range(n):
        s += (a[j] - b[j]) * (a[j] - b[j])
    return math.sqrt(s)


@realtime
def largest_difference(a, b, n):
    """Largest |a[j] - b[j]| of the first n elements; NaN if one of them is unknown."""
    d = 0.0
    for j in range(n):
        x = abs(a[j] - b[j])
        if math.isnan(x):
            return math.nan
        d = max(d, x)
    return d


@realtime
def is_within(difference, tolerance):
    """1.0 or 0.0; NaN if the difference is unknown."""
    if math.isnan(difference):
        return math.nan
    return 1.0 if difference <= tolerance else 0.0
