"""What `govern_tool` and `govern_path` share: laws for the tool's motion along and about the axes of a task frame.

An action's State holds `TASK_STATE`, with one number for each degree of freedom in `velocity`, `mean_velocity` and
`mean_acceleration`; the first six degrees of freedom are those along and about the axes.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from robot_rt_control.actions.cartesian import (
    DAMPING,
    add_fading,
    begin_tool_plan,
    command_joints,
    find_error,
    find_mean_joint_velocity,
    give_up_error,
    lead_pose,
    limit_joint_velocity,
    plan_fading,
    tool_dtype,
)
from robot_rt_control.actions.following import POSITION
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Degree, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics.kinematics import quaternion_inverse, quaternion_multiply, quaternion_rotate
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import come_to_rest
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

WORLD, ENTRY, TOOL = 0, 1, 2
FRAMES = {"world": WORLD, "entry": ENTRY, "tool": TOOL}
_NONE = int(CommandMode.NONE)
_VELOCITY = int(CommandMode.VELOCITY)
_DEGREE_MODE = int(Status.DEGREE_MODE)
_CORRECTION = 20.0
"""[1/s] gain that returns the tool to its pose: integration alone would drift."""
_LARGEST_DEVIATION = 0.02
"""[m, rad] Beyond this error the pose restarts at the tool: limits have held it back."""


@realtime
def turn_frame(state):
    """The task frame's present axes, and the turn back to them."""
    if state.frame == TOOL:
        quaternion_multiply(state.tool.orientation, state.turn, state.axes)
    quaternion_inverse(state.axes, state.back)


@realtime
def rotate(turn, vector, scratch):
    """Rotate the linear and the angular half of a vector (6,), in place."""
    for first in range(0, 6, 3):
        for i in range(3):
            scratch[i] = vector[first + i]
        quaternion_rotate(turn, scratch, scratch)
        for i in range(3):
            vector[first + i] = scratch[i]


@realtime
def begin_frame(state, params, part):
    """Set the task frame's axes and its origin."""
    tool = state.tool
    begin_tool_plan(tool, part)
    state.frame = params.frame
    for i in range(4):
        state.turn[i] = params.turn[i]
        state.axes[i] = params.turn[i]
    if state.frame != WORLD:
        quaternion_multiply(tool.orientation, state.turn, state.axes)
    for i in range(3):
        state.origin[i] = 0.0 if state.frame == WORLD else tool.position[i]
    turn_frame(state)


@realtime
def begin_degrees(state):
    """Start at the last command: its pose, velocity and acceleration along the task frame's axes."""
    tool = state.tool
    for i in range(3):
        state.vector[i] = tool.position[i] - state.origin[i]
        state.vector[3 + i] = 0.0
    rotate(state.back, state.vector, state.scratch)
    for i in range(6):
        state.degrees[i].commanded_position = state.vector[i]
        state.vector[i] = tool.twist[i]
    rotate(state.back, state.vector, state.scratch)
    for i in range(6):
        state.degrees[i].motion_velocity = state.vector[i]
        state.vector[i] = tool.acceleration[i]
    rotate(state.back, state.vector, state.scratch)
    for i in range(6):
        state.degrees[i].motion_acceleration = state.vector[i]


@realtime
def begin_motion(state, part):
    """Start the degrees of freedom, and the end of the other joint motion, from `begin_degrees`. Returns a status."""
    state.slowed = 1.0
    state.elapsed = 0.0
    for i in range(len(state.velocity)):
        degree = state.degrees[i]
        state.mean_acceleration[i] = degree.motion_acceleration
        state.mean_velocity[i] = degree.motion_velocity - 0.5 * part.dt * degree.motion_acceleration
    return plan_fading(state.fading, state.tool, part, DAMPING)


@realtime
def show_limits(degree, lower, upper, velocity, acceleration, jerk):
    """What laws may use, see `layout.degree_dtype`."""
    degree.position_lower = lower
    degree.position_upper = upper
    degree.velocity_limit = velocity
    degree.acceleration_limit = acceleration
    degree.jerk_limit = jerk
    degree.effort_limit = 0.0
    degree.effort_rate_limit = 0.0


