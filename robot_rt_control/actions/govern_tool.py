"""govern_tool: strategies govern the tool's motion along and about the axes of a task frame."""

import math

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
from robot_rt_control.model.kinematics import quaternion_inverse, quaternion_multiply, quaternion_rotate
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.tracking import come_to_rest
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind, Status
from robot_rt_control.vocabulary.errors import DefinitionError

_WORLD, _ENTRY, _TOOL = 0, 1, 2
_FRAMES = {"world": _WORLD, "entry": _ENTRY, "tool": _TOOL}
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
    if state.frame == _TOOL:
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
    """Start at the last command: its pose, velocity and acceleration along the task frame's axes."""
    tool = state.tool
    begin_tool_plan(tool, part)
    state.frame = params.frame
    for i in range(4):
        state.turn[i] = params.turn[i]
        state.axes[i] = params.turn[i]
    if state.frame != _WORLD:
        quaternion_multiply(tool.orientation, state.turn, state.axes)
    for i in range(3):
        state.origin[i] = tool.position[i] if state.frame == _ENTRY else 0.0
    turn_frame(state)
    for i in range(3):
        state.vector[i] = tool.position[i] if state.frame == _WORLD else 0.0
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
def show_limits(state, params):
    """What laws may use, see `layout.degree_dtype`."""
    for i in range(6):
        degree = state.degrees[i]
        degree.position_lower = -math.inf
        degree.position_upper = math.inf
        degree.velocity_limit = params.velocity[i]
        degree.acceleration_limit = params.acceleration[i]
        degree.jerk_limit = params.jerk[i]
        degree.effort_limit = 0.0


@realtime
def show_measured(state, part):
    """The tool's measured position and velocity along the axes; unknown where the frame has none."""
    for i in range(3):
        state.vector[i] = part.tool_position[i] - state.origin[i]
        state.vector[3 + i] = 0.0
    rotate(state.back, state.vector, state.scratch)
    for i in range(6):
        state.degrees[i].position = state.vector[i] if i < 3 and state.frame != _TOOL else math.nan
        state.degrees[i].effort = math.nan
        state.degrees[i].external_effort = math.nan
        state.vector[i] = part.tool_twist[i]
    rotate(state.back, state.vector, state.scratch)
    for i in range(6):
        degree = state.degrees[i]
        degree.velocity = state.vector[i]
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

    Whatever a law commands, it does not become faster than the parameters permit.

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
def give_up_pose(state):
    """Restart the pose at the tool if limits have held it back, and the degrees of freedom with it."""
    tool = state.tool
    for i in range(3):
        state.vector[i] = tool.position[i]
        state.vector[3 + i] = 0.0
    give_up_error(tool, _LARGEST_DEVIATION)
    for i in range(3):
        state.vector[i] = tool.position[i] - state.vector[i]
    rotate(state.back, state.vector, state.scratch)
    for i in range(3):
        state.degrees[i].commanded_position += state.vector[i]


@realtime
def take_step(state, degree, i, dt):
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


class GovernTool(ActionType):
    """Move the tool as strategies say, along and about the axes of one frame; what has no strategies holds its pose.

    `x y z` [m] and `rx ry rz` [rad, turned since the start] are degrees of freedom. In the frames `world` and `entry`
    (the tool's pose at the start, kept) they are fixed in space; in the frame `tool` they turn with the tool. `heading`
    turns the axes about their z. `x y z` are the tool's position in the frame; in the frame `tool`, its way since the
    start.

    All velocities are added to a twist and mapped to the joints by damped differential inverse kinematics, with a
    correction of the pose: so no degree of freedom changes the speed of another one. If a joint would be too fast, the
    whole tool is slowed, and keeps its direction: `slowed`. The joint motion that does not move the tool ends.
    """

    name = "govern_tool"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    degrees_of_freedom = tuple(
        Degree(name=name, unit=unit, command_modes=("position", "velocity"))
        for unit, names in (("m", "xyz"), ("rad", ("rx", "ry", "rz")))
        for name in names
    )
    parameters = (
        Parameter(
            name="frame",
            type="text",
            default="world",
            choices=tuple(_FRAMES),
            description="Of the axes. A change while the action is active has no effect; likewise `heading`.",
        ),
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
    state_variables = (
        StateVariable(name="slowed", description="1: at full velocity; below: slowed down to keep a joint's limit."),
    )
    Params = {
        "frame": int,
        "turn": (float, 4),
        "velocity": (float, 6),  # limits, along and about the axes
        "acceleration": (float, 6),
        "jerk": (float, 6),
    }
    State = {
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
            raise DefinitionError(f"govern_tool of {arm.name!r}", expected="an arm with a tool", got="one without")
        return cls(parts)

    def prepare_parameters(self, values, params):
        for name in ("velocity", "acceleration"):
            params[name][:3], params[name][3:] = values[f"linear_{name}"], values[f"angular_{name}"]
        params.jerk[:] = params.acceleration / values["ramp_time"]
        params.frame = _FRAMES[values["frame"]]
        params.turn[:] = (0.0, 0.0, math.sin(values["heading"] / 2.0), math.cos(values["heading"] / 2.0))

    def prepare_degrees(self, params, degrees):
        degrees["velocity_limit"] = params.velocity
        degrees["acceleration_limit"] = params.acceleration
        degrees["jerk_limit"] = params.jerk

    @staticmethod
    def on_enter(state, params, arm):
        state.slowed = 1.0
        begin_frame(state, params, arm)
        for i in range(6):
            state.mean_acceleration[i] = state.degrees[i].motion_acceleration
            state.mean_velocity[i] = state.degrees[i].motion_velocity - 0.5 * arm.dt * state.mean_acceleration[i]
        return plan_fading(state.fading, state.tool, arm, DAMPING)

    @staticmethod
    def sense(state, params, arm):
        turn_frame(state)
        show_limits(state, params)
        show_measured(state, arm)

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = POSITION
        if arm.dt <= 0.0:
            return 0  # the override is 0: hold
        state.elapsed += arm.dt
        for i in range(6):
            status = find_velocity(state, state.degrees[i], i, arm.dt)
            if status != 0:
                return status
        tool = state.tool
        find_error(tool, arm, arm.commanded_position)
        give_up_pose(state)
        for i in range(6):
            tool.twist[i] = state.velocity[i]
        rotate(state.axes, tool.twist, state.scratch)
        status = find_mean_joint_velocity(tool, arm, _CORRECTION, DAMPING)
        if status != 0:
            return status
        add_fading(state.fading, state.elapsed - 0.5 * arm.dt, tool, arm)
        state.slowed = limit_joint_velocity(tool, arm)
        for i in range(6):
            tool.twist[i] *= state.slowed
        lead_pose(tool, arm.dt)
        command_joints(tool, arm, state.slowed * arm.dt)
        for i in range(6):
            take_step(state, state.degrees[i], i, arm.dt)
        return 0
