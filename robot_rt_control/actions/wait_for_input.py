"""wait_for_input: wait until an input of an io part, or a value of a sensor part, meets a condition."""

import math

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


class WaitForInput(ActionType):
    """Wait. Outputs stay as they are. An unknown input meets no condition."""

    name = "wait_for_input"
    slots = (Slot(name="part", kinds=(PartKind.IO, PartKind.SENSOR)),)
    parameters = (
        Parameter(name="input", type="text", description="Name of the input, or of the sensor's value."),
        Parameter(
            name="value", optional=True, description="Wait for this value, within the tolerance; digital input: 0 or 1."
        ),
        Parameter(name="above", optional=True, description="Wait until the input is greater than this."),
        Parameter(
            name="below",
            optional=True,
            description="Wait until the input is less than this; with `above`: between the two.",
        ),
        Parameter(
            name="tolerance", default=1e-6, minimum=0.0, description="Tolerance of `value`, in the input's unit."
        ),
        Parameter(
            name="hold", unit="s", default=0.0, minimum=0.0, description="Time for which it must hold without a break."
        ),
        Parameter(
            name="timeout", unit="s", default=0.0, minimum=0.0, description="Time after which it gives up; 0: never."
        ),
    )
    state_variables = (
        StateVariable(name="is_done", type="bool", description="The condition was met, in time; stays true."),
        StateVariable(name="timed_out", type="bool", description="It was not met in time; stays true."),
        StateVariable(name="value", description="The input."),
        StateVariable(
            name="elapsed", unit="s", description="Time since the start; stops once it is done or timed out."
        ),
    )
    example = {"input": "input_0", "value": 1.0}
    Params = {"input": int, "lower": float, "upper": float, "hold": float, "timeout": float}
    State = {"held": float}

    def prepare_parameters(self, values, params):
        part = self.parts["part"]
        names = list(part.input_names)
        name = values["input"]
        where = f"wait_for_input of {part.name!r}"
        if name not in names:
            raise DefinitionError(f"{where}: input {name!r}", expected=unknown("input", name, names), got=repr(name))
        bounds = [b for b in ("above", "below") if b in values]
        if ("value" in values) == bool(bounds):
            got = ", ".join(["value", *bounds]) if bounds else "none of them"
            raise DefinitionError(f"{where}: condition", expected="value, or above and below, or one of these", got=got)
        params.input = names.index(name)
        if bounds:
            above, below = values.get("above", -math.inf), values.get("below", math.inf)
            if not above < below:
                raise DefinitionError(f"{where}: condition", expected="above < below", got=f"{above:g} and {below:g}")
            # The adjacent floating-point numbers, because the bounds themselves are excluded.
            params.lower = math.nextafter(above, math.inf) if "above" in values else -math.inf
            params.upper = math.nextafter(below, -math.inf) if "below" in values else math.inf
        else:
            params.lower = values["value"] - values["tolerance"]
            params.upper = values["value"] + values["tolerance"]
        params.hold, params.timeout = values["hold"], values["timeout"]

    @staticmethod
    def sense(state, params, part):
        x = part.inputs[params.input]
        state.value = x
        if state.is_done != 0.0 or state.timed_out != 0.0:
            return
        met = x >= params.lower and x <= params.upper
        if not met:
            state.held = 0.0
        if met and state.held >= params.hold:
            state.is_done = 1.0
        elif params.timeout > 0.0 and state.elapsed >= params.timeout:
            state.timed_out = 1.0
        if met:
            state.held += part.dt

    @staticmethod
    def control(state, params, part):
        if state.is_done == 0.0 and state.timed_out == 0.0:
            state.elapsed += part.dt
