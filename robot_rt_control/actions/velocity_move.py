"""velocity_move: move with a joint velocity or a tool twist until another action starts."""

from robot_rt_control.actions.cartesian import (
    add_fading,
    begin_tool_plan,
    command_joints,
    find_error,
    find_mean_joint_velocity,
    give_up_error,
    lead_pose,
    limit_joint_velocity,
    plan_fading,
    time_to_release,
    tool_dtype,
    tool_jerk,
    turn_twist,
)
from robot_rt_control.actions.following import POSITION
from robot_rt_control.actions.headings import turned_about_z
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.motion.profile import profile_dtype, sample_profile
from robot_rt_control.motion.velocity import plan_velocity
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

_JOINTS = 0
_TOOL = 1

_DAMPING = 0.03
_CORRECTION = 20.0
"""[1/s] gain that returns the tool to the path of its twist: integration alone would drift."""
_LEAST_SHARE = 0.1
_LARGEST_DEVIATION = 0.02
"""[m, rad] Beyond this error the path restarts at the tool: limits have held it back."""


@realtime
def start_joints(state, params, part):
    """Plan each joint's motion to its velocity. Returns a status."""
    status = 0
    for j in range(part.dof):
        state.reached[j] = part.commanded_position[j]
        joint_status = plan_velocity(
            state.plan[j],
            part.commanded_position[j],
            part.motion_velocity[j],
            part.motion_acceleration[j],
            params.velocity[j],
            part.acceleration_limit[j],
            part.jerk_limit[j],
        )
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def share_of_change(state, i, steady):
    """The share of the acceleration for component i of the twist, so that all components change together.

    A component that is already accelerating (more than `steady`) gets all of it, so that it finishes soon. Each
    component gets a minimum, so that it can end its present acceleration.
    """
    if abs(state.tool.acceleration[i]) > steady:
        return 1.0
    first = 0 if i < 3 else 3
    largest = 0.0
    for k in range(first, first + 3):
        largest = max(largest, abs(state.goal[k] - state.tool.twist[k]))
    change = abs(state.goal[i] - state.tool.twist[i])
    return max(change / largest, _LEAST_SHARE) if change > 1e-9 * largest else 1.0


@realtime
def start_tool(state, params, part):
    """Plan the six components of the twist, and the end of the joint motion that does not move the tool."""
    begin_tool_plan(state.tool, part)
    for i in range(3):
        state.goal[i] = params.linear[i]
        state.goal[3 + i] = params.angular[i]
    if params.in_tool_frame != 0.0:
        turn_twist(state.tool, state.goal)
    time = time_to_release(part)
    status = 0
    for i in range(6):
        acceleration = params.linear_acceleration if i < 3 else params.angular_acceleration
        acceleration *= share_of_change(state, i, 0.01 * acceleration)
        v, a, goal = state.tool.twist[i], state.tool.acceleration[i], state.goal[i]
        component_status = plan_velocity(
            state.plan[i],
            0.0,
            v,
            a,
            goal,
            acceleration,
            tool_jerk(v, a, min(v, goal), max(v, goal), acceleration / params.ramp_time, time),
        )
        if component_status != 0:
            status = component_status
    fading_status = plan_fading(state.fading, state.tool, part, _DAMPING)
    return fading_status if fading_status != 0 else status


@realtime
def move_tool(state, params, part):
    """One step of the tool's motion by damped differential inverse kinematics. Returns a status."""
    middle = state.elapsed - 0.5 * part.dt
    for i in range(6):
        _, state.tool.twist[i], _ = sample_profile(state.plan[i], middle)
    find_error(state.tool, part, part.commanded_position)
    give_up_error(state.tool, _LARGEST_DEVIATION)
    lead_pose(state.tool, part.dt)
    status = find_mean_joint_velocity(state.tool, part, _CORRECTION, _DAMPING)
    if status != 0:
        return status
    add_fading(state.fading, middle, state.tool, part)
    state.slowed = limit_joint_velocity(state.tool, part)
    command_joints(state.tool, part, state.slowed * part.dt)
    return 0


@realtime
def is_other(state, params, part):
    """Whether the parameters are others than those of the present plan."""
    other = (
        state.mode != params.mode
        or state.in_tool_frame != params.in_tool_frame
        or state.linear_acceleration != params.linear_acceleration
        or state.angular_acceleration != params.angular_acceleration
        or state.ramp_time != params.ramp_time
    )
    for j in range(part.dof):
        other = other or state.velocity[j] != params.velocity[j]
    for i in range(3):
        other = other or state.linear[i] != params.linear[i] or state.angular[i] != params.angular[i]
    return other


@realtime
def plan(state, params, part):
    """Plan from the present commanded motion. Returns a status."""
    state.mode, state.in_tool_frame = params.mode, params.in_tool_frame
    state.linear_acceleration, state.angular_acceleration = params.linear_acceleration, params.angular_acceleration
    state.ramp_time = params.ramp_time
    for j in range(part.dof):
        state.velocity[j] = params.velocity[j]
    for i in range(3):
        state.linear[i], state.angular[i] = params.linear[i], params.angular[i]
    state.slowed = 1.0
    state.elapsed = state.total = 0.0
    if params.mode == _JOINTS:
        status = start_joints(state, params, part)
        n = part.dof
    else:
        status = start_tool(state, params, part)
        n = 6
    for i in range(n):
        state.total = max(state.total, state.plan[i].total)
    return status


