"""follow_joint_velocity_stream: move the joints with velocities that an application streams, as for jogging."""

import math

from robot_rt_control.actions.stream_following import StreamFollower, jog_joint, judge, report_command, take_over
from robot_rt_control.definitions.action_type import StateVariable
from robot_rt_control.definitions.streams import StreamInput


class FollowJointVelocityStream(StreamFollower):
    """Move with streamed joint velocities within the limits of velocity, acceleration and jerk.

    The stream is a watchdog: after a time-out the joints come to rest; with new samples they continue. A joint without
    a sample does not move. A joint brakes before the end of its range.
    """

    name = "follow_joint_velocity_stream"
    state_variables = (
        *StreamFollower.state_variables,
        StateVariable(name="velocity_error", unit="joint/s", description="Largest |commanded - goal| velocity."),
    )
    streams = (
        StreamInput(
            name="goal",
            length="dof",
            units="joint/s",
            gap="hold",
            delay=0.0,
            description="Goal velocities of the joints; beyond its limit a velocity counts as the limit.",
        ),
        *StreamFollower.streams,
    )

    @staticmethod
    def sense(state, params, part):
        state.velocity_error = judge(state, part.motion_velocity, part.dof)

    @staticmethod
    def control(state, params, part):
        take_over(state, part)
        status = 0
        for j in range(part.dof):
            goal = state.goal.value[j]
            if state.is_following == 0.0 or math.isnan(goal):
                goal = 0.0
            joint_status = jog_joint(state, part, j, goal)
            if joint_status != 0:
                status = joint_status
        report_command(state, params, part)
        return status
