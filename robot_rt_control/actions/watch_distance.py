"""watch_distance: the increase of the distance to a surface since the start; detects edges, steps and holes."""

import math

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind


@realtime
def forget(state):
    """Restart the zeroing; until it is complete, the drop is unknown."""
    state.n = 0
    state.is_ready = 0.0
    state.zero_distance = 0.0
    state.drop = math.nan


class WatchDistance(ActionType):
    """Report the increase of a rangefinder's distance since a zero; it commands no motion.

    The zero is the mean of the first measurements, or of those after the signal `zero`. Measurements out of range
    (inf) and too near (-inf) are excluded from the zero; afterwards they give a drop of inf and of -inf.
    """

    name = "watch_distance"
    slots = (
        Slot(
            name="sensor",
            kinds=(PartKind.RANGEFINDER,),
            description="The sensor. The action claims it, so that no other action re-zeroes it.",
        ),
    )
    parameters = (
        Parameter(
            name="samples", type="int", default=10, minimum=1, description="Ticks whose mean is taken for the zero."
        ),
    )
    signals = ("zero",)
    state_variables = (
        StateVariable(name="is_ready", type="bool", description="The zero is taken; before, the drop is unknown."),
        StateVariable(name="drop", unit="m", description="Measured distance minus the zero."),
    )
    State = {"n": int, "zero_distance": float}

    @staticmethod
    def on_enter(state, params, sensor):
        forget(state)

    @staticmethod
    def sense(state, params, sensor):
        if state.is_ready == 0.0 and math.isfinite(sensor.distance):
            state.n += 1
            state.zero_distance += (sensor.distance - state.zero_distance) / state.n
            if state.n >= params.samples:
                state.is_ready = 1.0
        if state.is_ready != 0.0:
            state.drop = sensor.distance - state.zero_distance

    @staticmethod
    def control(state, params, sensor):
        if state.zero != 0.0:
            forget(state)
