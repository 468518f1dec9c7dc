"""Small action types, for tests of the control server."""

import math
from collections.abc import Mapping

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, Parameter, ParameterValue, Slot, StateVariable
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

POSITION = int(CommandMode.POSITION)
MOVING = (PartKind.ARM, PartKind.GRIPPER)


class Wait(ActionType):
    """Hold still for a time; fail when asked to."""

    name = "wait"
    slots = (Slot(name="part", kinds=MOVING, description="The part that holds still."),)
    parameters = (
        Parameter(name="duration", unit="s", default=0.01, minimum=0.0, maximum=100.0),
        Parameter(name="fail_after", unit="s", default=-1.0, description="Fail then; negative: never."),
        Parameter(name="status", type="int", default=7, description="What it fails with."),
        Parameter(name="index", type="int", default=0, description="Element of an array that it reads."),
        Parameter(name="poison", type="int", default=0, description="1: command something that is not finite."),
        Parameter(name="mode", type="text", default="plain", choices=("plain", "crash")),
    )
    state_variables = (
        StateVariable(name="is_done", type="bool"),
        StateVariable(name="elapsed", unit="s"),
        StateVariable(name="pauses", type="int"),
        StateVariable(name="limit", unit="s", description="The parameter `duration` as the loop sees it."),
        StateVariable(name="progress"),
    )
    signals = ("nudge", "pause")
    Params = {"duration": float, "fail_after": float, "status": int, "index": int, "poison": int}
    State = {"table": (float, 4)}

    def prepare_parameters(self, values: Mapping[str, ParameterValue], params: np.record) -> None:
        if values["mode"] == "crash":
            params["duration"] = 1.0 / (len(self.parts) - 1)
        for name in ("duration", "fail_after", "status", "index", "poison"):
            params[name] = values[name]

    @staticmethod
    def on_enter(state, params, part):
        state.limit = params.duration

    @staticmethod
    def sense(state, params, part):
        state.elapsed += part.dt
        state.limit = params.duration
        state.progress = min(1.0, state.elapsed / max(params.duration, 1e-9))
        state.is_done = 1.0 if state.elapsed >= params.duration - 1e-9 else 0.0

    @staticmethod
    def control(state, params, part):
        state.pauses += state.pause
        state.table[params.index] = 1.0
        part.command_mode = POSITION
        if params.poison == 1:
            part.position_command[0] = math.nan
        if params.fail_after >= 0.0 and state.elapsed >= params.fail_after - 1e-9:
            return params.status
        return 0


class Goto(ActionType):
    """Step towards a joint target, refused where it is outside of the limits."""

    name = "goto"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (Parameter(name="goal", unit="rad", length="dof"),)
    state_variables = (StateVariable(name="is_done", type="bool"), StateVariable(name="distance", unit="rad"))

    def prepare_parameters(self, values: Mapping[str, ParameterValue], params: np.record) -> None:
        part = self.parts["arm"]
        record = part.record
        for j, goal in enumerate(np.atleast_1d(values["goal"])):
            low, high = record.position_lower[j], record.position_upper[j]
            if not low <= goal <= high:
                raise DefinitionError(
                    f"goal of joint {part.joint_names[j]!r}", expected=f"{low:g} to {high:g} rad", got=f"{goal:g} rad"
                )
        params["goal"][: part.dof] = values["goal"]

    @staticmethod
    def sense(state, params, arm):
        state.distance = 0.0
        for j in range(arm.dof):
            state.distance = max(state.distance, abs(params.goal[j] - arm.position[j]))
        state.is_done = 1.0 if state.distance < 1e-3 else 0.0

    @staticmethod
    def control(state, params, arm):
        arm.command_mode = POSITION
        for j in range(arm.dof):
            step = params.goal[j] - arm.commanded_position[j]
            arm.position_command[j] = arm.commanded_position[j] + math.copysign(min(abs(step), 1e-4), step)


class Both(ActionType):
    """Hold two parts still, and read a third."""

    name = "both"
    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="tool", kinds=(PartKind.GRIPPER,)),
        Slot(name="eye", kinds=(PartKind.RANGEFINDER,), moves=False),
    )
    state_variables = (StateVariable(name="seen", unit="m"),)

    @staticmethod
    def sense(state, params, arm, tool, eye):
        state.seen = eye.distance

    @staticmethod
    def control(state, params, arm, tool, eye):
        arm.command_mode = POSITION
        tool.command_mode = POSITION


class Still(ActionType):
    """Hold still: the parts' default action in these tests."""

    name = "still"
    slots = (Slot(name="part", kinds=MOVING),)

    @staticmethod
    def control(state, params, part):
        part.command_mode = POSITION


class Safe(Still):
    """Hold still: the parts' safety action in these tests."""

    name = "safe"
