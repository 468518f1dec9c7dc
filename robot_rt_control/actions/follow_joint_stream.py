"""follow_joint_stream: track joint positions that an application streams."""

import math

from robot_rt_control.actions.stream_following import (
    SMOOTHING,
    StreamFollower,
    judge,
    report_command,
    rest_joint,
    take_over,
    track_joint,
)
from robot_rt_control.definitions.action_type import StateVariable
from robot_rt_control.definitions.streams import StreamInput


class FollowJointStream(StreamFollower):
    """Follow a stream of joint positions within the limits of velocity, acceleration and jerk.

    After a time-out of the stream the joints come to rest; with new samples they continue from there. A joint without
    a sample does not move.
    """

    name = "follow_joint_stream"
    parameters = (SMOOTHING, *StreamFollower.parameters)
    state_variables = (
        *StreamFollower.state_variables,
        StateVariable(name="tracking_error", unit="joint", description="Largest |commanded - goal| position."),
    )
    streams = (
        StreamInput(
            name="goal",
            length="dof",
            units="joint",
            rates=True,
            gap="cubic",
            description="Goal positions of the joints; with rates also their velocities there.",
        ),
        *StreamFollower.streams,
    )

    @staticmethod
    def sense(state, params, part):
        state.tracking_error = judge(state, part.commanded_position, part.dof)

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
