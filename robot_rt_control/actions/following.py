"""What action types with joint motions share: following planned profiles, and judging whether the part has settled."""

import math

from robot_rt_control.motion.profile import sample_profile
from robot_rt_control.motion.stop import plan_stop
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
    """Plan each joint's way to rest from the last command, as fast as it can. Returns a status."""
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
def towards(value, goal, step):
    """From a value to a goal, by at most one step."""
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
    """Euclidean distance of the first n elements; NaN where one of them is unknown."""
    s = 0.0
    for j in range(n):
        s += (a[j] - b[j]) * (a[j] - b[j])
    return math.sqrt(s)


@realtime
def largest_difference(a, b, n):
    """Largest |a[j] - b[j]| of the first n elements; NaN where one of them is unknown."""
    d = 0.0
    for j in range(n):
        x = abs(a[j] - b[j])
        if math.isnan(x):
            return math.nan
        d = max(d, x)
    return d


@realtime
def is_within(difference, tolerance):
    """1.0 or 0.0; NaN where the difference is unknown."""
    if math.isnan(difference):
        return math.nan
    return 1.0 if difference <= tolerance else 0.0
