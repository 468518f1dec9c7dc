"""force: press with a force while the strategy governs."""

import math
from collections.abc import Mapping

from robot_rt_control.actions.laws.axis_law import AxisLaw
from robot_rt_control.actions.stream_following import begin_following, jog_joint, rest_joint, take_over
from robot_rt_control.definitions.action_type import Input, Parameter, ParameterValue
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.errors import DefinitionError

_MARGIN = math.pi / 4.0
"""[rad] Least phase margin of the loop through a contact of the declared stiffness."""

_STILL = 1e-6
"""[m/s or rad/s] Within the band, a slower velocity is 0."""


@realtime
def give_way(params, force):
    """The velocity that changes the force towards the wanted one; 0: within the band."""
    missing = params.force - force
    if not abs(missing) > params.band:
        return 0.0
    missing = math.copysign(abs(missing) - params.band, missing)
    return max(-params.velocity, min(params.velocity, params.compliance * missing))


def largest_rate(smoothing: float, delay: float, margin: float = _MARGIN) -> float:
    """[1/s] Largest product of stiffness and compliance with which the force law has a phase margin [rad].

    The open loop is rate e^(-s delay) / (s (1 + s smoothing)): the crossover frequency w at which its phase is that
    margin above -180 degrees solves atan(w smoothing) + w delay = 90 degrees - margin.
    """
    low, high = 0.0, 1.0 / max(delay, smoothing)
    while math.atan(high * smoothing) + high * delay < math.pi / 2.0 - margin:
        high *= 2.0
    for _ in range(60):
        w = (low + high) / 2.0
        if math.atan(w * smoothing) + w * delay < math.pi / 2.0 - margin:
            low = w
        else:
            high = w
    return low * math.hypot(1.0, low * smoothing)


class Force(AxisLaw):
    """Keep the force with which the degree of freedom presses, at a value or within a band around it.

    Law (admittance with a virtual mass): smoothing dv/dt + v = compliance (force - pressed), at most `velocity`; within
    the band the right side is 0. The motion to v keeps the limits of acceleration and jerk, as in `velocity`. Against
    an elastic surface of stiffness k the force approaches the wanted one with the rate k compliance, without steady
    error. If the force is unknown, it comes to rest.

    The sensor also measures the inertia of the tool that it carries. Its mass m must be clearly below the virtual mass
    smoothing / compliance; otherwise the law follows its own acceleration.
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
            description="Velocity for each unit of missing force.",
        ),
        Parameter(
            name="smoothing",
            unit="s",
            default=0.005,
            minimum=0.0,
            maximum=1.0,
            description="Time constant of the velocity. `smoothing` / `compliance` is the virtual mass: at least twice "
            "the mass that the sensor carries.",
        ),
        Parameter(
            name="stiffness",
            unit="effort/joint",
            default=0.0,
            minimum=0.0,
            description="Of the stiffest contact: a compliance without 45 degrees of phase margin there is refused; "
            "0: not checked.",
        ),
        Parameter(
            name="delay",
            unit="s",
            default=0.004,
            minimum=1e-4,
            maximum=1.0,
            description="From a command to its measured force, filters of the sensor included; for this check.",
        ),
    )
    Params = {"force": float, "band": float, "velocity": float, "compliance": float, "smoothing": float}
    State = {**AxisLaw.State, "wanted": float}

    def prepare_parameters(self, values, params):
        self.check_velocity(values)
        self._check_stability(values)
        super().prepare_parameters({k: v for k, v in values.items() if k not in ("stiffness", "delay")}, params)

    def _check_stability(self, values: Mapping[str, ParameterValue]) -> None:
        stiffness, smoothing, delay = (float(values[name]) for name in ("stiffness", "smoothing", "delay"))
        if stiffness == 0.0:
            return
        largest = largest_rate(smoothing, delay) / stiffness
        compliance = float(values["compliance"])
        if compliance > largest:
            axis = self.parts["axis"]
            unit = f"{axis.joint_units[0]}/s for each unit of force"
            raise DefinitionError(
                f"compliance of {axis.name!r} is too large for a contact of stiffness {stiffness:g}",
                expected=f"at most {largest:.3g} {unit}: with smoothing {smoothing:g} s and delay {delay:g} s, that is "
                "a phase margin of 45 degrees",
                got=f"{compliance:g}",
                hint="Choose a smaller compliance, or a softer contact; a shorter smoothing permits a little more",
            )

    @staticmethod
    def on_enter(state, params, axis):
        begin_following(state, axis)
        state.wanted = state.joint_velocity[0]

    @staticmethod
    def control(state, params, axis):
        take_over(state, axis)
        if math.isnan(axis.inputs[0]):
            status = rest_joint(state, axis, 0)
            state.wanted = state.joint_velocity[0]
            return status
        goal = give_way(params, axis.inputs[0])
        if axis.dt > 0.0:
            state.wanted += (goal - state.wanted) * axis.dt / (params.smoothing + axis.dt)
        if goal == 0.0 and abs(state.wanted) < _STILL:
            state.wanted = 0.0  # it ends
        return jog_joint(state, axis, 0, state.wanted)
