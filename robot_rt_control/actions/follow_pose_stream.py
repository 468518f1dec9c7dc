"""follow_pose_stream: track tool poses that an application streams."""

import math

from robot_rt_control.actions.cartesian import find_error, limit_vector
from robot_rt_control.actions.stream_following import (
    ToolFollower,
    begin_following,
    begin_reference,
    report_command,
    rest_joints,
    take_over,
    track_tool,
)
from robot_rt_control.definitions.action_type import Parameter, StateVariable
from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.model.kinematics.kinematics import quaternion_inverse, quaternion_multiply
from robot_rt_control.native.realtime_code import realtime

_GAIN = 50.0
"""[1/s] gain with which the reference approaches the goal, within the velocity limits."""


@realtime
def find_goal_twist(state, params, part):
    """The tool twist that moves the reference to the goal."""
    goal, tool = state.goal, state.tool
    take_goal(goal, tool)
    find_error(tool, part, state.reference)
    for i in range(3):
        tool.twist[i] = goal.velocity[i]
    for i in range(4):
        state.turn_rate[i] = goal.velocity[3 + i]
    # w = 2 dq/dt q^-1
    quaternion_inverse(tool.orientation, state.inverse)
    quaternion_multiply(state.turn_rate, state.inverse, state.turn)
    for i in range(3):
        tool.twist[3 + i] = 2.0 * state.turn[i]
    limit_vector(tool.twist, 0, params.linear_velocity)
    limit_vector(tool.twist, 3, params.angular_velocity)
    for i in range(6):
        tool.error[i] *= _GAIN
    limit_vector(tool.error, 0, params.linear_velocity)
    limit_vector(tool.error, 3, params.angular_velocity)


@realtime
def take_goal(goal, tool):
    """Follow the pose of the stream."""
    for i in range(3):
        tool.position[i] = goal.value[i]
    for i in range(4):
        tool.orientation[i] = goal.value[3 + i]


class FollowPoseStream(ToolFollower):
    """Follow a stream of tool poses within the limits of the joints' velocity, acceleration and jerk.

    A joint reference follows the pose by damped differential inverse kinematics, and the joints track the reference.
    After a time-out of the stream the joints come to rest; with new samples they continue from there.
    """

    name = "follow_pose_stream"
    parameters = (
        *ToolFollower.parameters,
        Parameter(name="linear_velocity", unit="m/s", default=0.5, minimum=0.001, description="Limit of the tool."),
        Parameter(name="angular_velocity", unit="rad/s", default=2.0, minimum=0.001, description="Limit of the tool."),
    )
    state_variables = (
        *ToolFollower.state_variables,
        StateVariable(name="position_error", unit="m", description="|commanded tool - goal|; unknown without a goal."),
        StateVariable(
            name="orientation_error",
            unit="rad",
            description="Angle between the two orientations; unknown without a goal.",
        ),
    )
    streams = (
        StreamInput(
            name="goal",
            length=7,
            units=("m", "m", "m", "", "", "", ""),
            quaternion=3,
            gap="cubic",
            minimum=(-100.0, -100.0, -100.0, *(-math.inf,) * 4),  # no arm reaches so far: mm were meant
            maximum=(100.0, 100.0, 100.0, *(math.inf,) * 4),
            description="The tool's pose in the world frame: position, and orientation as a quaternion x y z w.",
        ),
        *ToolFollower.streams,
    )
    State = {
        **ToolFollower.State,
        "turn_rate": (float, 4),
        "inverse": (float, 4),
        "turn": (float, 4),
    }

    @staticmethod
    def on_enter(state, params, part):
        begin_following(state, part)
        begin_reference(state, part)

    @staticmethod
    def sense(state, params, part):
        if state.goal.valid == 0.0:
            state.is_following = 0.0
            state.position_error = math.nan
            state.orientation_error = math.nan
            return
        state.is_following = 1.0 - state.goal.timed_out
        take_goal(state.goal, state.tool)
        find_error(state.tool, part, part.commanded_position)
        distance = 0.0
        angle = 0.0
        for i in range(3):
            distance += state.tool.error[i] ** 2
            angle += state.tool.error[3 + i] ** 2
        state.position_error = math.sqrt(distance)
        state.orientation_error = math.sqrt(angle)

    @staticmethod
    def control(state, params, part):
        take_over(state, part)
        if state.is_following == 0.0:
            status = rest_joints(state, part)
            begin_reference(state, part)
        else:
            find_goal_twist(state, params, part)
            status = track_tool(state, params, part, 1.0)
        report_command(state, params, part)
        return status
