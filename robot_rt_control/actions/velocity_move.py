"""velocity_move: move with a joint velocity or a tool twist until something else is started."""

from robot_rt_control.actions.following import POSITION
from robot_rt_control.actions.headings import turned_about_z
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.model.kinematics import (
    differential_inverse,
    forward,
    kinematics_scratch_dtype,
    orientation_error,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_rotate,
    tool_twist,
)
from robot_rt_control.motion.profile import profile_dtype, sample_profile
from robot_rt_control.motion.velocity import plan_velocity
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

_JOINTS = 0
_TOOL = 1

_DAMPING = 0.03
_CORRECTION = 20.0
"""[1/s] gain with which the tool is led back to the path of its twist: the integration alone would drift."""
_LEAST_SHARE = 0.1
_LARGEST_DEVIATION = 0.02
"""[m, rad] Farther off than this, the path begins anew where the tool is: it was held back by limits."""


@realtime
def start_joints(state, params, part):
    """Plan each joint's way to its velocity. Returns a status."""
    status = 0
    for j in range(part.dof):
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
    """How much of the acceleration component i of the twist gets, so that all change together, on a straight way.

    A component that is accelerating already (more than `steady`) gets all of it, to come to an end soon; and each gets
    at least a little, to be rid of what acceleration it has.
    """
    if abs(state.twist_acceleration[i]) > steady:
        return 1.0
    first = 0 if i < 3 else 3
    largest = 0.0
    for k in range(first, first + 3):
        largest = max(largest, abs(state.goal[k] - state.twist[k]))
    change = abs(state.goal[i] - state.twist[i])
    return max(change / largest, _LEAST_SHARE) if change > 1e-9 * largest else 1.0


@realtime
def start_tool(state, params, part):
    """Plan the way of the six components of the twist, and of the joint motion that the twist does not explain."""
    forward(part.chain, part.commanded_position, state.path_position, state.path_orientation)
    tool_twist(part.chain, part.commanded_position, part.motion_velocity, state.twist)
    tool_twist(part.chain, part.commanded_position, part.motion_acceleration, state.twist_acceleration)
    for i in range(3):
        state.goal[i] = params.linear[i]
        state.goal[3 + i] = params.angular[i]
    if params.in_tool_frame != 0.0:
        quaternion_rotate(state.path_orientation, params.linear, state.vector)
        quaternion_rotate(state.path_orientation, params.angular, state.rotation)
        for i in range(3):
            state.goal[i] = state.vector[i]
            state.goal[3 + i] = state.rotation[i]
    status = 0
    for i in range(6):
        acceleration = params.linear_acceleration if i < 3 else params.angular_acceleration
        acceleration *= share_of_change(state, i, 0.01 * acceleration)
        component_status = plan_velocity(
            state.plan[i],
            0.0,
            state.twist[i],
            state.twist_acceleration[i],
            state.goal[i],
            acceleration,
            acceleration / params.ramp_time,
        )
        if component_status != 0:
            status = component_status
    # A redundant arm may also be moving without moving its tool: that motion fades out beside the twist.
    inverse_status = differential_inverse(
        part.chain, part.commanded_position, state.twist, _DAMPING, state.joint_velocity, state.scratch
    )
    if inverse_status != 0:
        return inverse_status
    for j in range(part.dof):
        joint_status = plan_velocity(
            state.rest[j],
            0.0,
            part.motion_velocity[j] - state.joint_velocity[j],
            0.0,
            0.0,
            part.acceleration_limit[j],
            part.jerk_limit[j],
        )
        if joint_status != 0:
            status = joint_status
    return status


@realtime
def lead_path(state, dt):
    """Move the point that leads the tool by one step of the twist; `state.rotation` is scratch."""
    for i in range(3):
        state.path_position[i] += state.twist[i] * dt
        state.rotation[i] = state.twist[3 + i] * dt
    quaternion_from_rotation_vector(state.rotation, state.turn)
    quaternion_multiply(state.turn, state.path_orientation, state.next_orientation)
    for i in range(4):
        state.path_orientation[i] = state.next_orientation[i]


