"""position: go to a position, and keep it, while the strategy governs."""

from robot_rt_control.actions.laws.axis_law import SMOOTHING, AxisLaw, check_position, go_to
from robot_rt_control.actions.stream_following import take_over
from robot_rt_control.definitions.action_type import Parameter


class Position(AxisLaw):
    """Go to a position from any state of motion, and stay there.

    Law: each tick is the first step of the time-optimal motion to rest at the position, at most `velocity` fast, from
    the last command's velocity and acceleration; near it the deviation decays within `smoothing`
    (`motion.tracking.track`). So it arrives without overshoot, also if it is driven off in between.
    """

    name = "position"
    parameters = (
        Parameter(name="position", unit="joint", description="Of the degree of freedom."),
        Parameter(name="velocity", unit="joint/s", optional=True, minimum=1e-6, description="Highest; else its limit."),
        SMOOTHING,
    )
    Params = {"position": float, "velocity": float, "smoothing": float}

    def prepare_parameters(self, values, params):
        axis = self.parts["axis"]
        check_position(axis, "position", values["position"])
        params.velocity = axis.limits("velocity_limit")[0]
        if "velocity" in values:
            self.check_velocity(values)
        super().prepare_parameters(values, params)

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        return go_to(state, axis, params.position, params.velocity, params.smoothing)
