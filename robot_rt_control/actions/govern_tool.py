"""govern_tool: strategies govern the tool's motion along and about the axes of a task frame."""

from robot_rt_control.actions.following import POSITION
from robot_rt_control.actions.task_frame import (
    FRAMES,
    TaskFrameType,
    begin_degrees,
    begin_frame,
    begin_motion,
    begin_step,
    show_axes,
    take_step,
    turn_frame,
)
from robot_rt_control.definitions.action_type import Parameter


class GovernTool(TaskFrameType):
    """Move the tool as strategies say, along and about the axes of one frame; what has no strategies holds its pose.

    `x y z` [m] and `rx ry rz` [rad, turned since the start] are degrees of freedom. In the frames `world` and `entry`
    (the tool's pose at the start, kept) they are fixed in space; in the frame `tool` they turn with the tool. `heading`
    turns the axes about their z. `x y z` are the tool's position in the frame; in the frame `tool`, its way since the
    start.

    All velocities are added to a twist and mapped to the joints by damped differential inverse kinematics, with a
    correction of the pose: so no degree of freedom changes the speed of another one. If a joint would be too fast, the
    whole tool is slowed, and keeps its direction: `slowed`. The joint motion that does not move the tool ends.
    """

    name = "govern_tool"
    parameters = (
        Parameter(
            name="frame",
            type="text",
            default="world",
            choices=tuple(FRAMES),
            description="Of the axes. A change while the action is active has no effect; likewise `heading`.",
        ),
        *TaskFrameType.parameters,
    )

    @staticmethod
    def on_enter(state, params, arm):
        begin_frame(state, params, arm)
        begin_degrees(state)
        return begin_motion(state, arm)

    @staticmethod
    def sense(state, params, arm):
        turn_frame(state)
        show_axes(state, params, arm)

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = POSITION
        if arm.dt <= 0.0:
            return 0  # the override is 0: hold
        status = begin_step(state, arm)
        return take_step(state, arm) if status == 0 else status
