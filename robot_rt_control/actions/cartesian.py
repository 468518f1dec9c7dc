"""Moves the tool along a path in space, or holds it, by joint positions. For your own actions.

Put one record of `tool_dtype` into the State of an action. Call the first line in `on_enter`, the others in `control`:

    begin_tool(state.tool, arm)                  # the pose to follow starts at the tool's commanded pose
    state.tool.twist[0] = 0.1                    # velocity of the tool: m/s and rad/s in the world frame
    status = follow_tool(state.tool, arm, GAIN)  # commands the joints, and moves the pose by the twist

The functions below `follow_tool` are its steps, for actions that need to change something in between. All poses are
in the world frame, orientations are quaternions x y z w, a twist is (6,): linear [m/s], then angular [rad/s].
"""

import math

from robot_rt_control.actions.following import POSITION, jerk_to_release
from robot_rt_control.memory.layout import record
from robot_rt_control.model.kinematics.kinematics import (
    differential_inverse,
    forward,
    kinematics_scratch_dtype,
    orientation_error,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_rotate,
    tool_twist,
)
from robot_rt_control.motion.profile import sample_profile
from robot_rt_control.motion.velocity import plan_velocity
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_JOINTS

DAMPING = 0.05
"""Damping of the inverse kinematics near singularities."""

_AHEAD = 1e-4
"""[s] for differences along the present motion."""

tool_dtype = record(
    [
        ("position", "f8", (3,)),  # [m] the pose that the tool follows
        ("orientation", "f8", (4,)),
        ("twist", "f8", (6,)),  # mean velocity of that pose in the tick
        ("acceleration", "f8", (6,)),  # as `begin_tool` found it [m/s^2, rad/s^2]
        ("tool_position", "f8", (3,)),  # [m] position of the tool at the commanded joint positions
        ("tool_orientation", "f8", (4,)),
        ("error", "f8", (6,)),  # from there to the pose [m], [rad] as a rotation vector
        ("joint_velocity", "f8", (MAX_JOINTS,)),  # [rad/s or m/s] joint velocities that follow from the twist
        ("slowed", "f8"),  # 1: at full speed; below: slowed down for the fastest joint
        ("wanted", "f8", (6,)),  # scratch, like all below
        ("position_ahead", "f8", (MAX_JOINTS,)),
        ("velocity_ahead", "f8", (MAX_JOINTS,)),
        ("rotation", "f8", (3,)),
        ("turn", "f8", (4,)),
        ("turned", "f8", (4,)),
        ("scratch", kinematics_scratch_dtype),
    ]
)
"""The state of following a tool."""


@realtime
def begin_tool(tool, part):
    """Start the pose to follow at the tool's commanded pose, with its mean twist in the last tick."""
    begin_tool_plan(tool, part)
    for i in range(6):
        tool.twist[i] -= 0.5 * part.dt * tool.acceleration[i]


@realtime
def begin_tool_plan(tool, part):
    """As `begin_tool`, with the twist at the end of the last tick, from which a plan starts."""
    forward(part.chain, part.commanded_position, tool.position, tool.orientation)
    tool_twist(part.chain, part.commanded_position, part.motion_velocity, tool.twist)
    tool_twist(part.chain, part.commanded_position, part.motion_acceleration, tool.acceleration)
    # The twist also changes because the Jacobian does.
    _look_ahead(tool, part, _AHEAD)
    tool_twist(part.chain, tool.position_ahead, part.motion_velocity, tool.wanted)
    for i in range(6):
        tool.acceleration[i] += (tool.wanted[i] - tool.twist[i]) / _AHEAD
    tool.slowed = 1.0


@realtime
def time_to_release(part):
    """[s] in which the joints' limits of jerk end the acceleration of the last command."""
    longest = part.dt
    for j in range(part.dof):
        longest = max(longest, abs(part.motion_acceleration[j]) / part.jerk_limit[j])
    return longest


@realtime
def tool_jerk(v, a, slowest, fastest, least, time):
    """The jerk of a plan for one of the tool's components, `least` or more.

    An action that is gentler than the joints' limits may take over an acceleration that it would take long to end: the
    tool first went far, even away from its goal. So it ends, at most as fast as the joints can in `time`, before the
    velocity leaves the range from `slowest` to `fastest`.
    """
    return jerk_to_release(v, a, fastest if a > 0.0 else -slowest, least, max(least, abs(a) / time))


@realtime
def _look_ahead(tool, part, t):
    """The joint positions that the present motion reaches after t [s]."""
    for j in range(part.dof):
        tool.position_ahead[j] = part.commanded_position[j] + part.motion_velocity[j] * t


@realtime
def follow_tool(tool, part, gain):
    """One step: move the tool by its twist and reduce the pose error; then move the pose by the twist.

    If a joint would be too fast, all joints are slowed down by the same factor, so the tool keeps its direction.

    Args:
        gain: [1/s] decay rate of the pose error; 0: the pose is not held.

    Returns:
        A status: that of the inverse kinematics.
    """
    find_error(tool, part, part.commanded_position)
    return _step_tool(tool, part, gain)


@realtime
def follow_tool_beside(tool, part, gain, axis):
    """As `follow_tool`, but along an axis only the twist moves the tool: there the pose follows it.

    For actions that a sensor leads along that axis: by the distance that it measures, or by the force.

    Args:
        axis: (3,) a unit vector in the world frame.
    """
    find_error(tool, part, part.commanded_position)
    along = 0.0
    for i in range(3):
        along += tool.error[i] * axis[i]
    for i in range(3):
        tool.position[i] -= along * axis[i]
        tool.error[i] -= along * axis[i]
    return _step_tool(tool, part, gain)


