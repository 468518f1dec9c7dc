"""The loop's clock: absolute deadlines, callable from compiled code without the GIL."""

from __future__ import annotations

import time

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

from robot_rt_control.memory.wake import TIMESPEC, external, now_ns, ring, thread_ns, timespec, wait

__all__ = ["INTERRUPTED", "now_ns", "ring", "sleep_until", "thread_ns", "wait"]

_MONOTONIC = 1
_ABSOLUTE = 1
INTERRUPTED = 4
"""Return value of `sleep_until` if a signal arrived before the deadline."""

_I32 = ir.IntType(32)


def sleep_until(deadline: int) -> int:
    """Sleep until CLOCK_MONOTONIC reaches `deadline` [ns]. Returns 0, or the errno (INTERRUPTED: by a signal)."""
    time.sleep(max(0.0, (deadline - time.monotonic_ns()) * 1e-9))
    return 0


# The compiled form: the call of the C library, without the GIL.


@type_callable(sleep_until)
def _type_sleep_until(_context):
    return lambda deadline: types.int32


@lower_builtin(sleep_until, types.int64)
def _lower_sleep_until(_context, builder, _signature, arguments):
    pointer = TIMESPEC.as_pointer()
    function = external(builder, "clock_nanosleep", _I32, [_I32, _I32, pointer, pointer])
    spec, null = timespec(builder, arguments[0]), ir.Constant(pointer, None)
    return builder.call(function, [_I32(_MONOTONIC), _I32(_ABSOLUTE), spec, null])
