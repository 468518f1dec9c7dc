"""An action that writes random commands: the worst that an action can do, in compiled code."""

import math

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, Parameter, Slot, StateVariable
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.vocabulary.enums import PartKind

LARGEST = float(np.finfo(np.float64).max)
SMALLEST = 5e-324


@realtime
def draw(state):
    """The next random number, 0 to 2^31 - 1 (a linear congruential generator: the same on every machine)."""
    state.random = (state.random * 1103515245 + 12345) & 0x7FFFFFFFFFFF
    return (state.random >> 16) & 0x7FFFFFFF


@realtime
def uniform(state):
    """From -1 to 1."""
    return draw(state) / float(1 << 30) - 1.0


@realtime
def value(state, present, low, high, step):
    """Something near `present`, something between the limits, a limit, or something wild; for a while the same kind."""
    kind = draw(state) % 10
    if state.style < 5:
        kind = state.style + 3
    if kind < 3:
        return present + uniform(state) * step
    if kind == 3:
        return low + (uniform(state) + 1.0) * 0.5 * (high - low)
    if kind == 4:
        return low
    if kind == 5:
        return high
    if kind == 6:
        return uniform(state) * 10.0 ** (draw(state) % 300)
    if kind == 7:
        return LARGEST if state.sign > 0 else -LARGEST
    if kind == 8:
        return SMALLEST if draw(state) % 2 == 0 else -0.0
    return 1e9 * (1.0 if state.commands % 2.0 == 0.0 else -1.0)


class RandomCommands(ActionType):
    """Writes random commands of random kinds; sometimes one that is not finite."""

    name = "random_commands"
    slots = (Slot(name="arm", kinds=(PartKind.ARM,)),)
    parameters = (
        Parameter(
            name="modes", type="int", minimum=1, maximum=7, description="Bit 0: position; 1: velocity; 2: effort."
        ),
        Parameter(name="not_finite", type="int", default=0, description="One command in so many is not; 0: none."),
        Parameter(name="hold", type="int", default=1, description="For so many ticks a mode is kept."),
    )
    state_variables = (StateVariable(name="commands", type="int"),)
    State = {"random": int, "mode": int, "style": int, "sign": int}

    @staticmethod
    def on_enter(state, params, arm):
        # each activation has another seed: the arm's position
        state.random = 12345
        for j in range(arm.dof):
            state.random += int((arm.position[j] + 10.0) * 1e6) * (j + 1)

    @staticmethod
    def control(state, params, arm):
        if state.mode == 0 or draw(state) % params.hold == 0:
            state.mode = draw(state) % 3 + 1
            for _ in range(2):
                if params.modes & (1 << (state.mode - 1)) == 0:
                    state.mode = state.mode % 3 + 1
        arm.command_mode = state.mode
        if state.commands == 0.0 or draw(state) % 500 == 0:
            state.style = draw(state) % 10
            state.sign = draw(state) % 2
        state.commands += 1.0
        for j in range(arm.dof):
            v = arm.velocity_limit[j]
            arm.position_command[j] = value(
                state, arm.commanded_position[j], arm.position_lower[j], arm.position_upper[j], 2e-3 * v
            )
            arm.velocity_command[j] = value(state, arm.commanded_velocity[j], -v, v, v)
            e = arm.effort_limit[j]
            arm.effort_command[j] = value(state, arm.commanded_effort[j], -e, e, 0.1 * e)
        # not at first: the next activation would begin alike, if the arm has not moved
        if params.not_finite > 0 and state.commands > 50.0 and draw(state) % params.not_finite == 0:
            bad = math.nan
            if draw(state) % 3 == 0:
                bad = math.inf if draw(state) % 2 == 0 else -math.inf
            j = draw(state) % arm.dof
            arm.position_command[j] = bad
            arm.velocity_command[j] = bad
            arm.effort_command[j] = bad
