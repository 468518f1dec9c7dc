"""Action types that show what they see of a stream, and send it back."""

from __future__ import annotations

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.definitions.streams import StreamInput, StreamOutput
from robot_rt_control.vocabulary.enums import CommandMode, PartKind

POSITION = int(CommandMode.POSITION)
MOVING = (PartKind.ARM, PartKind.BASE, PartKind.GRIPPER)
VARIABLES = (
    StateVariable(name="entered_with"),
    StateVariable(name="first"),
    StateVariable(name="second"),
    StateVariable(name="first_velocity"),
    StateVariable(name="fresh"),
    StateVariable(name="controlled_with"),
)


class Listener(ActionType):
    """Hold still, look at the stream `goal`, and send each new value back."""

    name = "listener"
    slots = (Slot(name="part", kinds=MOVING),)
    state_variables = VARIABLES
    streams = (
        StreamInput(name="goal", length=2, rates=True, gap="hold", delay=0.0, timeout=0.05),
        StreamOutput(name="echo", length=2),
    )

    @staticmethod
    def on_enter(state, params, part):
        state.entered_with = state.goal.value[0]

    @staticmethod
    def sense(state, params, part):
        state.first = state.goal.value[0]
        state.second = state.goal.value[1]
        state.first_velocity = state.goal.velocity[0]
        state.fresh = state.goal.fresh

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION
        state.controlled_with = state.goal.value[0]
        if state.goal.fresh != 0.0:
            state.echo.value[0] = state.goal.value[0]
            state.echo.value[1] = state.goal.value[1]
            state.echo.ready = 1.0


class Averager(ActionType):
    """Its own gap function: the mean of all samples that it sees, and how many are still to come."""

    name = "averager"
    slots = (Slot(name="part", kinds=MOVING),)
    parameters = (Parameter(name="limit", default=100.0),)
    state_variables = (StateVariable(name="average"), StateVariable(name="to_come"), StateVariable(name="newest"))
    streams = (StreamInput(name="goal", delay=0.0),)
    State = {"ahead": float, "held": float}

    @staticmethod
    def interpolate_goal(state, params, part):
        goal = state.goal
        state.held = goal.value[0]
        total = 0.0
        for k in range(goal.count):
            total += goal.values[k, 0]
        state.ahead = goal.count - 1 - goal.present
        if goal.count > 0:
            goal.value[0] = total / goal.count
        goal.velocity[0] = 0.5
        if goal.value[0] > params.limit:
            return 7
        return 0

    @staticmethod
    def sense(state, params, part):
        state.average = state.goal.value[0]
        state.to_come = state.ahead
        state.newest = state.held

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION
