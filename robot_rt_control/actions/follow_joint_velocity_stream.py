"""follow_joint_velocity_stream: move the joints with velocities that an application streams, as for jogging."""

import math

from robot_rt_control.actions.following import JOINT_KINDS
from robot_rt_control.actions.stream_following import (
    REPORT_INTERVAL,
    begin_following,
    jog_joint,
    report_command,
    take_over,
)
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Slot, StateVariable
from robot_rt_control.definitions.streams import StreamInput, StreamOutput
from robot_rt_control.motion.profile import profile_dtype


class FollowJointVelocityStream(ActionType):
    """Move with streamed joint velocities within the limits of velocity, acceleration and jerk.

    The stream is a watchdog: when it has timed out, the joints come to rest; when samples come again, they go on. A
    joint that no sample has named yet stays where it is. Before the end of its range a joint is braked.
    """

    name = "follow_joint_velocity_stream"
    slots = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters = (REPORT_INTERVAL,)
    state_variables = (
        StateVariable(name="is_following", type="bool", description="The stream is there; otherwise it rests."),
        StateVariable(
            name="velocity_error", unit="joint/s", description="Largest |commanded - goal|, if any."
        ),
    )
    streams = (
        StreamInput(
            name="goal",
            length="dof",
            units="joint/s",
            gap="hold",
            delay=0.0,
            description="How fast the joints shall move; beyond its limit a velocity counts as the limit.",
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
            difference = abs(part.motion_velocity[j] - state.goal.value[j])
            if math.isnan(error) or difference > error:
                error = difference
        state.velocity_error = error
        state.is_following = 0.0 if math.isnan(error) else 1.0 - state.goal.timed_out

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