@realtime
def show_axes(state, params, part):
    """Show laws the six axes: their limits, and what is measured along them."""
    for i in range(6):
        show_limits(state.degrees[i], -math.inf, math.inf, params.velocity[i], params.acceleration[i], params.jerk[i])
    show_measured(state, part)


@realtime
def show_measured(state, part):
    """The tool's measured position from the origin, and its velocity, along the axes; unknown if these move."""
    for i in range(3):
        state.vector[i] = part.tool_position[i] - state.origin[i]
        state.vector[3 + i] = 0.0
    rotate(state.back, state.vector, state.scratch)
    for i in range(6):
        position = state.vector[i] if i < 3 and state.frame != TOOL else math.nan
        state.vector[i] = part.tool_twist[i]
        show_motion(state.degrees[i], position)
    rotate(state.back, state.vector, state.scratch)
    for i in range(6):
        state.degrees[i].velocity = state.vector[i]


@realtime
def show_motion(degree, position):
    """The measured position of a degree of freedom, and what is known from its command."""
    degree.position = position
    degree.effort = math.nan
    degree.external_effort = math.nan
    degree.commanded_velocity = degree.motion_velocity
    degree.commanded_acceleration = degree.motion_acceleration
    degree.commanded_effort = 0.0


@realtime
def _bounded(velocity, bound):
    """The velocity within a bound; NaN stays NaN."""
    if velocity > bound:
        return bound
    if velocity < -bound:
        return -bound
    return velocity


@realtime
def find_velocity(state, degree, i, dt):
    """The velocity of degree of freedom i in this tick, into `state.velocity`; without a command it comes to rest.

    Whatever a law commands, it does not become faster than its limit.

    Returns:
        A status.
    """
    bound = max(degree.velocity_limit, abs(state.mean_velocity[i]) - degree.acceleration_limit * dt)
    if degree.command_mode == POSITION:
        state.velocity[i] = _bounded((degree.position_command - degree.commanded_position) / dt, bound)
    elif degree.command_mode == _VELOCITY:
        state.velocity[i] = _bounded(degree.velocity_command, bound)
    elif degree.command_mode == _NONE:
        q, v, a, status = come_to_rest(
            state.profile,
            0.0,
            degree.motion_velocity,
            degree.motion_acceleration,
            degree.acceleration_limit,
            degree.jerk_limit,
            dt,
        )
        if status != 0:
            return status
        state.velocity[i] = q / dt
        degree.motion_velocity = v
        degree.motion_acceleration = a
    else:
        return _DEGREE_MODE
    return 0


@realtime
def begin_step(state, part):
    """Find the velocities of all degrees of freedom, the twist that those of the axes make, and the tool's error.

    If limits have held the tool back, its pose restarts there, and the degrees of freedom with it.

    Returns:
        A status.
    """
    state.elapsed += part.dt
    for i in range(len(state.velocity)):
        status = find_velocity(state, state.degrees[i], i, part.dt)
        if status != 0:
            return status
    tool = state.tool
    find_error(tool, part, part.commanded_position)
    for i in range(3):
        state.vector[i] = tool.position[i]
        state.vector[3 + i] = 0.0
    give_up_error(tool, _LARGEST_DEVIATION)
    for i in range(3):
        state.vector[i] = tool.position[i] - state.vector[i]
    rotate(state.back, state.vector, state.scratch)
    for i in range(3):
        state.degrees[i].commanded_position += state.vector[i]
    for i in range(6):
        tool.twist[i] = state.velocity[i]
    rotate(state.axes, tool.twist, state.scratch)
    return 0


@realtime
def take_step(state, part):
    """Command the joints by the tool's twist, and lead its pose; slowed if a joint would be too fast.

    Returns:
        A status.
    """
    tool = state.tool
    status = find_mean_joint_velocity(tool, part, _CORRECTION, DAMPING)
    if status != 0:
        return status
    add_fading(state.fading, state.elapsed - 0.5 * part.dt, tool, part)
    state.slowed = limit_joint_velocity(tool, part)
    for i in range(6):
        tool.twist[i] *= state.slowed
    lead_pose(tool, part.dt)
    command_joints(tool, part, state.slowed * part.dt)
    for i in range(len(state.velocity)):
        lead_degree(state, state.degrees[i], i, part.dt)
    return 0


