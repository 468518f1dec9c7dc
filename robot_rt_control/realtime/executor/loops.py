"""Both loops as seen from outside. They are one compiled function, so that the tick is compiled once for both.

Called by address: that costs a third of a microsecond; Numba's own dispatcher takes two. Compiled on first use.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import int64

from robot_rt_control.memory.atomics import record_at
from robot_rt_control.memory.layout import channel_dtype, world_dtype
from robot_rt_control.native.code_cache import compile_by_address
from robot_rt_control.realtime.executor.lockstep_loop import lockstep_dtype, run_lockstep
from robot_rt_control.realtime.executor.wallclock_loop import loop_dtype, run_wallclock

LOCKSTEP, WALLCLOCK = 0, 1

Loops = Callable[[int, int, int, int], int]
"""`(LOCKSTEP, address of a lockstep_dtype record, ticks, silent devices)` is `run_lockstep`;
`(WALLCLOCK, address of the world, of the channel, of a loop_dtype record)` is `run_wallclock`, and returns 0."""

_world_at: Callable[[int], Any] = record_at(world_dtype)
_channel_at: Callable[[int], Any] = record_at(channel_dtype)
_lockstep_at: Callable[[int], Any] = record_at(lockstep_dtype)
_loop_at: Callable[[int], Any] = record_at(loop_dtype)


def _loops(loop, a, b, c):
    if loop == LOCKSTEP:
        return run_lockstep(_lockstep_at(a), b, c)
    run_wallclock(_world_at(a), _channel_at(b), _loop_at(c))
    return 0


@cache
def _compiled() -> Any:
    return compile_by_address(_loops, int64(*[int64] * 4))


@cache
def loops() -> Loops:
    """The loops, which release the GIL."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(_compiled().address)


@cache
def loops_with_gil() -> Loops:
    """The loops, which keep the GIL: releasing it for a microsecond may cost milliseconds if other threads are busy."""
    return ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(_compiled().address)
