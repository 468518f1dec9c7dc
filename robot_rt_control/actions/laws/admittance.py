"""admittance: a spring and a damper while the strategy governs, by positions and a measured force."""

import math

from robot_rt_control.actions.laws.axis_law import AxisLaw
from robot_rt_control.actions.laws.impedance import (
    REST,
    SPRING,
    SPRING_PARAMS,
    prepare_spring,
    pull,
    rest_position,
)
from robot_rt_control.actions.stream_following import begin_following, jog_joint, rest_joint, take_over
from robot_rt_control.definitions.action_type import Input, Parameter


class Admittance(AxisLaw):
    """Pull a degree of freedom to a rest position like a spring with a damper, by positions and a measured force.

    Law: that of `impedance`, f = k (rest - q) - d v, solved for the velocity: v = (k (rest - q) - f) / d, where f is
    the force with which it pushes; at most `velocity`. Each tick is the first step of the time-optimal motion to v, as
    in `velocity`. A force f against it moves it by f / k, with the time constant d / k. Against a surface of
    stiffness k' it is stable if d is above about 4 k' T, with the delay T from a command to its measured force. If the
    force is unknown, it comes to rest.
    """

    name = "admittance"
    inputs = (Input(name="force", unit="effort", description="Measured push, positive along the axis."), REST)
    parameters = (
        *SPRING,
        Parameter(name="velocity", unit="joint/s", default=0.1, minimum=1e-6, description="Highest, both ways."),
    )
    Params = {**SPRING_PARAMS, "velocity": float}
    State = {**AxisLaw.State, "entry": float}

    def prepare_parameters(self, values, params):
        self.check_velocity(values)
        params.velocity = values["velocity"]
        prepare_spring(self.parts["axis"], values, params)

    @staticmethod
    def on_enter(state, params, axis):
        begin_following(state, axis)
        state.entry = axis.commanded_position[0]

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        force = axis.inputs[0]
        if not math.isfinite(force):
            return rest_joint(state, axis, 0)
        rest = rest_position(state, params, axis.inputs[1])
        wanted = (pull(params, rest, state.joint_position[0], 0.0) - force) / params.damping
        return jog_joint(state, axis, 0, max(-params.velocity, min(params.velocity, wanted)))