class VelocityMove(ActionType):
    """Move with constant joint velocities, or with a constant twist of the tool, reached with limited jerk.

    Give either `velocity`, or `linear` and/or `angular`. The motion continues until another action takes the part. A
    joint brakes before its limit. New parameters are reached in the same way from the present motion; a twist in the
    tool's frame is turned by the tool's orientation at that time.
    """

    name = "velocity_move"
    slots = (Slot(name="part", kinds=(PartKind.ARM, PartKind.GRIPPER, PartKind.BASE)),)
    parameters = (
        Parameter(name="velocity", length="dof", unit="joint/s", optional=True, description="Joint velocities."),
        Parameter(name="linear", length=3, unit="m/s", optional=True, description="Linear velocity of the tool."),
        Parameter(name="angular", length=3, unit="rad/s", optional=True, description="Angular velocity of the tool."),
        Parameter(
            name="frame", type="text", default="world", choices=("world", "tool"), description="Axes of the twist."
        ),
        Parameter(name="heading", unit="rad", default=0.0, description="Turns the twist's axes about their z."),
        Parameter(name="linear_acceleration", unit="m/s^2", default=2.0, minimum=0.001, description="Tool limit."),
        Parameter(name="angular_acceleration", unit="rad/s^2", default=5.0, minimum=0.001, description="Tool limit."),
        Parameter(
            name="ramp_time",
            unit="s",
            default=0.02,
            minimum=0.001,
            description="Time in which the tool's acceleration builds up.",
        ),
    )
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The velocity has been reached."),
        StateVariable(name="slowed", description="1: at full velocity; below: slowed down to keep a joint's limit."),
    )
    example = {"linear": (0.1, 0.0, 0.0)}
    Params = {
        "mode": int,
        "in_tool_frame": float,
        "velocity": (float, PER_JOINT),
        "linear": (float, 3),
        "angular": (float, 3),
        "linear_acceleration": float,
        "angular_acceleration": float,
        "ramp_time": float,
    }
    State = {
        # the parameters of the present plan
        "mode": int,
        "in_tool_frame": float,
        "velocity": (float, PER_JOINT),
        "linear": (float, 3),
        "angular": (float, 3),
        "linear_acceleration": float,
        "angular_acceleration": float,
        "ramp_time": float,
        "elapsed": float,  # [s] since the plan began
        "total": float,
        "plan": (profile_dtype, PER_JOINT),
        "fading": (profile_dtype, PER_JOINT),
        "reached": (float, PER_JOINT),  # position of the joints' plan in the last tick
        "goal": (float, 6),
        "tool": tool_dtype,
    }

    def prepare_parameters(self, values, params):
        part = self.parts["part"]
        joints, tool = "velocity" in values, "linear" in values or "angular" in values
        if joints == tool:
            raise DefinitionError(
                f"velocity_move of {part.name!r}",
                expected="either `velocity`, or `linear` and/or `angular`",
                got="both" if joints else "none of them",
            )
        frame = values["frame"]
        heading = values["heading"]
        super().prepare_parameters({k: v for k, v in values.items() if k not in ("frame", "heading")}, params)
        params.linear[:] = turned_about_z(params.linear, heading)
        params.angular[:] = turned_about_z(params.angular, heading)
        params.mode = _JOINTS if joints else _TOOL
        params.in_tool_frame = frame == "tool"
        record = part.record
        if joints:
            for j, joint in enumerate(part.joint_names):
                if abs(params.velocity[j]) > record.velocity_limit[j]:
                    raise DefinitionError(
                        f"velocity_move of {part.name!r}: the velocity of joint {joint!r} is above its limit",
                        expected=f"at most {record.velocity_limit[j]:.4f}",
                        got=f"{params.velocity[j]:.4f}",
                    )
        elif not record.chain.n_joints:
            raise DefinitionError(
                f"velocity_move of {part.name!r}: a tool velocity needs a part with a kinematic chain",
                expected="`velocity`, one for each joint",
                got="`linear` or `angular`",
            )

    @staticmethod
    def on_enter(state, params, part):
        return plan(state, params, part)

    @staticmethod
    def sense(state, params, part):
        state.is_done = state.elapsed >= state.total

    @staticmethod
    def set_parameters(state, params, part):
        return plan(state, params, part) if is_other(state, params, part) else 0

    @staticmethod
    def control(state, params, part):
        state.elapsed += part.dt
        part.command_mode = POSITION
        if params.mode == _TOOL:
            return move_tool(state, params, part)
        for j in range(part.dof):
            q, _, _ = sample_profile(state.plan[j], state.elapsed)
            # Start from the last command, not from the plan: a joint held back by a limit must not accumulate error.
            part.position_command[j] = part.commanded_position[j] + (q - state.reached[j])
            state.reached[j] = q
        return 0
