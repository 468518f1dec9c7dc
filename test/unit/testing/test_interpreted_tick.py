"""The interpreted twin: plain Python beside the compiled modules, which stay as they are."""

import sys
from types import FunctionType

import numba
import numpy as np

from robot_rt_control.hardware import jerk_limit
from robot_rt_control.memory import plain_access as memory
from robot_rt_control.memory.layout import part_dtype, record
from robot_rt_control.native import realtime_code
from robot_rt_control.realtime.tick import native_call
from robot_rt_control.testing.interpreted_tick import interpreted


def test_twin_is_plain_python_and_the_ordinary_module_is_not():
    twin = interpreted("robot_rt_control.hardware.jerk_limit")
    assert type(twin.braking_speed) is FunctionType
    assert type(jerk_limit.braking_speed) is not FunctionType
    assert twin.braking_speed(0.2, 3.0, 0.001) == jerk_limit.braking_speed(0.2, 3.0, 0.001)


def test_ordinary_modules_stay():
    before = {n: m for n, m in sys.modules.items() if n.startswith("robot_rt_control")}
    interpreted("robot_rt_control.realtime.tick.tick")
    assert {n: m for n, m in sys.modules.items() if n.startswith("robot_rt_control")} == before
    assert not numba.config.DISABLE_JIT
    assert realtime_code.realtime(abs_of_a_number)(-2.0) == 2.0


def abs_of_a_number(x):
    return abs(x)


def test_all_twins_share_one_copy_of_the_package():
    twin_call = interpreted("robot_rt_control.realtime.tick.native_call")
    assert interpreted("robot_rt_control.realtime.tick.activation").call_action is twin_call.call_action
    assert interpreted("robot_rt_control.realtime.tick.native_call") is twin_call
    assert twin_call is not native_call


def test_what_is_registered_is_called():
    twin_call = interpreted("robot_rt_control.realtime.tick.native_call")
    state_dtype, params_dtype = record([("count", "f8")]), record([("step", "f8")])

    def count(state, params, part):
        state.count += params.step * part.dof
        return 4

    twin_call.register_interpreted(4711, count, state_dtype, params_dtype, 1)
    state, params, part = np.zeros(1, state_dtype), np.ones(1, params_dtype), np.zeros(1, part_dtype)
    part["dof"] = 7
    status = twin_call.call_action(4711, state.ctypes.data, params.ctypes.data, part.ctypes.data, 0, 0, 0)
    assert (status, state["count"][0]) == (4, 7.0)


def test_memory_is_the_same_memory():
    values = np.array([1.5, 2.5])
    twin = interpreted("robot_rt_control.memory.plain_access")
    twin.store_f8(values.ctypes.data, 8.0)
    assert values.tolist() == [8.0, 2.5]
    assert twin.load_f8(values.ctypes.data) == numba.njit(lambda a: memory.load_f8(a))(values.ctypes.data)
