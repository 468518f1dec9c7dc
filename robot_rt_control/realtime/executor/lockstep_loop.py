"""The lockstep loop: simulated time, the same tick. With Python hardware the caller runs between two ticks."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

from numba import carray, from_dtype, types

from robot_rt_control.memory.layout import channel_dtype, world_dtype
from robot_rt_control.native.code_cache import compile_by_address
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.tick import tick


@realtime
def run_lockstep(w, ch, ticks, period_ns):
    """Run `ticks` ticks in simulated time without pause: for hardware that is computed in the tick."""
    for _ in range(ticks):
        w.now_ns = (w.tick + 1) * period_ns
        tick(w, ch)


@cache
def lockstep_entry(*, keep_gil: bool = False) -> Callable[[int, int, int, int], None]:
    """run_lockstep by address: (world address, channel address, ticks, period_ns).

    Args:
        keep_gil: for one tick at a time. To give the GIL away for a microsecond may cost milliseconds, where
            other threads of Python are busy.

    Compiled on first use. A call costs a third of a microsecond, where Numba's own dispatcher takes two.
    """
    world, channel = types.CPointer(from_dtype(world_dtype)), types.CPointer(from_dtype(channel_dtype))

    def entry(world, channel, ticks, period_ns):
        run_lockstep(carray(world, 1)[0], carray(channel, 1)[0], ticks, period_ns)

    compiled = compile_by_address(entry, types.void(world, channel, types.int64, types.int64))

    prototype = ctypes.PYFUNCTYPE if keep_gil else ctypes.CFUNCTYPE
    return prototype(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(compiled.address)
