"""set_output: set outputs of a part permanently or for a pulse."""

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.capacities import MAX_CHANNELS
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError, unknown

TOLERANCE = 1e-6
"""Fraction of an output's range; a value read back closer than this counts as equal."""


def channel_names(text):
    """The names in a text like "clamp, lamp"."""
    return text.replace(",", " ").split()


@realtime
def is_set(part, i, value):
    """Whether output i reads back `value`; an unknown one does not."""
    span = part.output_upper[i] - part.output_lower[i]
    # An unlimited range is not finite; then compare relative to the value itself.
    if not span < 1e300:
        span = max(1.0, abs(value))
    return abs(part.outputs[i] - value) <= TOLERANCE * span


class SetOutput(ActionType):
    """Set outputs. They keep their values when the action ends; after a pulse they return to their former values.

    If another action takes the part during a pulse, the outputs keep their present values. The outputs of an arm,
    gripper or base are its own commands (`commands` in the workcell file); its joints are held meanwhile.
    """

    name = "set_output"
    slots = (Slot(name="part", kinds=(PartKind.IO, PartKind.ARM, PartKind.GRIPPER, PartKind.BASE)),)
    parameters = (
        Parameter(
            name="outputs", type="text", description="Names of the outputs, with commas between them: clamp, lamp."
        ),
        Parameter(
            name="values",
            length="any",
            description="One for each output, or one for all, in its unit; digital outputs: 0 or 1.",
        ),
        Parameter(
            name="duration",
            unit="s",
            default=0.0,
            minimum=0.0,
            description="Length of a pulse, after which the outputs return to their former values; 0: no pulse.",
        ),
    )
    state_variables = (
        StateVariable(
            name="is_done", type="bool", description="The outputs read back as set; after a pulse, as before."
        ),
        StateVariable(name="is_on", type="bool", description="The outputs read back as set."),
        StateVariable(name="elapsed", unit="s", description="Time since the outputs were first commanded."),
    )
    example = {"outputs": "output_0", "values": (1.0,)}
    Params = {"selected": (float, MAX_CHANNELS), "value": (float, MAX_CHANNELS), "duration": float}
    State = {"before": (float, MAX_CHANNELS), "commanded": float}

    def prepare_parameters(self, values, params):
        part = self.parts["part"]
        record = part.record
        names = channel_names(values["outputs"])
        levels = values["values"]
        where = f"set_output of {part.name!r}"
        if not names:
            raise DefinitionError(f"{where}: outputs", expected="one name at least", got="none")
        if len(levels) not in (1, len(names)):
            raise DefinitionError(
                f"{where}: values", expected=f"one, or one for each of {len(names)} outputs", got=f"{len(levels)}"
            )
        for k, name in enumerate(names):
            if name not in part.output_names:
                raise DefinitionError(
                    f"{where}: output {name!r}", expected=unknown("output", name, part.output_names), got=repr(name)
                )
            if name in names[:k]:
                raise DefinitionError(f"{where}: output {name!r} is given twice")
            i = list(part.output_names).index(name)
            level = levels[k if len(levels) > 1 else 0]
            lower, upper = record.output_lower[i], record.output_upper[i]
            if not lower <= level <= upper:
                raise DefinitionError(
                    f"{where}: value of output {name!r}", expected=f"{lower:g} to {upper:g}", got=f"{level:g}"
                )
            params.selected[i], params.value[i] = 1.0, level
        params.duration = values["duration"]

    @staticmethod
    def on_enter(state, params, part):
        for i in range(part.n_outputs):
            state.before[i] = part.commanded_outputs[i]

    @staticmethod
    def sense(state, params, part):
        over = params.duration > 0.0 and state.elapsed >= params.duration
        matching = 1.0
        back = 1.0
        for i in range(part.n_outputs):
            if params.selected[i] != 0.0:
                if not is_set(part, i, params.value[i]):
                    matching = 0.0
                if not is_set(part, i, state.before[i]):
                    back = 0.0
        # Before the first command is sent, the values read back are not the result of this action.
        state.is_on = matching if state.commanded != 0.0 else 0.0
        if params.duration > 0.0:
            state.is_done = back if over else 0.0
        else:
            state.is_done = state.is_on

    @staticmethod
    def control(state, params, part):
        over = params.duration > 0.0 and state.elapsed >= params.duration
        for i in range(part.n_outputs):
            if params.selected[i] != 0.0:
                part.output_command[i] = state.before[i] if over else params.value[i]
        state.commanded = 1.0
        state.elapsed += part.dt
