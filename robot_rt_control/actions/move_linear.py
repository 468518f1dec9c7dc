"""move_linear: move the tool on a straight line to a pose, or by an offset from its present pose."""

import math

import numpy as np

from robot_rt_control.actions.cartesian import (
    add_fading,
    begin_tool_plan,
    command_joints,
    find_error,
    find_mean_joint_velocity,
    limit_joint_velocity,
    plan_fading,
    time_to_release,
    tool_dtype,
    tool_jerk,
)
from robot_rt_control.actions.following import distance, follow, is_within, longest
from robot_rt_control.actions.headings import turned_about_z, unit_quaternion
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics.calls import forward_kinematics
from robot_rt_control.model.kinematics.kinematics import (
    forward,
    inverse_kinematics,
    orientation_error,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_rotate,
)
from robot_rt_control.motion.profile import profile_dtype, sample_profile
from robot_rt_control.motion.stop import plan_stop
from robot_rt_control.motion.synchronize import plan_position_synchronized
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

_POSITION = int(CommandMode.POSITION)
_DAMPING = 0.03
_CORRECTION = 20.0
"""[1/s] gain that returns the tool to its line: integration alone would drift."""
_LARGEST_DEVIATION = 0.01
"""[m] Beyond this distance from its line, the tool is held back by a limit or a singularity."""
_LARGEST_TURN = 0.05
"""[rad] likewise."""
_LEAST_SHARE = 0.05
"""Smallest fraction of the limits for each component, so that a small initial acceleration ends soon."""
_MOVING = 0.01
"""A component that moves faster than this fraction of the limit when the action starts."""


@realtime
def set_component_limits(state, first, speed, acceleration, ramp_time, time):
    """Distribute the limits to three components in the ratio of their distances, so that the path is straight.

    A component that is already in motion gets the full limit, so that it can finish in time.
    """
    way = 0.0
    for i in range(first, first + 3):
        way += state.way[i] * state.way[i]
    way = math.sqrt(way)
    for i in range(first, first + 3):
        share = abs(state.way[i]) / way if way > 1e-12 else 1.0
        if abs(state.tool.twist[i]) > _MOVING * speed or abs(state.tool.acceleration[i]) > _MOVING * acceleration:
            share = 1.0
        share = max(share, _LEAST_SHARE)
        state.top_speed[i] = share * speed
        state.top_acceleration[i] = share * acceleration
        top = math.copysign(speed, state.way[i]) if state.way[i] != 0.0 else 0.0
        state.top_jerk[i] = tool_jerk(
            state.tool.twist[i],
            state.tool.acceleration[i],
            min(top, 0.0),
            max(top, 0.0),
            share * acceleration / ramp_time,
            time,
        )


@realtime
def set_goal(state, params):
    """The goal pose, from the parameters and the pose at the action's start."""
    for i in range(3):
        state.goal_position[i] = params.position[i]
    for i in range(4):
        state.goal_orientation[i] = params.orientation[i]
    if params.is_offset != 0.0:
        for i in range(3):
            state.vector[i] = params.offset[i]
        if params.in_tool_frame != 0.0:
            quaternion_rotate(state.origin_orientation, params.offset, state.vector)
        for i in range(3):
            state.goal_position[i] = state.origin_position[i] + state.vector[i]
    elif params.keeps_position != 0.0:
        for i in range(3):
            state.goal_position[i] = state.origin_position[i]
    if params.keeps_orientation != 0.0:
        for i in range(4):
            state.goal_orientation[i] = state.origin_orientation[i]


@realtime
def plan_line(state, params, part):
    """Plan the six components from the last command to the goal, and the end of any other joint motion."""
    state.elapsed = 0.0
    state.speed = params.speed
    state.angular_speed = params.angular_speed
    begin_tool_plan(state.tool, part)
    for i in range(3):
        state.start_position[i] = state.tool.position[i]
    for i in range(4):
        state.start_orientation[i] = state.tool.orientation[i]
    set_goal(state, params)
    orientation_error(state.goal_orientation, state.start_orientation, state.vector)
    for i in range(3):
        state.way[i] = state.goal_position[i] - state.start_position[i]
        state.way[3 + i] = state.vector[i]
    time = time_to_release(part)
    set_component_limits(state, 0, params.speed, params.acceleration, params.ramp_time, time)
    set_component_limits(state, 3, params.angular_speed, params.angular_acceleration, params.ramp_time, time)
    status = plan_position_synchronized(
        state.plan,
        6,
        state.zeros,
        state.tool.twist,
        state.tool.acceleration,
        state.way,
        state.top_speed,
        state.top_acceleration,
        state.top_jerk,
    )
    if status != 0:
        return status
    state.total = longest(state.plan, 6)
    return plan_fading(state.rest, state.tool, part, _DAMPING)


