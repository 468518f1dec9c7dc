"""stop_at: no further one way while the strategy governs; the way back is free."""

from robot_rt_control.actions.laws.axis_law import AxisLaw
from robot_rt_control.actions.stream_following import jog_joint, take_over
from robot_rt_control.definitions.action_type import Input, Parameter
from robot_rt_control.native.realtime_code import realtime


@realtime
def allowed(params, wanted):
    """The wanted velocity if it leads back; else, also if it is not known, 0."""
    if params.backward == 0.0:
        return wanted if wanted < 0.0 else 0.0
    return wanted if wanted > 0.0 else 0.0


class StopAt(AxisLaw):
    """Stop, and let nothing move further in one direction. A wanted velocity in the other direction is followed.

    Law: v = the wanted velocity if it leads back, else 0; each tick is the first step of the time-optimal motion to v,
    as in `velocity`: so it stops as soon as acceleration and jerk allow.
    """

    name = "stop_at"
    inputs = (
        Input(
            name="velocity",
            unit="joint/s",
            optional=True,
            description="The wanted velocity. Unknown, or not bound: it only stops.",
        ),
    )
    parameters = (
        Parameter(
            name="direction",
            type="text",
            choices=("forward", "backward"),
            description="In which nothing moves: forward is that of growing positions.",
        ),
    )
    Params = {"backward": float}

    def prepare_parameters(self, values, params):
        params.backward = values["direction"] == "backward"

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        return jog_joint(state, axis, 0, allowed(params, axis.inputs[0]))