@realtime
def lead_degree(state, degree, i, dt):
    """What degree of freedom i has moved. Where the tool is slowed, its law goes on at full velocity, as if time were
    slower: so all keep their proportions, and are fast again once the joint may be."""
    velocity = state.velocity[i]
    degree.commanded_position += velocity * state.slowed * dt
    acceleration = (velocity - state.mean_velocity[i]) / dt
    change = acceleration - state.mean_acceleration[i]
    state.mean_velocity[i] = velocity
    state.mean_acceleration[i] = acceleration
    if degree.command_mode != _NONE:  # as `action_time` does for joints
        most = degree.acceleration_limit
        degree.motion_acceleration = max(-most, min(most, acceleration + change))
        degree.motion_velocity = velocity + dt * (acceleration / 2.0 + change / 3.0)


class TaskFrameType(ActionType):
    """Base of both: an arm's tool, with limits along and about the axes of a frame."""

    slots: ClassVar[tuple[Slot, ...]] = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    degrees_of_freedom: ClassVar[tuple[Degree, ...]] = tuple(
        Degree(name=name, unit=unit, command_modes=("position", "velocity"))
        for unit, names in (("m", "xyz"), ("rad", ("rx", "ry", "rz")))
        for name in names
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(name="heading", unit="rad", default=0.0, description="Turns the axes about their z."),
        Parameter(name="linear_velocity", unit="m/s", default=0.5, minimum=0.001, description="Limit."),
        Parameter(name="angular_velocity", unit="rad/s", default=1.0, minimum=0.001, description="Limit."),
        Parameter(name="linear_acceleration", unit="m/s^2", default=2.0, minimum=0.001, description="Limit."),
        Parameter(name="angular_acceleration", unit="rad/s^2", default=5.0, minimum=0.001, description="Limit."),
        Parameter(
            name="ramp_time",
            unit="s",
            default=0.02,
            minimum=0.001,
            description="Time in which the acceleration builds up: limits the jerk.",
        ),
    )
    state_variables: ClassVar[tuple[StateVariable, ...]] = (
        StateVariable(name="slowed", description="1: at full velocity; below: slowed down to keep a joint's limit."),
    )
    Params: ClassVar[Mapping[str, Any]] = {
        "frame": int,
        "turn": (float, 4),
        "velocity": (float, 6),  # limits, along and about the axes
        "acceleration": (float, 6),
        "jerk": (float, 6),
    }
    State: ClassVar[Mapping[str, Any]] = {
        "elapsed": float,  # [s] since the start
        "frame": int,  # of the parameters at the start, as `turn`
        "turn": (float, 4),
        "axes": (float, 4),  # the frame's orientation, x y z w
        "back": (float, 4),  # its inverse
        "origin": (float, 3),  # [m]
        "velocity": (float, 6),  # of this tick, along the axes
        "mean_velocity": (float, 6),  # of the last tick
        "mean_acceleration": (float, 6),
        "vector": (float, 6),
        "scratch": (float, 3),
        "profile": profile_dtype,
        "fading": (profile_dtype, PER_JOINT),
        "tool": tool_dtype,
    }

    @classmethod
    def create(cls, parts):
        arm = parts["arm"]
        if not arm.has_kinematics:
            raise DefinitionError(f"{cls.name} of {arm.name!r}", expected="an arm with a tool", got="one without")
        return cls(parts)

    def prepare_parameters(self, values, params):
        for name in ("velocity", "acceleration"):
            params[name][:3], params[name][3:] = values[f"linear_{name}"], values[f"angular_{name}"]
        params.jerk[:] = params.acceleration / values["ramp_time"]
        params.frame = FRAMES[values["frame"]]
        params.turn[:] = (0.0, 0.0, math.sin(values["heading"] / 2.0), math.cos(values["heading"] / 2.0))

    def prepare_degrees(self, params, degrees):
        for name in ("velocity", "acceleration", "jerk"):
            degrees[f"{name}_limit"][:6] = params[name]