@realtime
def block(state, part):
    """Leave the line and brake, because the tool cannot follow it. Returns a status.

    Acceleration along the motion is dropped at once, ignoring jerk: ramping it down would first add speed.
    """
    state.is_blocked = 1.0
    state.elapsed = 0.0
    status = 0
    for j in range(part.dof):
        v = part.motion_velocity[j]
        top = part.acceleration_limit[j]
        a = min(max(part.motion_acceleration[j], -top), top)
        if a * v > 0.0:
            a = 0.0
        joint_status = plan_stop(state.rest[j], part.commanded_position[j], v, a, top, part.jerk_limit[j])
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def is_off_line(state, part):
    """Store the pose on the line, and the error to it, in `state.tool`; return whether the error is too large."""
    tool = state.tool
    for i in range(3):
        p, _, _ = sample_profile(state.plan[i], state.elapsed)
        tool.position[i] = state.start_position[i] + p
        state.vector[i], _, _ = sample_profile(state.plan[3 + i], state.elapsed)
    quaternion_from_rotation_vector(state.vector, state.turn)
    quaternion_multiply(state.turn, state.start_orientation, tool.orientation)
    find_error(tool, part, part.commanded_position)
    away = 0.0
    turned = 0.0
    for i in range(3):
        away += tool.error[i] * tool.error[i]
        turned += tool.error[3 + i] * tool.error[3 + i]
    return away > _LARGEST_DEVIATION * _LARGEST_DEVIATION or turned > _LARGEST_TURN * _LARGEST_TURN


@realtime
def move_along(state, part):
    """One step along the line by damped differential inverse kinematics. Returns a status."""
    middle = state.elapsed + 0.5 * part.dt
    for i in range(6):
        _, state.tool.twist[i], _ = sample_profile(state.plan[i], middle)
    status = find_mean_joint_velocity(state.tool, part, _CORRECTION, _DAMPING)
    if status != 0:
        return status
    add_fading(state.rest, middle, state.tool, part)
    # If a joint would be too fast, the whole motion along the line is slowed down.
    state.slowed = limit_joint_velocity(state.tool, part)
    step = state.slowed * part.dt
    state.elapsed += step
    command_joints(state.tool, part, step)
    return 0