@realtime
def _step_tool(tool, part, gain):
    """Command the joints by the twist and the error, and lead the pose. Returns a status."""
    lead_pose(tool, part.dt)
    status = find_mean_joint_velocity(tool, part, gain, DAMPING)
    if status == 0:
        command_joints(tool, part, limit_joint_velocity(tool, part) * part.dt)
    return status


@realtime
def find_error(tool, part, q):
    """Compute the tool's pose at joint positions q, and its error: `tool_…` and `error`."""
    forward(part.chain, q, tool.tool_position, tool.tool_orientation)
    orientation_error(tool.orientation, tool.tool_orientation, tool.rotation)
    for i in range(3):
        tool.error[i] = tool.position[i] - tool.tool_position[i]
        tool.error[3 + i] = tool.rotation[i]


@realtime
def lead_pose(tool, dt):
    """Move the pose by one step of the twist."""
    for i in range(3):
        tool.position[i] += tool.twist[i] * dt
        tool.rotation[i] = tool.twist[3 + i] * dt
    quaternion_from_rotation_vector(tool.rotation, tool.turn)
    quaternion_multiply(tool.turn, tool.orientation, tool.turned)
    for i in range(4):
        tool.orientation[i] = tool.turned[i]


@realtime
def give_up_error(tool, largest):
    """Restart the pose at the tool if the error exceeds this [m, rad]: limits have held the tool back."""
    deviation = 0.0
    for i in range(6):
        deviation = max(deviation, abs(tool.error[i]))
    if deviation > largest:
        for i in range(3):
            tool.position[i] = tool.tool_position[i]
        for i in range(4):
            tool.orientation[i] = tool.tool_orientation[i]
        for i in range(6):
            tool.error[i] = 0.0


@realtime
def find_joint_velocity(tool, part, q, gain, damping):
    """The joint velocities for the twist and `gain` times the error, at joint positions q. Returns a status."""
    for i in range(6):
        tool.wanted[i] = tool.twist[i] + gain * tool.error[i]
    return differential_inverse(part.chain, q, tool.wanted, damping, tool.joint_velocity, tool.scratch)


@realtime
def find_mean_joint_velocity(tool, part, gain, damping):
    """As `find_joint_velocity`, for the step from the last command: with the Jacobian in its middle."""
    _look_ahead(tool, part, 0.5 * part.dt)
    return find_joint_velocity(tool, part, tool.position_ahead, gain, damping)


@realtime
def limit_joint_velocity(tool, part):
    """The factor, at most 1, by which all joints are slowed so that none exceeds its limit; also in `slowed`."""
    tool.slowed = 1.0
    for j in range(part.dof):
        speed = abs(tool.joint_velocity[j])
        if speed > part.velocity_limit[j]:
            tool.slowed = min(tool.slowed, part.velocity_limit[j] / speed)
    return tool.slowed


@realtime
def command_joints(tool, part, step):
    """Command the joint positions that the joint velocities reach after one step [s]."""
    part.command_mode = POSITION
    for j in range(part.dof):
        part.position_command[j] = part.commanded_position[j] + tool.joint_velocity[j] * step


@realtime
def plan_fading(fading, tool, part, damping):
    """Plan the end of the joint motion that does not move the tool (the null-space motion of a redundant arm).

    Args:
        fading: one profile for each joint.
        tool: as `begin_tool_plan` leaves it.

    Returns:
        A status.
    """
    status = differential_inverse(
        part.chain, part.commanded_position, tool.twist, damping, tool.joint_velocity, tool.scratch
    )
    if status != 0:
        return status
    _look_ahead(tool, part, _AHEAD)
    for i in range(6):
        tool.wanted[i] = tool.twist[i] + tool.acceleration[i] * _AHEAD
    status = differential_inverse(
        part.chain, tool.position_ahead, tool.wanted, damping, tool.velocity_ahead, tool.scratch
    )
    if status != 0:
        return status
    for j in range(part.dof):
        joint_status = plan_velocity(
            fading[j],
            0.0,
            part.motion_velocity[j] - tool.joint_velocity[j],
            part.motion_acceleration[j] - (tool.velocity_ahead[j] - tool.joint_velocity[j]) / _AHEAD,
            0.0,
            part.acceleration_limit[j],
            part.jerk_limit[j],
        )
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def add_fading(fading, t, tool, part):
    """Add the rest of that motion at time t [s] to the joint velocities."""
    for j in range(part.dof):
        _, extra, _ = sample_profile(fading[j], t)
        tool.joint_velocity[j] += extra


@realtime
def turn_twist(tool, twist):
    """Convert a twist (6,) from the axes of the tool's pose to world axes, in place."""
    for first in range(0, 6, 3):
        quaternion_rotate(tool.orientation, twist[first : first + 3], tool.rotation)
        for i in range(3):
            twist[first + i] = tool.rotation[i]


@realtime
def limit_vector(vector, first, longest):
    """Shorten the three elements from `first` on to a length of at most `longest`, in their direction."""
    length = 0.0
    for i in range(first, first + 3):
        length += vector[i] * vector[i]
    length = math.sqrt(length)
    if length > longest:
        for i in range(first, first + 3):
            vector[i] *= longest / length
