"""move_joint: move to a joint position or tool pose from any state of motion; all joints arrive together."""

import math
from typing import ClassVar

from robot_rt_control.actions.following import (
    JOINT_KINDS,
    distance,
    follow,
    is_within,
    jerk_to_release,
    largest_difference,
    longest,
)
from robot_rt_control.actions.tool_use import is_other_tool
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics.calls import forward_kinematics
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.motion.synchronize import plan_position_synchronized
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import Status
from robot_rt_control.vocabulary.errors import DefinitionError

_OTHER_TOOL = int(Status.OTHER_TOOL)


@realtime
def plan_move(state, params, part):
    """Plan from the last command to the goal, and store the goal of the plan. Returns a status."""
    state.velocity_scale = params.velocity_scale
    state.acceleration_scale = params.acceleration_scale
    for j in range(part.dof):
        state.goal[j] = params.position[j]
        state.velocity[j] = params.velocity_scale * part.velocity_limit[j]
        state.acceleration[j] = params.acceleration_scale * part.acceleration_limit[j]
        # A motion that it takes over from may have more acceleration than its own jerk could end in time.
        state.jerk[j] = jerk_to_release(
            part.motion_velocity[j],
            part.motion_acceleration[j],
            part.velocity_limit[j],
            params.acceleration_scale * part.jerk_limit[j],
            part.jerk_limit[j],
        )
    status = plan_position_synchronized(
        state.plan,
        part.dof,
        part.commanded_position,
        part.motion_velocity,
        part.motion_acceleration,
        state.goal,
        state.velocity,
        state.acceleration,
        state.jerk,
    )
    state.total = longest(state.plan, part.dof)
    return status


class MoveJoint(ActionType):
    """Move to a joint position with limited velocity, acceleration and jerk, and stay there.

    Give either `position`, or `tool_position` and/or `tool_orientation`. For a tool pose, joint positions are computed
    from the part's configuration at the time when the parameters are given; an omitted part of the pose keeps its
    value at that time. The tool does not move in a straight line.
    """

    name = "move_joint"
    slots: ClassVar[tuple[Slot, ...]] = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(name="position", length="dof", unit="joint", optional=True, description="Goal, one for each joint."),
        Parameter(
            name="tool_position", length=3, unit="m", optional=True, description="Goal of the tool, in the world."
        ),
        Parameter(
            name="tool_orientation",
            length=4,
            optional=True,
            description="Goal orientation of the tool in the world, quaternion x y z w.",
        ),
        Parameter(
            name="tool",
            type="text",
            optional=True,
            description="Tool that this pose is for, which then has to be on; by default the one that is on when the "
            "parameters are given.",
        ),
        Parameter(
            name="velocity_scale",
            default=1.0,
            minimum=0.001,
            maximum=1.0,
            description="Fraction of the velocity limits.",
        ),
        Parameter(
            name="acceleration_scale",
            default=1.0,
            minimum=0.001,
            maximum=1.0,
            description="Fraction of the limits of acceleration and jerk. A motion that it takes over may need more "
            "jerk to keep the velocity limits.",
        ),
        Parameter(
            name="tolerance",
            unit="joint",
            default=0.005,
            minimum=0.0,
            description="Largest |measured - goal| position of a joint that counts as settled.",
        ),
    )
    state_variables: ClassVar[tuple[StateVariable, ...]] = (
        StateVariable(name="is_done", type="bool", description="The command has arrived."),
        StateVariable(name="is_settled", type="bool", description="The part is measured at the goal, at rest."),
        StateVariable(name="progress", description="Elapsed fraction of the duration, 0 to 1."),
        StateVariable(name="remaining_time", unit="s", description="Time until the command arrives."),
        StateVariable(name="distance_to_goal", unit="joint", description="Euclidean, of the measured joints."),
        StateVariable(name="tool_distance_to_goal", unit="m", description="Of the measured tool, if any."),
    )
    example = {"position": (0.5,) * 7}  # for seven joints
    Params = {
        "position": (float, PER_JOINT),
        "velocity_scale": float,
        "acceleration_scale": float,
        "tolerance": float,
        "goal_tool_position": (float, 3),
        "tool_number": float,  # that the goal is for; NaN: any
    }
    State = {
        "elapsed": float,
        "total": float,
        "plan": (profile_dtype, PER_JOINT),
        "goal": (float, PER_JOINT),
        "velocity_scale": float,
        "acceleration_scale": float,
        "velocity": (float, PER_JOINT),
        "acceleration": (float, PER_JOINT),
        "jerk": (float, PER_JOINT),
    }

    def prepare_parameters(self, values, params):
        for name in ("velocity_scale", "acceleration_scale", "tolerance"):
            params[name] = values[name]
        part = self.parts["part"]
        if part.tools or "tool" in values:  # of one tool throughout: another may be put on meanwhile
            part = part.with_tool(values.get("tool", part.tool))
        limits = part.record
        params.tool_number = math.nan if "position" in values and "tool" not in values else limits.tool_number
        params.position[: part.dof] = self._goal(part, values)
        for j, joint in enumerate(part.joint_names):
            low, high = limits.position_lower[j], limits.position_upper[j]
            if not low <= params.position[j] <= high:
                raise DefinitionError(
                    f"move_joint of {part.name!r}: the target of joint {joint!r} is outside its limits",
                    expected=f"{low:.4f} to {high:.4f}",
                    got=f"{params.position[j]:.4f}",
                )
        if limits.chain.n_joints:
            params.goal_tool_position[:], _ = forward_kinematics(limits.chain, params.position)
        else:
            params.goal_tool_position[:] = math.nan

    def _goal(self, part, values):
        """(dof,) joint positions of the goal."""
        pose = [n for n in ("tool_position", "tool_orientation") if n in values]
        if ("position" in values) == bool(pose):
            raise DefinitionError(
                f"move_joint of {part.name!r}",
                expected="either `position`, or `tool_position` and/or `tool_orientation`",
                got=f"`position` and `{pose[0]}`" if pose else "none of them",
            )
        if not pose:
            return values["position"]
        p_WT, q_WT = part.forward()
        return part.inverse_kinematics(values.get("tool_position", p_WT), values.get("tool_orientation", q_WT))

    @staticmethod
    def on_enter(state, params, part):
        if is_other_tool(part, params.tool_number):
            return _OTHER_TOOL
        return plan_move(state, params, part)

    @staticmethod
    def sense(state, params, part):
        done = state.elapsed >= state.total
        state.is_done = done
        state.remaining_time = max(state.total - state.elapsed, 0.0)
        state.progress = 1.0 if done else state.elapsed / state.total
        state.distance_to_goal = distance(part.position, params.position, part.dof)
        state.tool_distance_to_goal = distance(part.tool_position, params.goal_tool_position, 3)
        if done and part.at_rest != 0.0:
            state.is_settled = is_within(largest_difference(part.position, params.position, part.dof), params.tolerance)
        else:
            state.is_settled = 0.0

    @staticmethod
    def set_parameters(state, params, part):
        # New parameters while active: plan again from the present commanded motion.
        if (
            largest_difference(state.goal, params.position, part.dof) > 0.0
            or state.velocity_scale != params.velocity_scale
            or state.acceleration_scale != params.acceleration_scale
        ):
            if is_other_tool(part, params.tool_number):
                return _OTHER_TOOL
            state.elapsed = 0.0
            return plan_move(state, params, part)
        return 0

    @staticmethod
    def control(state, params, part):
        state.elapsed += part.dt
        follow(state.plan, state.elapsed, part)
