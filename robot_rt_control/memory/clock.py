"""The loop's clock: absolute deadlines, callable from compiled code without the GIL."""

from __future__ import annotations

import time
from typing import Any

from robot_rt_control.memory.wake import now_ns, ring, thread_ns, wait
from robot_rt_control.native.compiled_forms import compiled_form

__all__ = ["INTERRUPTED", "now_ns", "ring", "sleep_until", "thread_ns", "wait"]

_MONOTONIC = 1
_ABSOLUTE = 1
INTERRUPTED = 4
"""Return value of `sleep_until` if a signal arrived before the deadline."""


def sleep_until(deadline: int) -> int:
    """Sleep until CLOCK_MONOTONIC reaches `deadline` [ns]. Returns 0, or the errno (INTERRUPTED: by a signal)."""
    time.sleep(max(0.0, (deadline - time.monotonic_ns()) * 1e-9))
    return 0


@compiled_form
def _compiled_form() -> None:
    """The call of the C library, without the GIL."""
    from llvmlite import ir
    from numba import types
    from numba.extending import lower_builtin, type_callable

    from robot_rt_control.native.c_library import I32, TIMESPEC, external, timespec

    @type_callable(sleep_until)
    def type_sleep_until(_context: Any) -> Any:
        return lambda deadline: types.int32

    @lower_builtin(sleep_until, types.int64)
    def lower_sleep_until(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = TIMESPEC.as_pointer()
        function = external(builder, "clock_nanosleep", I32, [I32, I32, pointer, pointer])
        spec, null = timespec(builder, arguments[0]), ir.Constant(pointer, None)
        return builder.call(function, [I32(_MONOTONIC), I32(_ABSOLUTE), spec, null])
