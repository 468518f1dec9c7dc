"""grasp: close a gripper until it holds something, then keep holding it with a bounded effort."""

import math

from robot_rt_control.definitions.action_type import PER_JOINT, ActionType, Parameter, Slot, StateVariable
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

_POSITION = int(CommandMode.POSITION)
_HELD = 0.7
"""Fraction of the effort from which the object counts as held."""
_SPARE = 0.8
"""Fraction of the acceleration limit for braking before the ends of the fingers' range."""


@realtime
def squeezing_effort(part):
    """Mean effort of the fingers, positive if it closes them."""
    s = 0.0
    for j in range(part.dof):
        s -= part.effort[j]
    return s / part.dof


@realtime
def opening(part):
    """Mean opening of the fingers as fraction of their range."""
    s = 0.0
    for j in range(part.dof):
        s += (part.position[j] - part.position_lower[j]) / (part.position_upper[j] - part.position_lower[j])
    return s / part.dof


@realtime
def braking_speed(way, acceleration):
    """Speed from which a finger comes to rest within the distance, with a margin."""
    return math.sqrt(_SPARE * 2.0 * acceleration * way) if way > 0.0 else 0.0


class Grasp(ActionType):
    """Close all fingers together; the harder they squeeze, the slower they close, until they squeeze with the effort.

    The fingers follow an object that yields or slips. All fingers have one speed, as if one motor drove them.
    """

    name = "grasp"
    slots = (Slot(name="gripper", kinds=(PartKind.GRIPPER,)),)
    parameters = (
        Parameter(name="effort", unit="N", minimum=0.01, description="Effort of each finger (Nm if it turns)."),
        Parameter(
            name="velocity_scale",
            default=0.2,
            minimum=0.001,
            maximum=1.0,
            description="Speed of closing, as fraction of the velocity limits.",
        ),
        Parameter(
            name="min_opening",
            default=0.05,
            minimum=0.0,
            maximum=1.0,
            description="Closed farther than this fraction of their range, the fingers hold nothing.",
        ),
        Parameter(
            name="settle_time",
            unit="s",
            default=0.1,
            minimum=0.0,
            description="Time for which the object must be squeezed before it counts as grasped.",
        ),
    )
    state_variables = (
        StateVariable(name="is_grasped", type="bool", description="An object is held firmly."),
        StateVariable(name="is_missed", type="bool", description="There is nothing between the fingers."),
        StateVariable(name="opening", description="Mean opening of the fingers: 0 closed, 1 open."),
        StateVariable(name="effort", unit="N", description="Mean effort of the fingers, positive if it closes them."),
    )
    State = {
        "held": float,  # [s] time for which it has been held
        "velocity": (float, PER_JOINT),  # of the last tick, in the action's time
    }

    def prepare_parameters(self, values, params):
        super().prepare_parameters(values, params)
        gripper = self.parts["gripper"]
        limits = gripper.record
        top = float(limits.effort_limit[: gripper.dof].min())
        if params.effort > top:
            raise DefinitionError(
                f"grasp of {gripper.name!r}: the effort is above its limit",
                expected=f"at most {top:g}",
                got=f"{params.effort:g}",
            )

    @staticmethod
    def on_enter(state, params, gripper):
        for j in range(gripper.dof):
            # Of the whole last tick: its end is half a tick later.
            state.velocity[j] = gripper.motion_velocity[j] - 0.5 * gripper.dt * gripper.motion_acceleration[j]
        return 0

    @staticmethod
    def sense(state, params, gripper):
        state.effort = squeezing_effort(gripper)
        state.opening = opening(gripper)
        if state.effort >= _HELD * params.effort and state.opening > params.min_opening:
            state.is_grasped = state.held >= params.settle_time
        else:
            state.held = 0.0
            state.is_grasped = 0.0
        state.is_missed = state.opening <= params.min_opening

    @staticmethod
    def control(state, params, gripper):
        gripper.command_mode = _POSITION
        dt = gripper.dt
        state.held += dt
        # The rate of the opening [1/s] that brings the squeeze to the effort, limited by the speed in both directions.
        rate = -params.velocity_scale * min(max(1.0 - state.effort / params.effort, -1.0), 1.0)
        if math.isnan(state.effort):
            rate = 0.0
        for j in range(gripper.dof):
            q = gripper.commanded_position[j]
            change = gripper.acceleration_limit[j] * dt
            v = rate * gripper.velocity_limit[j]
            v = min(max(v, state.velocity[j] - change), state.velocity[j] + change)
            v = min(v, braking_speed(gripper.position_upper[j] - q, gripper.acceleration_limit[j]))
            v = max(v, -braking_speed(q - gripper.position_lower[j], gripper.acceleration_limit[j]))
            state.velocity[j] = v
            gripper.position_command[j] = min(max(q + v * dt, gripper.position_lower[j]), gripper.position_upper[j])
        return 0
