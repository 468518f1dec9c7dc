"""hold: keep the position. It is the usual default action of parts."""

from robot_rt_control.actions.following import JOINT_KINDS, follow, is_within, largest_difference, longest, plan_stops
from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.motion.profile import profile_dtype


class Hold(ActionType):
    """Hold the commanded position. A moving part is first brought to rest with limited jerk."""

    name = "hold"
    slots = (Slot(name="part", kinds=JOINT_KINDS),)
    parameters = (
        Parameter(
            name="tolerance",
            unit="joint",
            default=0.01,
            minimum=0.0,
            description="Largest |measured - held| position of a joint that counts as held.",
        ),
    )
    state_variables = (
        StateVariable(name="is_holding", type="bool", description="At rest, and every joint within the tolerance."),
        StateVariable(name="position_error", unit="joint", description="Largest |measured - commanded| position."),
    )
    State = {"elapsed": float, "total": float, "plan": (profile_dtype, PER_JOINT)}

    @staticmethod
    def on_enter(state, params, part):
        status = plan_stops(state.plan, part)
        state.total = longest(state.plan, part.dof)
        return status

    @staticmethod
    def sense(state, params, part):
        state.position_error = largest_difference(part.position, part.commanded_position, part.dof)
        if state.elapsed < state.total:
            state.is_holding = 0.0
        else:
            state.is_holding = is_within(state.position_error, params.tolerance)

    @staticmethod
    def control(state, params, part):
        state.elapsed += part.dt
        follow(state.plan, state.elapsed, part)
