"""torque: command an effort while the strategy governs."""

import math

from robot_rt_control.actions.authoring import EFFORT
from robot_rt_control.actions.following import towards
from robot_rt_control.actions.laws.axis_law import AXIS
from robot_rt_control.definitions.action_type import ActionType, Parameter
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.errors import DefinitionError

GRAVITY = Parameter(
    name="gravity",
    type="bool",
    default=False,
    description="Whether the effort that holds the joint against gravity is added: of the masses in the arm's URDF.",
)


EFFORT_RATE = Parameter(
    name="rate",
    unit="effort/s",
    optional=True,
    minimum=1e-9,
    description="Highest change of the effort. Default: the limit of the effort in half a second.",
)


@realtime
def effort_against_gravity(params, axis):
    """The effort that the law adds [Nm or N]; 0 where it is not asked for, or not known."""
    if params.gravity == 0.0 or not math.isfinite(axis.gravity_effort[0]):
        return 0.0
    return axis.gravity_effort[0]


@realtime
def present_effort(axis):
    """What the drive exerts [Nm or N]: measured if known, else commanded."""
    return axis.effort[0] if math.isfinite(axis.effort[0]) else axis.commanded_effort[0]


class Torque(ActionType):
    """Command an effort of a joint, and the effort against gravity on request.

    Law: effort = e + g(q); e goes from what the drive exerts when the law takes over, without gravity, to `effort`, at
    most at `rate`. So the effort does not jump. The joint moves as the effort makes it; the loop brakes it before its
    limits of position and velocity (L8). The speed override slows `rate`, not the motion; while it is 0, the joint is
    held.
    """

    name = "torque"
    slots = AXIS
    parameters = (
        Parameter(name="effort", unit="effort", description="Without that against gravity."),
        GRAVITY,
        EFFORT_RATE,
    )
    Params = {"effort": float, "gravity": bool, "rate": float}
    State = {"effort": float}

    def prepare_parameters(self, values, params):
        axis = self.parts["axis"]
        (limit,) = axis.limits("effort_limit")
        if abs(values["effort"]) > limit:
            what, got = f"effort of {axis.name!r} is above its limit", f"{values['effort']:.4f}"
            raise DefinitionError(what, expected=f"at most {limit:.4f}", got=got)
        params.rate = 2.0 * limit
        super().prepare_parameters(values, params)

    @staticmethod
    def on_enter(state, params, axis):
        state.effort = present_effort(axis) - effort_against_gravity(params, axis)

    @staticmethod
    def control(state, params, axis):
        if axis.dt <= 0.0:
            state.effort = present_effort(axis) - effort_against_gravity(params, axis)
            return 0  # the override is 0: the loop holds the joint
        state.effort = towards(state.effort, params.effort, params.rate * axis.dt)
        axis.command_mode = EFFORT
        axis.effort_command[0] = state.effort + effort_against_gravity(params, axis)
        return 0
