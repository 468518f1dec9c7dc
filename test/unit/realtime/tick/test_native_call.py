"""Entries called by address: arguments arrive, the user's status comes back, a bad index is Status.BOUNDS."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba import types

from robot_rt_control.memory.layout import part_dtype, record
from robot_rt_control.realtime.tick import native_call
from robot_rt_control.vocabulary.enums import Status

STATE = record([("count", "f8"), ("values", "f8", (4,))])
PARAMS = record([("index", "i8"), ("status", "i8")])


def entry(state, params, arm, tool, spare, other):
    state.count += 1.0
    state.values[params.index] = arm.dt + 10.0 * tool.dt
    return params.status


class Memory:
    def __init__(self):
        self.state = np.zeros(1, STATE)
        self.params = np.zeros(1, PARAMS)
        self.parts = np.zeros(4, part_dtype)

    def addresses(self):
        size = part_dtype.itemsize
        return (self.state.ctypes.data, self.params.ctypes.data, *[self.parts.ctypes.data + i * size for i in range(4)])


@pytest.fixture(scope="module")
def call():
    """`call(memory, n)`: the entry called n times from compiled code, by address; the last status."""
    compiled = numba.jit(
        nopython=True, nogil=True, boundscheck=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(entry)
    part = numba.from_dtype(part_dtype)
    arguments = (numba.from_dtype(STATE), numba.from_dtype(PARAMS), part, part, part, part)
    compiled.compile(arguments)
    overload = compiled.overloads[arguments]
    assert overload.signature.return_type == types.int64
    address = overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)

    @numba.njit
    def loop(n, state, params, p0, p1, p2, p3):
        status = 0
        for _ in range(n):
            status = native_call.call_action(address, state, params, p0, p1, p2, p3)
        return status

    return lambda memory, n=1: loop(n, *memory.addresses())


def test_records_arrive_and_status_comes_back(call):
    memory = Memory()
    memory.parts["dt"] = [1.0, 2.0, 0.0, 0.0]
    memory.params["index"], memory.params["status"] = 2, 17
    assert call(memory) == 17
    assert memory.state["count"][0] == 1.0
    assert memory.state["values"][0].tolist() == [0.0, 0.0, 21.0, 0.0]


def test_index_out_of_range_is_status_bounds(call):
    memory = Memory()
    memory.params["index"] = 4
    assert call(memory) == Status.BOUNDS
    assert memory.state["values"][0].tolist() == [0.0] * 4
    memory.params["index"] = 1
    assert call(memory) == 0, "the next call is a fresh one"


def test_many_calls_do_not_grow_the_stack(call):
    memory = Memory()
    assert call(memory, 5_000_000) == 0
    assert memory.state["count"][0] == 5_000_000.0


INTERPRETED = """
import numpy as np
from robot_rt_control.memory.layout import part_dtype, record
from robot_rt_control.realtime.tick.native_call import call_action, register_interpreted
state_dtype, params_dtype = record([("values", "f8", (4,))]), record([("index", "i8")])
def two_parts(state, params, arm, tool):
    state.values[params.index] = arm.dt + 10.0 * tool.dt
    return 5 if params.index == 1 else None
register_interpreted(77, two_parts, state_dtype, params_dtype, 2)
state, params, parts = np.zeros(1, state_dtype), np.zeros(1, params_dtype), np.zeros(2, part_dtype)
parts["dt"] = [1.0, 2.0]
a = (state.ctypes.data, params.ctypes.data, parts.ctypes.data, parts.ctypes.data + part_dtype.itemsize, 0, 0)
statuses = []
for i in range(5):
    params["index"] = i
    statuses.append(call_action(77, *a))
print(statuses, state["values"][0].tolist())
"""


def test_interpreted_twin_takes_the_same_addresses():
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED], env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[0, 5, 0, 0, -1] [21.0, 21.0, 21.0, 21.0]", done.stderr


def test_register_interpreted_refuses_a_used_address():
    native_call.register_interpreted(991, print, STATE, PARAMS, 1)
    with pytest.raises(ValueError, match="address 991 is 0 or already registered"):
        native_call.register_interpreted(991, print, STATE, PARAMS, 1)
    with pytest.raises(ValueError, match="n_slots = 5: expected 0 to 4"):
        native_call.register_interpreted(992, print, STATE, PARAMS, 5)
