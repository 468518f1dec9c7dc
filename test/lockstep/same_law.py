"""One law in Python, C and C++, for the comparison of their results."""

import math

from robot_rt_control.actions.authoring import PER_JOINT, POSITION, ActionType, Parameter, PartKind, Slot, StateVariable
from robot_rt_control.native.realtime_code import realtime


class Declared(ActionType):
    """What all three declare."""

    slots = (
        Slot(name="arm", kinds=(PartKind.ARM,)),
        Slot(name="other", kinds=(PartKind.ARM,), moves=False),
    )
    parameters = (
        Parameter(name="gain", default=0.5),
        Parameter(name="n", type="int", default=8, minimum=1, maximum=8),
        Parameter(name="goal", length="dof"),
    )
    state_variables = (StateVariable(name="level"), StateVariable(name="vector", length=3))
    signals = ("begin",)
    State = {"table": (float, 8), "count": int, "filtered": (float, PER_JOINT), "square": (float, 3, 3)}


@realtime
def smooth(x, y, gain):
    return x + gain * (y - x) / (1.0 + abs(x) + y * y)


class InPython(Declared):
    name = "in_python"

    @staticmethod
    def on_enter(state, params, arm, other):
        state.count += 3 * params.n - 7
        for j in range(arm.dof):
            state.filtered[j] = arm.commanded_position[j]

    @staticmethod
    def sense(state, params, arm, other):
        total = 0.0
        for j in range(arm.dof):
            total += arm.position[j] * arm.velocity[j] - other.effort[j]
        state.level = math.sqrt(abs(total)) + math.atan2(total, params.gain)
        for i in range(3):
            state.vector[i] = other.tool_position[i] * math.cos(state.level) + arm.chain.gravity[i]
            for k in range(3):
                state.square[i, k] = state.vector[i] / arm.chain.axis[0, k] if arm.chain.axis[0, k] != 0.0 else 0.0

    @staticmethod
    def set_parameters(state, params, arm, other):
        if state.begin != 0.0:
            state.count = -state.count
        return 2 if state.count > 2900 else 0

    @staticmethod
    def control(state, params, arm, other):
        arm.command_mode = POSITION
        for i in range(min(params.n, 16)):
            state.table[i] = smooth(state.table[i], math.exp(-abs(state.level)) * i, params.gain)
        for j in range(arm.dof):
            state.filtered[j] = smooth(state.filtered[j], params.goal[j], params.gain)
            arm.position_command[j] = state.filtered[j] + 1e-3 * math.sin(float(state.count + j))
        return state.count if state.count > 0 else 0


class InC(Declared):
    name = "in_c"
    realtime_source = "same_law.c"


class InCxx(Declared):
    name = "in_cxx"
    realtime_source = "same_law.cpp"
