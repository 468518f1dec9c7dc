"""follow_base_twist_stream: drive a planar base with a twist that an application streams."""

import math

from robot_rt_control.actions.stream_following import StreamFollower, jog_joint, report_command, take_over
from robot_rt_control.definitions.action_type import PER_JOINT, Parameter, Slot, StateVariable
from robot_rt_control.definitions.streams import StreamInput
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


@realtime
def find_goal(state, params, part):
    """The joints' velocities for the twist, all reduced by the same factor if the base or a joint would be too fast."""
    vx, vy, turn = state.goal.value[0], state.goal.value[1], state.goal.value[2]
    angle = params.heading
    if params.in_base_frame != 0.0:
        angle += part.position[params.yaw]
    goal = state.goal_velocity
    goal[params.x] = math.cos(angle) * vx - math.sin(angle) * vy
    goal[params.y] = math.sin(angle) * vx + math.cos(angle) * vy
    goal[params.yaw] = turn
    fastest = max(math.sqrt(vx * vx + vy * vy) / params.linear_velocity, abs(turn) / params.angular_velocity, 1.0)
    for j in range(part.dof):
        fastest = max(fastest, abs(goal[j]) / part.velocity_limit[j])
    for j in range(part.dof):
        goal[j] /= fastest
    state.slowed = 1.0 / fastest


class FollowBaseTwistStream(StreamFollower):
    """Drive a planar base with a streamed twist, within the limits of the joints' velocity, acceleration and jerk.

    The base has the joints x, y and yaw. In each tick the twist is turned with the yaw that is measured in this tick:
    a base that turns keeps its direction in its own axes, however rare the samples are. If the base or a joint would
    be too fast, the whole twist is reduced, and the base stays on its curve. Each joint accelerates by its own limits.

    The stream is a watchdog: after a time-out the base comes to rest; with new samples it continues.
    """

    name = "follow_base_twist_stream"
    slots = (Slot(name="part", kinds=(PartKind.BASE,)),)
    parameters = (
        *StreamFollower.parameters,
        Parameter(
            name="frame",
            type="text",
            default="base",
            choices=("base", "joints"),
            description="Axes of the twist: the base's own, or those of its joints x and y, which do not turn.",
        ),
        Parameter(name="x", type="int", default=0, minimum=0, description="Index of the prismatic joint x."),
        Parameter(name="y", type="int", default=1, minimum=0, description="Index of the prismatic joint y."),
        Parameter(name="yaw", type="int", default=2, minimum=0, description="Index of the joint that turns x to y."),
        Parameter(
            name="heading",
            unit="rad",
            default=0.0,
            description="Angle of the twist's x axis to the axis of joint x; of the base's, when yaw is 0.",
        ),
        Parameter(name="linear_velocity", unit="m/s", optional=True, minimum=0.001, description="Limit of the base."),
        Parameter(
            name="angular_velocity", unit="rad/s", optional=True, minimum=0.001, description="Limit of the base."
        ),
    )
    state_variables = (
        *StreamFollower.state_variables,
        StateVariable(name="slowed", description="1: the streamed speed; below: reduced to keep a limit."),
    )
    streams = (
        StreamInput(
            name="goal",
            length=3,
            units=("m/s", "m/s", "rad/s"),
            gap="hold",
            delay=0.0,
            minimum=(-10.0, -10.0, -20.0),  # no base is so fast: mm/s or deg/s were meant
            maximum=(10.0, 10.0, 20.0),
            description="The base's linear velocity along x and y of `frame`, and its angular velocity about z.",
        ),
        *StreamFollower.streams,
    )
    Params = {
        "report_interval": float,
        "in_base_frame": float,
        "x": int,
        "y": int,
        "yaw": int,
        "heading": float,
        "linear_velocity": float,
        "angular_velocity": float,
    }
    State = {**StreamFollower.State, "goal_velocity": (float, PER_JOINT)}

    def prepare_parameters(self, values, params):
        part = self.parts["part"]
        used = [values[name] for name in ("x", "y", "yaw")]
        units = [part.joint_units[j] if j < part.dof else "none" for j in used]
        if units != ["m", "m", "rad"] or used[0] == used[1]:
            raise DefinitionError(
                f"{self.name} of {part.name!r}: x, y, yaw",
                expected="the indices of two prismatic joints and of one that turns",
                got=", ".join(f"{j} ({unit})" for j, unit in zip(used, units, strict=True)),
            )
        params.linear_velocity = params.angular_velocity = math.inf
        super().prepare_parameters({k: v for k, v in values.items() if k != "frame"}, params)
        params.in_base_frame = values["frame"] == "base"

    @staticmethod
    def sense(state, params, part):
        state.is_following = 0.0 if state.goal.valid == 0.0 else 1.0 - state.goal.timed_out
        if params.in_base_frame != 0.0 and math.isnan(part.position[params.yaw]):
            state.is_following = 0.0
        state.slowed = 1.0
        for j in range(part.dof):
            state.goal_velocity[j] = 0.0
        if state.is_following != 0.0:
            find_goal(state, params, part)

    @staticmethod
    def control(state, params, part):
        take_over(state, part)
        status = 0
        for j in range(part.dof):
            joint_status = jog_joint(state, part, j, state.goal_velocity[j])
            if joint_status != 0:
                status = joint_status
        report_command(state, params, part)
        return status
