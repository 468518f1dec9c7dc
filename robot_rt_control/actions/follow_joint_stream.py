"""follow_joint_stream: track joint positions that an application streams."""

import math

from robot_rt_control.actions.following import JOINT_KINDS
from robot_rt_control.actions.stream_following import (
    REPORT_INTERVAL,
    SMOOTHING,
    begin_following,
    report_command,
    rest_joint,
    take_over,
    track_joint,
)
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Slot, StateVariable
from robot_rt_control.definitions.streams import StreamInput, StreamOutput
from robot_rt_control.motion.profile import profile_dtype


class FollowJointStream(ActionType):
    """Follow a stream of joint positions within the limits of velocity, acceleration and jerk.

    After a time-out of the stream the joints come to rest; with new samples they continue from there. A joint without
    a sample does not move.
    """

    name = "follow_joint_stream"
    slots = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters = (SMOOTHING, REPORT_INTERVAL)
    state_variables = (
        StateVariable(name="is_following", type="bool", description="The stream is there; otherwise it rests."),
        StateVariable(name="tracking_error", unit="joint", description="Largest |commanded - goal|; unknown without."),
    )
    streams = (
        StreamInput(
            name="goal",
            length="dof",
            units="joint",
            rates=True,
            gap="cubic",
            description="Where the joints shall be; with rates also how fast they shall be there.",
        ),
        StreamOutput(name="command", length="dof", units="joint", description="The commanded positions."),
    )
    State = {
        "joint_position": (float, PER_JOINT),
        "joint_velocity": (float, PER_JOINT),
        "joint_acceleration": (float, PER_JOINT),
        "since_report": float,
        "profile": profile_dtype,
    }

    @staticmethod
    def on_enter(state, params, part):
        begin_following(state, part)

    @staticmethod
    def sense(state, params, part):
        error = math.nan
        for j in range(part.dof):
            distance = abs(part.commanded_position[j] - state.goal.value[j])
            if math.isnan(error) or distance > error:
                error = distance
        state.tracking_error = error
        state.is_following = 0.0 if math.isnan(error) else 1.0 - state.goal.timed_out

    @staticmethod
    def control(state, params, part):
        take_over(state, part)
        status = 0
        for j in range(part.dof):
            if state.is_following == 0.0 or math.isnan(state.goal.value[j]):
                joint_status = rest_joint(state, part, j)
            else:
                joint_status = track_joint(
                    state, part, j, state.goal.value[j], state.goal.velocity[j], params.smoothing
                )
            if joint_status != 0:
                status = joint_status
        report_command(state, params, part)
        return status
