"""Positions that your own code commands, kept within the limits: a smooth start from any motion, in one call.

Put one record of `limited_dtype` into the State of an action, and let `limited` have the last word in `control`:

    for j in range(arm.dof):
        arm.position_command[j] = ...     # whatever you want, also if it jumps
    return limited(state.motion, arm)     # what the joints can do of it
"""

from robot_rt_control.actions.stream_following import begin_following, move_to, take_over, track_joint
from robot_rt_control.memory.layout import record
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import track_velocity
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_JOINTS

_HORIZON_S = 0.02
"""As the horizon of `motion.tracking.track`: what is within the limits is followed with an error of 0.15 horizon^2
times its acceleration."""

limited_dtype = record(
    [
        ("is_begun", "f8"),
        ("wanted", "f8", (MAX_JOINTS,)),  # as the action commanded it last
        ("joint_position", "f8", (MAX_JOINTS,)),
        ("joint_velocity", "f8", (MAX_JOINTS,)),
        ("joint_acceleration", "f8", (MAX_JOINTS,)),
        ("profile", profile_dtype),
    ]
)


@realtime
def _take_over(motion, part):
    if motion.is_begun == 0.0:
        motion.is_begun = 1.0
        begin_following(motion, part)
        for j in range(part.dof):
            motion.wanted[j] = part.commanded_position[j]
    else:
        take_over(motion, part)


@realtime
def limited(motion, part):
    """Replace the positions that the action commands in this tick by those nearest to them that the joints can reach.

    From whatever the part did before, each joint goes to what is commanded with limited velocity, acceleration and
    jerk, inside its range, and then follows it. A joint that is not commanded comes to rest.

    Args:
        motion: record of `limited_dtype`, zero at the start.
        part: its `position_command` is replaced, and its mode is position.

    Returns:
        A status, for `control` to return.
    """
    _take_over(motion, part)
    status = 0
    for j in range(part.dof):
        goal = part.position_command[j]
        velocity = 0.0
        if part.dt > 0.0 and goal != motion.joint_position[j]:
            velocity = (goal - motion.wanted[j]) / part.dt
        if not (abs(velocity) <= part.velocity_limit[j]):  # it has jumped
            velocity = 0.0
        motion.wanted[j] = goal
        joint_status = track_joint(motion, part, j, goal, velocity, _HORIZON_S)
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def limited_velocity(motion, part, jerk_scale):
    """As `limited`, for positions that are each a step from the commanded one, as `cartesian.follow_tool` commands
    them: each joint comes to the velocity of these steps the fastest way.

    Args:
        jerk_scale: multiple of the limits of jerk; 1.0, but for laws that must not lag: one that gives way to a force
            would press harder until it does.
    """
    _take_over(motion, part)
    status = 0
    for j in range(part.dof):
        velocity = 0.0
        if part.dt > 0.0:
            velocity = (part.position_command[j] - part.commanded_position[j]) / part.dt
        q, v, a, joint_status = track_velocity(
            motion.profile,
            motion.joint_position[j],
            motion.joint_velocity[j],
            motion.joint_acceleration[j],
            velocity,
            part.position_lower[j],
            part.position_upper[j],
            part.velocity_limit[j],
            part.acceleration_limit[j],
            jerk_scale * part.jerk_limit[j],
            part.dt,
        )
        joint_status = move_to(motion, part, j, q, v, a, joint_status)
        if joint_status != 0:
            status = joint_status
    return status
