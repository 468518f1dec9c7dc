"""impedance: a spring and a damper while the strategy governs, by efforts."""

import math

from robot_rt_control.actions.authoring import EFFORT
from robot_rt_control.actions.following import towards
from robot_rt_control.actions.laws.axis_law import AXIS, check_position
from robot_rt_control.actions.laws.torque import GRAVITY, effort_against_gravity, present_effort
from robot_rt_control.definitions.action_type import ActionType, Input, Parameter
from robot_rt_control.native.realtime_code import realtime

_FADING = 0.5
"""[s] in which the effort that was found at the start fades, if it was as large as the limit."""
RATE_SHARE = 0.75
"""Feedback that acts within the time T commands at most this fraction of T R: the effort that the rate limit R brings
in T. With more, a large error would leave the joint swinging for good, see actions/path_control.py."""

REST = Input(
    name="rest",
    unit="joint",
    optional=True,
    description="Moving rest position, instead of the parameter as long as it is known.",
)
SPRING = (
    Parameter(name="stiffness", unit="effort/joint", minimum=0.0, description="k"),
    Parameter(name="damping", unit="effort*s/joint", minimum=1e-9, description="d"),
    Parameter(
        name="rest", unit="joint", optional=True, description="Rest position. Default: where the law takes over."
    ),
)
SPRING_PARAMS = {"stiffness": float, "damping": float, "rest": float}


@realtime
def pull(params, rest, position, velocity):
    """The effort of spring and damper [Nm or N]."""
    return params.stiffness * (rest - position) - params.damping * velocity


def effort_bound(stiffness, damping, rate):
    """The highest effort of a spring [Nm or N] beside its damper, for efforts that change at most at `rate`. Plain
    Python: parameters are prepared without the compiler."""
    return RATE_SHARE * rate * damping / stiffness if stiffness > 0.0 else math.inf


spring_bound = realtime(effort_bound)


@realtime
def rest_position(state, params, moving):
    """The present rest position [rad or m]: the input, else the parameter, else where the law took over."""
    if math.isfinite(moving):
        return moving
    return params.rest if math.isfinite(params.rest) else state.entry


def prepare_spring(axis, values, params):
    """Fill `SPRING_PARAMS`; raises DefinitionError."""
    params.rest = math.nan
    if "rest" in values:
        check_position(axis, "rest", values["rest"])
    for name in SPRING_PARAMS:
        if name in values:
            params[name] = values[name]


class Impedance(ActionType):
    """Pull a joint to a rest position like a spring with a damper. Commands efforts.

    Law: effort = k (rest - q) - d v + g(q). A force f that acts on the joint moves it by f / k, as long as it is below
    3/4 of what the joint's rate of efforts brings in d / k: the spring pulls with no more (L34). When the law takes
    over, it adds the difference to what the drive exerts, which then fades: so the effort does not jump. If the
    position or the velocity is unknown, it commands the effort against gravity alone. While the speed override is 0,
    the joint is held.

    Where hardware takes no efforts, `admittance` is the same spring and damper.
    """

    name = "impedance"
    slots = AXIS
    inputs = (REST,)
    parameters = (*SPRING, GRAVITY)
    Params = {**SPRING_PARAMS, "gravity": bool}
    State = {"entry": float, "found": float, "is_new": float}

    def prepare_parameters(self, values, params):
        params.gravity = values["gravity"]
        prepare_spring(self.parts["axis"], values, params)

    @staticmethod
    def on_enter(state, params, axis):
        state.entry = axis.position[0] if math.isfinite(axis.position[0]) else axis.commanded_position[0]
        state.is_new = 1.0

    @staticmethod
    def control(state, params, axis):
        if axis.dt <= 0.0:
            state.is_new = 1.0
            return 0  # the override is 0: the loop holds the joint
        most = spring_bound(params.stiffness, params.damping, axis.effort_rate_limit[0])
        spring = params.stiffness * (rest_position(state, params, axis.inputs[0]) - axis.position[0])
        effort = min(max(spring, -most), most) - params.damping * axis.velocity[0]
        if not math.isfinite(effort):
            effort = 0.0
        effort += effort_against_gravity(params, axis)
        if state.is_new == 1.0:
            state.is_new = 0.0
            state.found = present_effort(axis) - effort
        axis.command_mode = EFFORT
        axis.effort_command[0] = effort + state.found
        state.found = towards(state.found, 0.0, axis.effort_limit[0] / _FADING * axis.dt)
        return 0