@realtime
def move_tool(state, params, part):
    """One step of the tool's motion by damped differential inverse kinematics. Returns a status."""
    dt = part.dt
    for i in range(6):
        _, state.twist[i], _ = sample_profile(state.plan[i], state.elapsed)
    forward(part.chain, part.commanded_position, state.tool_position, state.tool_orientation)
    orientation_error(state.path_orientation, state.tool_orientation, state.rotation)
    deviation = 0.0
    for i in range(3):
        offset = state.path_position[i] - state.tool_position[i]
        state.correction[i] = offset
        state.correction[3 + i] = state.rotation[i]
        deviation = max(deviation, max(abs(offset), abs(state.rotation[i])))
    if deviation > _LARGEST_DEVIATION:
        for i in range(3):
            state.path_position[i] = state.tool_position[i]
        for i in range(4):
            state.path_orientation[i] = state.tool_orientation[i]
        for i in range(6):
            state.correction[i] = 0.0
    lead_path(state, dt)
    for i in range(6):
        state.correction[i] = state.twist[i] + _CORRECTION * state.correction[i]
    status = differential_inverse(
        part.chain, part.commanded_position, state.correction, _DAMPING, state.joint_velocity, state.scratch
    )
    if status != 0:
        return status
    # Where a joint would be too fast all are slowed down alike, so that the tool keeps its direction.
    slowest = 1.0
    for j in range(part.dof):
        _, extra, _ = sample_profile(state.rest[j], state.elapsed)
        state.joint_velocity[j] += extra
        if abs(state.joint_velocity[j]) > part.velocity_limit[j]:
            slowest = min(slowest, part.velocity_limit[j] / abs(state.joint_velocity[j]))
    state.slowed = slowest
    for j in range(part.dof):
        part.position_command[j] = part.commanded_position[j] + slowest * state.joint_velocity[j] * dt
    return 0


class VelocityMove(ActionType):
    """Move with constant joint velocities, or with a constant twist of the tool, reached with limited jerk.

    Give either `velocity`, or `linear` and/or `angular`. It goes on until another action takes over; before a joint's
    limit the joint is braked.
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
        Parameter(name="linear_acceleration", unit="m/s^2", default=2.0, minimum=0.001, description="Of the tool."),
        Parameter(name="angular_acceleration", unit="rad/s^2", default=5.0, minimum=0.001, description="Of the tool."),
        Parameter(
            name="ramp_time",
            unit="s",
            default=0.02,
            minimum=0.001,
            description="In which the tool's acceleration is built up.",
        ),
    )
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The velocity has been reached."),
        StateVariable(name="elapsed", unit="s", description="Since the start."),
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
        "total": float,
        "plan": (profile_dtype, PER_JOINT),
        "rest": (profile_dtype, PER_JOINT),
        "goal": (float, 6),
        "twist": (float, 6),
        "twist_acceleration": (float, 6),
        "correction": (float, 6),
        "path_position": (float, 3),
        "path_orientation": (float, 4),
        "next_orientation": (float, 4),
        "turn": (float, 4),
        "tool_position": (float, 3),
        "tool_orientation": (float, 4),
        "vector": (float, 3),
        "rotation": (float, 3),
        "joint_velocity": (float, PER_JOINT),
        "scratch": kinematics_scratch_dtype,
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
        state.slowed = 1.0
        if params.mode == _JOINTS:
            status = start_joints(state, params, part)
            n = part.dof
        else:
            status = start_tool(state, params, part)
            n = 6
        for i in range(n):
            state.total = max(state.total, state.plan[i].total)
        return status

    @staticmethod
    def sense(state, params, part):
        state.is_done = state.elapsed >= state.total

    @staticmethod
    def control(state, params, part):
        state.elapsed += part.dt
        part.command_mode = POSITION
        if params.mode == _TOOL:
            return move_tool(state, params, part)
        for j in range(part.dof):
            _, v, _ = sample_profile(state.plan[j], state.elapsed)
            # From the last command, not from the plan: a joint that a limit holds back does not run up a debt.
            part.position_command[j] = part.commanded_position[j] + v * part.dt
        return 0
