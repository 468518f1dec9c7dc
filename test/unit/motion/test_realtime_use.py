"""Planning and sampling as an action does it: compiled, on records nested in its state, without allocation."""

import os
import subprocess
import sys
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.runtime import rtsys
from numba.core.runtime._nrt_python import memsys_disable_stats, memsys_enable_stats

from robot_rt_control.memory.layout import part_dtype, record
from robot_rt_control.motion import (
    acceleration_range,
    plan_position,
    plan_position_synchronized,
    plan_stop_synchronized,
    plan_velocity,
    position_range,
    profile_dtype,
    progress,
    sample_profile,
    velocity_range,
)
from robot_rt_control.native.realtime_code import MARKED
from robot_rt_control.vocabulary.enums import Status

njit: Any = numba.njit  # its annotations know neither the wrappers' options nor the arguments of the result

state_dtype = record([("elapsed", "f8"), ("progress", "f8"), ("plan", profile_dtype, (16,))])
params_dtype = record([("position", "f8", (16,))])


def on_enter(state, params, part):
    return plan_position_synchronized(
        state.plan,
        part.dof,
        part.commanded_position,
        part.commanded_velocity,
        part.commanded_acceleration,
        params.position,
        part.velocity_limit,
        part.acceleration_limit,
        part.jerk_limit,
    )


def control(state, params, part):
    state.elapsed += part.dt
    for j in range(part.dof):
        q, dq, ddq = sample_profile(state.plan[j], state.elapsed)
        part.position_command[j] = q
        part.commanded_velocity[j] = dq
        part.commanded_acceleration[j] = ddq
    state.progress = progress(state.plan[0], state.elapsed)


def stop(state, params, part):
    plan_velocity(state.plan[0], 0.0, 0.1, 0.0, 0.5, 1.0, 1.0)
    plan_position(state.plan[1], 0.0, 0.1, 0.0, 0.5, 0.0, 1.0, 1.0, 1.0)
    low, high = position_range(state.plan[1])
    slow, fast = velocity_range(state.plan[1])
    brake, push = acceleration_range(state.plan[1])
    state.progress = high - low + fast - slow + push - brake
    return plan_stop_synchronized(
        state.plan,
        part.dof,
        part.commanded_position,
        part.commanded_velocity,
        part.commanded_acceleration,
        part.acceleration_limit,
        part.jerk_limit,
    )


def new_action():
    state, params, part = (np.zeros(1, dtype)[0] for dtype in (state_dtype, params_dtype, part_dtype))
    part.dof = 7
    part.dt = 0.001
    part.velocity_limit[:7] = 1.5
    part.acceleration_limit[:7] = 5.0
    part.jerk_limit[:7] = 50.0
    part.commanded_velocity[:7] = np.linspace(-1.0, 1.0, 7)
    params.position[:7] = np.linspace(-2.0, 1.0, 7)
    return state, params, part


def run(functions: tuple[Any, Any]) -> np.ndarray:
    """The position commands of a whole motion, shape (ticks, 7)."""
    enter, tick = functions
    state, params, part = new_action()
    assert enter(state, params, part) == Status.OK
    commands = []
    while state.progress < 1.0:
        tick(state, params, part)
        commands.append(part.position_command[:7].copy())
    return np.array(commands)


def test_profiles_in_an_actions_state_move_the_part_to_its_target():
    commands = run((numba.njit(on_enter), numba.njit(control)))
    np.testing.assert_array_equal(commands[-1], np.linspace(-2.0, 1.0, 7))
    assert np.abs(np.diff(commands, axis=0)).max() <= 1.5 * 0.001 * (1.0 + 1e-9)


def test_an_action_that_is_not_compiled_gives_the_same_commands():
    np.testing.assert_array_equal(run((on_enter, control)), run((numba.njit(on_enter), numba.njit(control))))


def allocations_per_call(function: Any) -> float:
    """How many more allocations 1000 calls make than one, for each of them."""
    compiled = numba.njit(function)

    @njit
    def call(state, params, part, n):
        for _ in range(n):
            compiled(state, params, part)

    action = new_action()
    call(*action, 1)
    memsys_enable_stats()
    try:
        counts = [rtsys.get_allocation_stats().alloc]
        for n in (1, 1001):
            call(*action, n)
            counts.append(rtsys.get_allocation_stats().alloc)
    finally:
        memsys_disable_stats()
    return (counts[2] - 2 * counts[1] + counts[0]) / 1000.0


def with_an_array(state, params, part):
    state.plan[0].duration[:] = part.position[:8] + state.elapsed


@pytest.mark.parametrize("function, expected", [(on_enter, 0), (control, 0), (stop, 0), (with_an_array, 1)])
def test_planning_and_sampling_allocate_nothing(function, expected):
    assert allocations_per_call(function) == expected


FORBIDDEN = ("NRT_MemInfo_alloc", "NRT_Allocate", "numba_gil_ensure", "@Py", "@numba_unpickle")


def forbidden_symbols(function: Any, signature: Any) -> list[str]:
    bare = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy")(function)
    bare.compile(signature)
    code = "\n".join(bare.inspect_llvm().values())
    return [symbol for symbol in FORBIDDEN if symbol in code]


@pytest.mark.long
def test_no_motion_function_needs_the_runtime_or_python():
    for function in (on_enter, control, stop):
        numba.njit(function)(*new_action())
    checked = set()
    for function in MARKED:
        if function.py_func.__module__.startswith("robot_rt_control.motion."):
            for signature in function.signatures:
                assert forbidden_symbols(function.py_func, signature) == [], function.py_func.__qualname__
                checked.add(function.py_func.__qualname__)
    assert checked >= {"plan_position_synchronized", "plan_stop_synchronized", "plan_velocity", "sample_profile"}
    assert forbidden_symbols(with_an_array, tuple(map(numba.typeof, new_action()))) != []


TWIN = """
import sys
import numpy as np
from robot_rt_control.motion import *
rng = np.random.default_rng(11)
out = []
for _ in range(60):
    n = 3
    vmax, amax, jmax = 10.0 ** rng.uniform(-1.0, 1.0, (3, n))
    q0, q1, v0, a0 = rng.normal(size=(4, n))
    profiles = np.zeros(n, profile_dtype)
    plan_position_synchronized(profiles, n, q0, v0, a0, q1, vmax, amax, jmax)
    out.append(profiles.copy())
    plan_stop_synchronized(profiles, n, q0, v0, a0, amax, jmax)
    out.append(profiles.copy())
    for j in range(n):
        plan_position(profiles[j], q0[j], v0[j], a0[j], q1[j], 0.3 * vmax[j], vmax[j], amax[j], jmax[j])
        out.append(np.array(sample_profile(profiles[j], 0.4 * profiles[j].total)))
        out.append(np.array(position_range(profiles[j]) + velocity_range(profiles[j])))
sys.stdout.buffer.write(b"".join(x.tobytes() for x in out))
"""


def test_compiled_equals_interpreted_to_the_bit():
    outputs = []
    for disable in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disable}
        done = subprocess.run([sys.executable, "-c", TWIN], env=environment, capture_output=True, check=True)
        outputs.append(done.stdout)
    assert len(outputs[0]) > 100_000
    assert outputs[0] == outputs[1]
