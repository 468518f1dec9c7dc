"""follow_pose_stream: track tool poses that an application streams."""

import math

from robot_rt_control.actions.stream_following import (
    REPORT_INTERVAL,
    SMOOTHING,
    begin_following,
    report_command,
    rest_joint,
    take_over,
    track_joint,
)
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.definitions.streams import StreamInput, StreamOutput
from robot_rt_control.model.kinematics import (
    differential_inverse,
    forward,
    kinematics_scratch_dtype,
    orientation_error,
    quaternion_inverse,
    quaternion_multiply,
)
from robot_rt_control.motion.profile import profile_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

_DAMPING = 0.05
_GAIN = 50.0
"""[1/s] with which the reference closes up to the goal, as far as the velocity limits let it."""
_LEASH = 0.3
"""[rad or m] The reference waits for joints that are so far behind it."""


@realtime
def goal_twist(state, params):
    """The twist (6,) in the world frame that leads the reference to the goal."""
    goal = state.goal
    for i in range(3):
        state.offset[i] = goal.value[i] - state.tool_position[i]
        state.twist[i] = goal.velocity[i]
    for i in range(4):
        state.goal_orientation[i] = goal.value[3 + i]
        state.turn_rate[i] = goal.velocity[3 + i]
    orientation_error(state.goal_orientation, state.tool_orientation, state.rotation)
    # w = 2 dq/dt q^-1
    quaternion_inverse(state.goal_orientation, state.inverse)
    quaternion_multiply(state.turn_rate, state.inverse, state.turn)
    for i in range(3):
        state.twist[3 + i] = 2.0 * state.turn[i]
    limit_vector(state.twist, 0, params.linear_velocity)
    limit_vector(state.twist, 3, params.angular_velocity)
    for i in range(3):
        state.correction[i] = _GAIN * state.offset[i]
        state.correction[3 + i] = _GAIN * state.rotation[i]
    limit_vector(state.correction, 0, params.linear_velocity)
    limit_vector(state.correction, 3, params.angular_velocity)
    for i in range(6):
        state.twist[i] += state.correction[i]


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


@realtime
def lead_reference(state, params, part):
    """Move the joints' reference one step towards the goal. Returns a status."""
    forward(part.chain, state.reference, state.tool_position, state.tool_orientation)
    goal_twist(state, params)
    status = differential_inverse(
        part.chain, state.reference, state.twist, _DAMPING, state.reference_velocity, state.scratch
    )
    if status != 0:
        return status
    # Where a joint would be too fast all are slowed down alike, so that the tool keeps its direction.
    scale = 1.0
    for j in range(part.dof):
        speed = abs(state.reference_velocity[j])
        if speed > part.velocity_limit[j]:
            scale = min(scale, part.velocity_limit[j] / speed)
        behind = abs(state.reference[j] - state.joint_position[j])
        scale = min(scale, max(1.0 - behind / _LEASH, 0.0))
    for j in range(part.dof):
        state.reference_velocity[j] *= scale
        moved = state.reference[j] + state.reference_velocity[j] * part.dt
        low, high = part.position_lower[j], part.position_upper[j]
        if math.isfinite(low) and math.isfinite(high):
            inside = min(max(moved, low), high)
            if inside != moved:
                state.reference_velocity[j] = 0.0
            moved = inside
        state.reference[j] = moved
    return 0


class FollowPoseStream(ActionType):
    """Follow a stream of tool poses within the limits of the joints' velocity, acceleration and jerk.

    A joint reference follows the pose by damped differential inverse kinematics, and the joints track the reference.
    When the stream has timed out, the joints come to rest; when samples come again, they go on from there.
    """

    name = "follow_pose_stream"
    slots = (Slot(name="part", kinds=(PartKind.ARM,)),)
    parameters = (
        SMOOTHING,
        REPORT_INTERVAL,
        Parameter(name="linear_velocity", unit="m/s", default=0.5, minimum=0.001, description="Of the tool, at most."),
        Parameter(
            name="angular_velocity", unit="rad/s", default=2.0, minimum=0.001, description="Of the tool, at most."
        ),
    )
    state_variables = (
        StateVariable(name="is_following", type="bool", description="The stream is there; otherwise it rests."),
        StateVariable(name="position_error", unit="m", description="|commanded tool - goal|; unknown without a goal."),
        StateVariable(name="orientation_error", unit="rad", description="Angle between them; unknown without a goal."),
    )
    streams = (
        StreamInput(
            name="goal",
            length=7,
            units=("m", "m", "m", "", "", "", ""),
            quaternion=3,
            gap="cubic",
            description="The tool's pose in the world frame: position, and orientation as a quaternion x y z w.",
        ),
        StreamOutput(name="command", length="dof", units="joint", description="The commanded positions."),
    )
    State = {
        "joint_position": (float, PER_JOINT),
        "joint_velocity": (float, PER_JOINT),
        "joint_acceleration": (float, PER_JOINT),
        "reference": (float, PER_JOINT),
        "reference_velocity": (float, PER_JOINT),
        "since_report": float,
        "tool_position": (float, 3),
        "tool_orientation": (float, 4),
        "offset": (float, 3),
        "rotation": (float, 3),
        "goal_orientation": (float, 4),
        "turn_rate": (float, 4),
        "inverse": (float, 4),
        "turn": (float, 4),
        "twist": (float, 6),
        "correction": (float, 6),
        "profile": profile_dtype,
        "scratch": kinematics_scratch_dtype,
    }

    @classmethod
    def create(cls, parts):
        if not parts["part"].record.chain.n_joints:
            raise DefinitionError(
                f"follow_pose_stream of {parts['part'].name!r}: poses need a part with a kinematic chain",
                expected="an arm with a tool",
                hint="Use follow_joint_stream",
            )
        return cls(parts)

    @staticmethod
    def on_enter(state, params, part):
        begin_following(state, part)
        for j in range(part.dof):
            state.reference[j] = state.joint_position[j]

    @staticmethod
    def sense(state, params, part):
        if state.goal.valid == 0.0:
            state.is_following = 0.0
            state.position_error = math.nan
            state.orientation_error = math.nan
            return
        state.is_following = 1.0 - state.goal.timed_out
        forward(part.chain, part.commanded_position, state.tool_position, state.tool_orientation)
        distance = 0.0
        for i in range(3):
            distance += (state.goal.value[i] - state.tool_position[i]) ** 2
        for i in range(4):
            state.goal_orientation[i] = state.goal.value[3 + i]
        orientation_error(state.goal_orientation, state.tool_orientation, state.rotation)
        angle = 0.0
        for i in range(3):
            angle += state.rotation[i] ** 2
        state.position_error = math.sqrt(distance)
        state.orientation_error = math.sqrt(angle)

    @staticmethod
    def control(state, params, part):
        take_over(state, part)
        status = 0
        if state.is_following != 0.0:
            status = lead_reference(state, params, part)
        for j in range(part.dof):
            if state.is_following == 0.0:
                joint_status = rest_joint(state, part, j)
                state.reference[j] = state.joint_position[j]
            else:
                joint_status = track_joint(
                    state, part, j, state.reference[j], state.reference_velocity[j], params.smoothing
                )
            if joint_status != 0:
                status = joint_status
        report_command(state, params, part)
        return status