class MoveLinear(ActionType):
    """Move the tool on a straight line, with limited speed, acceleration and jerk, and stay there.

    Give `position` and/or `orientation` in the world, or an `offset` from the tool's pose at the start. If the
    arm is moving, the tool first curves onto the line. If a joint limit or a singularity keeps the tool off its
    line, it brakes and sets `is_blocked`.
    """

    name = "move_linear"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (
        Parameter(name="position", length=3, unit="m", optional=True, description="Goal of the tool in the world."),
        Parameter(
            name="orientation",
            length=4,
            optional=True,
            description="Goal orientation of the tool in the world, quaternion x y z w; default: the present one.",
        ),
        Parameter(
            name="offset", length=3, unit="m", optional=True, description="Displacement from the tool's present pose."
        ),
        Parameter(name="frame", type="text", default="world", choices=("world", "tool"), description="Offset axes."),
        Parameter(name="heading", unit="rad", default=0.0, description="Turns the offset's axes about their z."),
        Parameter(name="speed", unit="m/s", default=0.1, minimum=1e-4, maximum=3.0, description="Tool speed."),
        Parameter(
            name="angular_speed",
            unit="rad/s",
            default=0.5,
            minimum=1e-3,
            maximum=6.0,
            description="Tool turning speed.",
        ),
        Parameter(name="acceleration", unit="m/s^2", default=0.5, minimum=1e-3, description="Limit for the tool."),
        Parameter(name="angular_acceleration", unit="rad/s^2", default=2.0, minimum=1e-3, description="Tool limit."),
        Parameter(
            name="ramp_time",
            unit="s",
            default=0.05,
            minimum=0.001,
            description="Time in which the tool's acceleration builds up.",
        ),
        Parameter(
            name="tolerance",
            unit="m",
            default=0.002,
            minimum=0.0,
            description="Largest distance of the measured tool from the goal that counts as settled.",
        ),
    )
    example = {"offset": (0.05, 0.0, 0.0)}
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The command has arrived."),
        StateVariable(name="is_settled", type="bool", description="The tool is measured at the goal, at rest."),
        StateVariable(
            name="is_blocked", type="bool", description="The tool was kept off its line; the motion has stopped."
        ),
        StateVariable(name="progress", description="Elapsed fraction of the duration, 0 to 1."),
        StateVariable(name="remaining_time", unit="s", description="Time until the command arrives."),
        StateVariable(name="distance_to_goal", unit="m", description="Distance of the measured tool from the goal."),
        StateVariable(name="slowed", description="1: at full speed; below: slowed down to keep a joint's limit."),
        StateVariable(name="goal_position", length=3, unit="m", description="Goal of the tool in the world."),
        StateVariable(name="goal_orientation", length=4, description="Of the goal in the world, quaternion x y z w."),
    )
    Params = {
        "is_offset": float,
        "in_tool_frame": float,
        "keeps_position": float,
        "keeps_orientation": float,
        "position": (float, 3),
        "orientation": (float, 4),
        "offset": (float, 3),
        "speed": float,
        "angular_speed": float,
        "acceleration": float,
        "angular_acceleration": float,
        "ramp_time": float,
        "tolerance": float,
    }
    State = {
        "elapsed": float,
        "total": float,
        "speed": float,
        "angular_speed": float,
        "plan": (profile_dtype, 6),
        "rest": (profile_dtype, PER_JOINT),  # motion that does not move the tool; when blocked, the braking
        "zeros": (float, 6),
        "way": (float, 6),
        "top_speed": (float, 6),
        "top_acceleration": (float, 6),
        "top_jerk": (float, 6),
        "origin_position": (float, 3),  # tool pose at the start of the action
        "origin_orientation": (float, 4),
        "start_position": (float, 3),  # start of the present line
        "start_orientation": (float, 4),
        "former_position": (float, 3),
        "former_orientation": (float, 4),
        "tool": tool_dtype,
        "turn": (float, 4),
        "vector": (float, 3),
    }

    def prepare_parameters(self, values, params):
        arm = self.parts["arm"]
        to_pose, by_offset = "position" in values or "orientation" in values, "offset" in values
        if to_pose == by_offset:
            raise DefinitionError(
                f"move_linear of {arm.name!r}",
                expected="either `position` and/or `orientation`, or `offset`",
                got="both" if to_pose else "none of them",
            )
        kept = ("position", "orientation", "offset", "frame", "heading")
        super().prepare_parameters({k: v for k, v in values.items() if k not in kept}, params)
        params.is_offset = by_offset
        params.in_tool_frame = values["frame"] == "tool"
        params.keeps_position = "position" not in values
        params.keeps_orientation = "orientation" not in values
        params.position[:] = values.get("position", 0.0)
        params.offset[:] = turned_about_z(values.get("offset", (0.0, 0.0, 0.0)), values["heading"])
        orientation = values.get("orientation", (0.0, 0.0, 0.0, 1.0))
        params.orientation[:] = unit_quaternion(orientation, f"move_linear of {arm.name!r}: orientation")
        if "position" in values and arm.dof >= 6:
            self._check_reach(values, params)

    def _check_reach(self, values, params):
        """Refuse a position that no joint position reaches; without `orientation`, in the present orientation.

        Raises:
            DefinitionError: it cannot be reached.
        """
        arm = self.parts["arm"]
        record = arm.record
        seed = np.array(record.commanded_position[: arm.dof])
        orientation = np.array(params.orientation)
        if "orientation" not in values:
            _, orientation = forward_kinematics(record.chain, seed)
        limits = (np.array(record.position_lower[: arm.dof]), np.array(record.position_upper[: arm.dof]))
        inverse_kinematics(
            record.chain, params.position, orientation, seed, limits, item=f"move_linear of {arm.name!r}: the goal"
        )

    @staticmethod
    def on_enter(state, params, arm):
        state.slowed = 1.0
        forward(arm.chain, arm.commanded_position, state.origin_position, state.origin_orientation)
        return plan_line(state, params, arm)

    @staticmethod
    def sense(state, params, arm):
        done = state.elapsed >= state.total and state.is_blocked == 0.0
        state.is_done = done
        if state.is_blocked == 0.0:
            state.remaining_time = max(state.total - state.elapsed, 0.0)
            state.progress = 1.0 if done else state.elapsed / state.total
        state.distance_to_goal = distance(arm.tool_position, state.goal_position, 3)
        if done and arm.at_rest != 0.0:
            state.is_settled = is_within(state.distance_to_goal, params.tolerance)
        else:
            state.is_settled = 0.0

    @staticmethod
    def set_parameters(state, params, arm):
        # A new goal or speed while active: plan again from the present commanded motion.
        for i in range(3):
            state.former_position[i] = state.goal_position[i]
        for i in range(4):
            state.former_orientation[i] = state.goal_orientation[i]
        set_goal(state, params)
        changed = state.speed != params.speed or state.angular_speed != params.angular_speed
        for i in range(3):
            changed = changed or state.goal_position[i] != state.former_position[i]
        for i in range(4):
            changed = changed or state.goal_orientation[i] != state.former_orientation[i]
        if changed and state.is_blocked == 0.0:
            return plan_line(state, params, arm)
        return 0

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = _POSITION
        if state.is_blocked == 0.0 and is_off_line(state, arm):
            status = block(state, arm)
            if status != 0:
                return status
        if state.is_blocked != 0.0:
            state.elapsed += arm.dt
            follow(state.rest, state.elapsed, arm)
            return 0
        return move_along(state, arm)
