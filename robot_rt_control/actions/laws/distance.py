"""distance: approach a measured distance, and keep it, while the strategy governs."""

import math
from dataclasses import replace

from robot_rt_control.actions.laws.axis_law import AxisLaw
from robot_rt_control.actions.stream_following import (
    SMOOTHING,
    jog_joint,
    move_to,
    rest_joint,
    take_over,
)
from robot_rt_control.definitions.action_type import Input, Parameter
from robot_rt_control.motion.tracking import track
from robot_rt_control.native.realtime_code import realtime


@realtime
def approach(state, params, axis, distance):
    """One step towards the place where the distance is the wanted one. Returns a status."""
    way = math.copysign(1.0, params.velocity) * (distance - params.distance)
    # The distance was measured at the measured position, which lags behind the command.
    measured = axis.position[0] if math.isfinite(axis.position[0]) else axis.commanded_position[0]
    low, high = axis.position_lower[0], axis.position_upper[0]
    q, v, a, status = track(
        state.profile,
        state.joint_position[0],
        state.joint_velocity[0],
        state.joint_acceleration[0],
        min(max(measured + way, low), high),
        0.0,
        low,
        high,
        min(abs(params.velocity), axis.velocity_limit[0]),
        axis.acceleration_limit[0],
        axis.jerk_limit[0],
        params.smoothing,
        axis.dt,
    )
    return move_to(state, axis, 0, q, v, a, status)


class Distance(AxisLaw):
    """Approach the place where a sensor measures a distance d0, and keep it there, also if what it sees moves.

    Law: each tick is the first step of the time-optimal motion to rest at that place, at most |velocity| fast; near it
    the deviation decays within `smoothing` (`motion.tracking.track`), with an overshoot of less
    than 0.1 mm. If nothing is within the sensor's range (inf), it approaches with `velocity`. If the distance is
    unknown, or too small for the sensor (-inf), it comes to rest.
    """

    name = "distance"
    inputs = (Input(name="distance", unit="m", description="As measured."),)
    parameters = (
        Parameter(name="distance", unit="m", description="d0, to keep."),
        Parameter(
            name="velocity",
            unit="joint/s",
            description="Highest velocity, not 0. Its sign: the direction in which the distance shrinks.",
        ),
        replace(SMOOTHING, default=0.02, maximum=0.05),
    )

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
