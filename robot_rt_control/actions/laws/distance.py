"""distance: approach a measured distance, and keep it, while the strategy governs."""

import math

from robot_rt_control.actions.laws.axis_law import SMOOTHING, AxisLaw, go_to
from robot_rt_control.actions.stream_following import jog_joint, rest_joint, take_over
from robot_rt_control.definitions.action_type import Input, Parameter
from robot_rt_control.native.realtime_code import realtime


@realtime
def approach(state, params, axis, distance):
    """One step towards the place where the distance is the wanted one. Returns a status."""
    way = math.copysign(1.0, params.velocity) * (distance - params.distance)
    # The distance was measured at the measured position, which lags behind the command.
    measured = axis.position[0] if math.isfinite(axis.position[0]) else axis.commanded_position[0]
    return go_to(state, axis, measured + way, abs(params.velocity), params.smoothing)


class Distance(AxisLaw):
    """Approach the place where a sensor measures a distance d0, and keep it there, also if what it sees moves.

    Law: each tick is the first step of the time-optimal motion to rest at that place, at most |velocity| fast; near it
    the deviation decays within `smoothing` (`motion.tracking.track`), with an overshoot of less
    than 0.1 mm. If nothing is within the sensor's range (inf), it approaches with `velocity`. If the distance is
    unknown, or too small for the sensor (-inf), it comes to rest.
    """

    name = "distance"
    inputs = (Input(name="distance", unit="joint", description="As measured; of a revolute joint an angle."),)
    parameters = (
        Parameter(name="distance", unit="joint", description="d0, to keep."),
        Parameter(
            name="velocity",
            unit="joint/s",
            description="Highest velocity, not 0. Its sign: the direction in which the distance shrinks.",
        ),
        SMOOTHING,
    )
    example = {"distance": 0.1, "velocity": 0.05}

    def prepare_parameters(self, values, params):
        self.check_velocity(values, least=1e-6)
        super().prepare_parameters(values, params)

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        distance = axis.inputs[0]
        if distance == math.inf:
            return jog_joint(state, axis, 0, params.velocity)
        if not math.isfinite(distance):
            return rest_joint(state, axis, 0)
        return approach(state, params, axis, distance)
