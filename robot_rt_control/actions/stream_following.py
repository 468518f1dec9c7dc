"""What action types share that follow a stream: joints that track moving goals within their limits."""

import math

from robot_rt_control.actions.cartesian import DAMPING, find_joint_velocity, limit_joint_velocity
from robot_rt_control.actions.following import POSITION
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.motion.tracking import MARGIN, come_to_rest, speed_before_stop, track, track_velocity
from robot_rt_control.native.realtime_code import realtime

_SAME = 1e-9
"""[rad or m] A command that left farther from what was written was changed by a limit."""
_LEASH = 0.3
"""[rad or m] The reference waits for joints that are so far behind it."""

SMOOTHING = Parameter(
    name="smoothing",
    unit="s",
    default=0.05,
    minimum=0.01,
    maximum=1.0,
    description="In which a deviation from the goal decays; longer is smoother, and lags more where the goal turns.",
)
REPORT_INTERVAL = Parameter(
    name="report_interval",
    unit="s",
    default=0.01,
    minimum=0.0,
    maximum=10.0,
    description="Between samples of the stream output `command`; 0: none.",
)


@realtime
def take_over(state, part):
    """The joints' state of motion: as this action left it, or as the last command that left, where that differs."""
    for j in range(part.dof):
        difference = part.commanded_position[j] - state.joint_position[j]
        if not (abs(difference) <= _SAME):
            state.joint_position[j] = part.commanded_position[j]
            state.joint_velocity[j] = part.motion_velocity[j]
            state.joint_acceleration[j] = part.motion_acceleration[j]


@realtime
def begin_following(state, part):
    """As `take_over`, whatever the state holds."""
    for j in range(part.dof):
        state.joint_position[j] = math.nan
    take_over(state, part)


@realtime
def track_joint(state, part, j, goal, goal_velocity, smoothing):
    """One step of joint j to a moving goal [rad or m, per second of the action's time]. Returns a status."""
    amax, jmax = part.acceleration_limit[j], part.jerk_limit[j]
    low, high = part.position_lower[j], part.position_upper[j]
    goal = min(max(goal, low), high)
    if math.isfinite(low) and math.isfinite(high):
        # Towards a limit the goal has to slow down, too.
        goal_velocity = min(goal_velocity, speed_before_stop(high - goal, MARGIN * amax, jmax))
        goal_velocity = max(goal_velocity, -speed_before_stop(goal - low, MARGIN * amax, jmax))
    q, v, a, status = track(
        state.profile,
        state.joint_position[j],
        state.joint_velocity[j],
        state.joint_acceleration[j],
        goal,
        goal_velocity,
        low,
        high,
        part.velocity_limit[j],
        amax,
        jmax,
        smoothing,
        part.dt,
    )
    return move_to(state, part, j, q, v, a, status)


@realtime
def rest_joint(state, part, j):
    """One step of joint j to rest. Returns a status."""
    q, v, a, status = come_to_rest(
        state.profile,
        state.joint_position[j],
        state.joint_velocity[j],
        state.joint_acceleration[j],
        part.acceleration_limit[j],
        part.jerk_limit[j],
        part.dt,
    )
    return move_to(state, part, j, q, v, a, status)


@realtime
def rest_joints(state, part):
    """One step of all joints to rest. Returns a status."""
    status = 0
    for j in range(part.dof):
        joint_status = rest_joint(state, part, j)
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def begin_reference(state, part):
    """The joints' reference, which leads the tool, begins where the joints are."""
    for j in range(part.dof):
        state.reference[j] = state.joint_position[j]


@realtime
def track_tool(state, params, part, gain):
    """One step of the joints behind their reference, which moves by the tool's twist and `gain` times its error.

    The joints track the reference with limited jerk. Where a joint would be too fast all are slowed down alike, so
    that the tool keeps its direction; the reference waits for joints that are far behind it. How far the reference
    was slowed down is `state.tool.slowed`.

    Args:
        state: with `reference` (float, PER_JOINT) and `tool` (`cartesian.tool_dtype`), whose `twist` and `error` are
            those at the reference.

    Returns:
        A status.
    """
    tool = state.tool
    status = find_joint_velocity(tool, part, state.reference, gain, DAMPING)
    if status != 0:
        return status
    scale = limit_joint_velocity(tool, part)
    for j in range(part.dof):
        behind = abs(state.reference[j] - state.joint_position[j])
        scale = min(scale, max(1.0 - behind / _LEASH, 0.0))
    tool.slowed = scale
    for j in range(part.dof):
        velocity = tool.joint_velocity[j] * scale
        moved = state.reference[j] + velocity * part.dt
        low, high = part.position_lower[j], part.position_upper[j]
        if math.isfinite(low) and math.isfinite(high):
            inside = min(max(moved, low), high)
            if inside != moved:
                velocity = 0.0
            moved = inside
        state.reference[j] = moved
        joint_status = track_joint(state, part, j, moved, velocity, params.smoothing)
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def jog_joint(state, part, j, goal_velocity):
    """One step of joint j to a velocity [rad/s or m/s], which is less near the end of its range. Returns a status."""
    q, v, a, status = track_velocity(
        state.profile,
        state.joint_position[j],
        state.joint_velocity[j],
        state.joint_acceleration[j],
        goal_velocity,
        part.position_lower[j],
        part.position_upper[j],
        part.velocity_limit[j],
        part.acceleration_limit[j],
        part.jerk_limit[j],
        part.dt,
    )
    return move_to(state, part, j, q, v, a, status)


@realtime
def move_to(state, part, j, q, v, a, status):
    """Command a joint's next state; where there is none, hold. Returns the status."""
    part.command_mode = POSITION
    if status == 0:
        state.joint_position[j] = q
        state.joint_velocity[j] = v
        state.joint_acceleration[j] = a
        part.position_command[j] = q
    return status


@realtime
def report_command(state, params, part):
    """Write the commanded positions to the stream output `command`, as often as asked for."""
    if params.report_interval <= 0.0:
        return
    state.since_report += part.dt
    if state.since_report + 1e-9 < params.report_interval:
        return
    state.since_report = 0.0
    for j in range(part.dof):
        state.command.value[j] = part.position_command[j]
    state.command.ready = 1.0
