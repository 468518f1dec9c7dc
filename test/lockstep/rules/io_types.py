"""Action types that write outputs as no shipped one does."""

import math

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot
from robot_rt_control.vocabulary.enums import CommandMode, PartKind


class Levels(ActionType):
    """Write the same number to all outputs, whatever it is, from some tick on."""

    name = "levels"
    slots = (Slot(name="part", kinds=(PartKind.IO,)),)
    parameters = (
        Parameter(name="value", default=0.0),
        Parameter(name="kind", type="int", default=0, description="0: the value; 1: NaN; 2: inf."),
        Parameter(name="fail_after", type="int", default=0, description="Calls of control, after which it fails."),
    )
    State = {"calls": int}

    @staticmethod
    def control(state, params, part):
        value = params.value
        if params.kind == 1:
            value = math.nan
        elif params.kind == 2:
            value = math.inf
        for i in range(part.n_outputs):
            part.output_command[i] = value
        state.calls += 1
        return 3 if params.fail_after > 0 and state.calls >= params.fail_after else 0


class SafeLamp(ActionType):
    """A safety action: switch the second output on."""

    name = "safe_lamp"
    slots = (Slot(name="part", kinds=(PartKind.IO,)),)

    @staticmethod
    def control(state, params, part):
        part.output_command[1] = 1.0


class Stiffen(ActionType):
    """Move at a velocity, and command the part's own interface `stiffness`, found by its name."""

    name = "stiffen"
    slots = (Slot(name="part", kinds=(PartKind.BASE,)),)
    parameters = (Parameter(name="value"), Parameter(name="speed", default=0.0))
    Params = {"value": float, "speed": float, "place": int}

    def prepare_parameters(self, values, params):
        params.value, params.speed = values["value"], values["speed"]
        params.place = list(self.parts["part"].output_names).index("stiffness")

    @staticmethod
    def control(state, params, part):
        part.command_mode = CommandMode.VELOCITY
        part.velocity_command[0] = params.speed
        part.output_command[params.place] = math.nan if params.value < 0.0 else params.value
