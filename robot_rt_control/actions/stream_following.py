"""Shared code of action types that follow a stream: joints that track moving goals within their limits."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from robot_rt_control.actions.cartesian import DAMPING, find_joint_velocity, limit_joint_velocity, tool_dtype
from robot_rt_control.actions.following import JOINT_KINDS, POSITION
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.definitions.streams import Stream, StreamOutput
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import MARGIN, come_to_rest, speed_before_stop, track, track_velocity
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

_SAME = 1e-9
"""[rad or m] A sent command that differs from the written one by more than this was changed by a limit."""
_LEASH = 0.3
"""[rad or m] The reference waits for joints that lag behind it by more than this."""

SMOOTHING = Parameter(
    name="smoothing",
    unit="s",
    default=0.05,
    minimum=0.01,
    maximum=1.0,
    description="Time constant with which a deviation from the goal decays; longer: smoother, but more lag in turns.",
)


@realtime
def take_over(state, part):
    """The joints' state of motion: that of this action, or that of the last sent command if they differ."""
    for j in range(part.dof):
        difference = part.commanded_position[j] - state.joint_position[j]
        if not (abs(difference) <= _SAME):
            state.joint_position[j] = part.commanded_position[j]
            state.joint_velocity[j] = part.motion_velocity[j]
            state.joint_acceleration[j] = part.motion_acceleration[j]


@realtime
def begin_following(state, part):
    """As `take_over`, independent of the present state."""
    for j in range(part.dof):
        state.joint_position[j] = math.nan
    take_over(state, part)


@realtime
def judge(state, present, n):
    """Set `is_following` of joints 0 to n - 1. Returns the largest known |present - goal|; NaN if none is known."""
    largest = math.nan
    for j in range(n):
        error = abs(present[j] - state.goal.value[j])
        if math.isnan(largest) or error > largest:
            largest = error
    state.is_following = 0.0 if math.isnan(largest) else 1.0 - state.goal.timed_out
    return largest


@realtime
def track_joint(state, part, j, goal, goal_velocity, smoothing):
    """One step of joint j to a moving goal [rad or m, per second of the action's time]. Returns a status."""
    amax, jmax = part.acceleration_limit[j], part.jerk_limit[j]
    low, high = part.position_lower[j], part.position_upper[j]
    goal = min(max(goal, low), high)
    if math.isfinite(low) and math.isfinite(high):
        # The goal must also slow down towards a limit.
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
    """Start the joints' reference, which the tool follows, at the present joint positions."""
    for j in range(part.dof):
        state.reference[j] = state.joint_position[j]


@realtime
def track_tool(state, params, part, gain):
    """One step of the joints towards their reference, which moves by the tool's twist and `gain` times its error.

    The joints track the reference with limited jerk. If a joint would be too fast, all are slowed by the same factor,
    so the tool keeps its direction; the reference waits for joints that lag far behind it. `state.tool.slowed` is
    the factor.

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
    """One step of joint j to a velocity [rad/s or m/s], reduced near the end of its range. Returns a status."""
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
    """Command a joint's next state; hold if there is none. Returns the status."""
    part.command_mode = POSITION
    if status == 0:
        state.joint_position[j] = q
        state.joint_velocity[j] = v
        state.joint_acceleration[j] = a
        part.position_command[j] = q
    return status


@realtime
def report_command(state, params, part):
    """Write the commanded positions to the stream output `command` at the requested interval."""
    if params.report_interval <= 0.0:
        return
    state.since_report += part.dt
    if state.since_report + 1e-9 < params.report_interval:
        return
    state.since_report = 0.0
    for j in range(part.dof):
        state.command.value[j] = part.position_command[j]
    state.command.ready = 1.0


class StreamFollower(ActionType):
    """Base of the followers: joints that follow the stream input `goal` and report their commands."""

    slots: ClassVar[tuple[Slot, ...]] = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            name="report_interval",
            unit="s",
            default=0.01,
            minimum=0.0,
            maximum=10.0,
            description="Interval between samples of the stream output `command`; 0: no samples.",
        ),
    )
    state_variables: ClassVar[tuple[StateVariable, ...]] = (
        StateVariable(name="is_following", type="bool", description="Samples arrive; otherwise the part rests."),
    )
    streams: ClassVar[tuple[Stream, ...]] = (
        StreamOutput(name="command", length="dof", units="joint", description="Commanded joint positions."),
    )
    State: ClassVar[Mapping[str, Any]] = {
        "joint_position": (float, PER_JOINT),
        "joint_velocity": (float, PER_JOINT),
        "joint_acceleration": (float, PER_JOINT),
        "since_report": float,
        "profile": profile_dtype,
    }

    @staticmethod
    def on_enter(state, params, part):
        begin_following(state, part)


class ToolFollower(StreamFollower):
    """Base of the followers that move a tool: the joints track a reference, which follows the tool's goal."""

    slots: ClassVar[tuple[Slot, ...]] = (Slot(name="part", kinds=(PartKind.ARM,)),)
    parameters: ClassVar[tuple[Parameter, ...]] = (SMOOTHING, *StreamFollower.parameters)
    State: ClassVar[Mapping[str, Any]] = {**StreamFollower.State, "reference": (float, PER_JOINT), "tool": tool_dtype}

    @classmethod
    def create(cls, parts):
        part = parts["part"]
        if not part.record.chain.n_joints:
            raise DefinitionError(
                f"{cls.name} of {part.name!r}: the part has no kinematic chain",
                expected="an arm with a tool",
                hint="Use follow_joint_stream or follow_joint_velocity_stream",
            )
        return cls(parts)
