"""force: press with a force while the strategy governs."""

import math

from robot_rt_control.actions.laws.axis_law import AxisLaw
from robot_rt_control.actions.stream_following import jog_joint, take_over
from robot_rt_control.definitions.action_type import Input, Parameter
from robot_rt_control.native.realtime_code import realtime


@realtime
def give_way(params, force):
    """The velocity that changes the force towards the wanted one; 0: within the band, or it is not known."""
    missing = params.force - force
    if not abs(missing) > params.band:
        return 0.0
    missing = math.copysign(abs(missing) - params.band, missing)
    return max(-params.velocity, min(params.velocity, params.compliance * missing))


class Force(AxisLaw):
    """Keep the force with which the degree of freedom presses, at a value or within a band around it.

    Law (admittance): v = compliance (force - pressed), at most `velocity`; within the band v = 0. Each tick is the
    first step of the time-optimal motion to v, as in `velocity`. Against an elastic surface of stiffness k the force
    approaches the wanted one with the rate k compliance, without steady error. If the force is unknown, v is 0.
    """

    name = "force"
    inputs = (Input(name="force", unit="effort", description="Measured push, positive along the axis."),)
    parameters = (
        Parameter(name="force", unit="effort", description="Force to press with; its sign is the direction."),
        Parameter(name="band", unit="effort", default=0.0, minimum=0.0, description="Deviation that is accepted."),
        Parameter(name="velocity", unit="joint/s", default=0.05, minimum=1e-6, description="Highest, both ways."),
        Parameter(
            name="compliance",
            unit="joint/s/effort",
            default=0.002,
            minimum=1e-9,
            description="Velocity for each unit of missing force. Stable below about 1 / (4 k T): k stiffness of the "
            "contact, T delay from a command to its measured force.",
        ),
    )

    def prepare_parameters(self, values, params):
        self.check_velocity(values)
        super().prepare_parameters(values, params)

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        return jog_joint(state, axis, 0, give_way(params, axis.inputs[0]))
