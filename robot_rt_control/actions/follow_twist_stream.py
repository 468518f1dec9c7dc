"""follow_twist_stream: move the tool with a twist that an application streams, as for jogging."""

from robot_rt_control.actions.cartesian import (
    find_error,
    give_up_error,
    lead_pose,
    limit_vector,
    turn_twist,
)
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
from robot_rt_control.model.kinematics.kinematics import forward, tool_twist
from robot_rt_control.native.realtime_code import realtime

_CORRECTION = 20.0
"""[1/s] gain that returns the tool to the path of its twist: integration alone would drift."""
_LARGEST_DEVIATION = 0.02
"""[m, rad] Beyond this error the path restarts at the tool: limits have held it back."""


@realtime
def rest(state, part):
    """One step to rest; the tool's path restarts there. Returns a status."""
    status = rest_joints(state, part)
    begin_way(state, part)
    return status


@realtime
def begin_way(state, part):
    """Start the tool's path at the present joint positions and velocities."""
    tool = state.tool
    begin_reference(state, part)
    forward(part.chain, state.joint_position, tool.position, tool.orientation)
    tool_twist(part.chain, state.joint_position, state.joint_velocity, tool.twist)
    tool.slowed = 1.0


@realtime
def change_twist(state, params, part):
    """Move the twist one step straight towards the goal, with the accelerations of the parameters."""
    twist, change = state.tool.twist, state.change
    for i in range(6):
        change[i] = state.goal.value[i]
    limit_vector(change, 0, params.linear_velocity)
    limit_vector(change, 3, params.angular_velocity)
    if params.in_tool_frame != 0.0:
        turn_twist(state.tool, change)
    for i in range(6):
        change[i] -= twist[i]
    limit_vector(change, 0, params.linear_acceleration * part.dt)
    limit_vector(change, 3, params.angular_acceleration * part.dt)
    for i in range(6):
        twist[i] += change[i]


class FollowTwistStream(ToolFollower):
    """Move the tool with a streamed twist, within the limits of the joints' velocity, acceleration and jerk.

    The stream is a watchdog: after a time-out the joints come to rest; with new samples they continue from there.
    Directions in which the twist is zero are held: the tool does not drift. If a joint would be too fast, the tool
    slows down and keeps its direction.
    """

    name = "follow_twist_stream"
    parameters = (
        *ToolFollower.parameters,
        Parameter(
            name="frame", type="text", default="world", choices=("world", "tool"), description="Axes of the twist."
        ),
        Parameter(name="linear_velocity", unit="m/s", default=0.25, minimum=0.001, description="Limit of the tool."),
        Parameter(name="angular_velocity", unit="rad/s", default=1.0, minimum=0.001, description="Limit of the tool."),
        Parameter(
            name="linear_acceleration", unit="m/s^2", default=1.0, minimum=0.001, description="Limit of the tool."
        ),
        Parameter(
            name="angular_acceleration", unit="rad/s^2", default=4.0, minimum=0.001, description="Limit of the tool."
        ),
    )
    state_variables = (
        *ToolFollower.state_variables,
        StateVariable(name="slowed", description="1: at the streamed speed; below: slowed to keep a joint's limit."),
    )
    streams = (
        StreamInput(
            name="goal",
            length=6,
            units=("m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"),
            gap="hold",
            delay=0.0,
            minimum=(-10.0, -10.0, -10.0, -20.0, -20.0, -20.0),  # no tool is so fast: mm/s or deg/s were meant
            maximum=(10.0, 10.0, 10.0, 20.0, 20.0, 20.0),
            description="The tool's twist in the axes of `frame`: linear velocity, then angular velocity.",
        ),
        *ToolFollower.streams,
    )
    Params = {
        "smoothing": float,
        "report_interval": float,
        "in_tool_frame": float,
        "linear_velocity": float,
        "angular_velocity": float,
        "linear_acceleration": float,
        "angular_acceleration": float,
    }
    State = {**ToolFollower.State, "change": (float, 6)}

    def prepare_parameters(self, values, params):
        super().prepare_parameters({k: v for k, v in values.items() if k != "frame"}, params)
        params.in_tool_frame = values["frame"] == "tool"

    @staticmethod
    def on_enter(state, params, part):
        begin_following(state, part)
        begin_way(state, part)

    @staticmethod
    def sense(state, params, part):
        state.is_following = 0.0 if state.goal.valid == 0.0 else 1.0 - state.goal.timed_out
        state.slowed = state.tool.slowed

    @staticmethod
    def control(state, params, part):
        take_over(state, part)
        if state.is_following == 0.0:
            status = rest(state, part)
        else:
            change_twist(state, params, part)
            find_error(state.tool, part, state.reference)
            give_up_error(state.tool, _LARGEST_DEVIATION)
            status = track_tool(state, params, part, _CORRECTION)
            lead_pose(state.tool, part.dt * state.tool.slowed)
        report_command(state, params, part)
        return status
