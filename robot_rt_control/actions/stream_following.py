"""What action types share that follow a stream: joints that track moving goals within their limits."""

import math

from robot_rt_control.actions.following import POSITION
from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.motion.tracking import come_to_rest, speed_before_stop, track
from robot_rt_control.native.realtime_code import realtime

_SAME = 1e-9
"""[rad or m] A command that left farther from what was written was changed by a limit."""
_MARGIN = 0.8
"""Fraction of the acceleration limit with which a goal may be braked before a position limit."""

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
        goal_velocity = min(goal_velocity, speed_before_stop(high - goal, _MARGIN * amax, jmax))
        goal_velocity = max(goal_velocity, -speed_before_stop(goal - low, _MARGIN * amax, jmax))
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
