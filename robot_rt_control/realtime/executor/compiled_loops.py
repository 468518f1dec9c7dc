"""Both loops as one function, so that the tick is compiled once for both. Only the compiler imports this module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robot_rt_control.memory.atomics import record_at
from robot_rt_control.memory.layout import channel_dtype, world_dtype
from robot_rt_control.realtime.executor.lockstep_loop import run_lockstep
from robot_rt_control.realtime.executor.loop_records import lockstep_dtype, loop_dtype
from robot_rt_control.realtime.executor.loops import LOCKSTEP
from robot_rt_control.realtime.executor.wallclock_loop import run_wallclock

_world_at: Callable[[int], Any] = record_at(world_dtype)
_channel_at: Callable[[int], Any] = record_at(channel_dtype)
_lockstep_at: Callable[[int], Any] = record_at(lockstep_dtype)
_loop_at: Callable[[int], Any] = record_at(loop_dtype)


def run_loop(loop, a, b, c):
    """See `loops.Loops`."""
    if loop == LOCKSTEP:
        return run_lockstep(_lockstep_at(a), b, c)
    run_wallclock(_world_at(a), _channel_at(b), _loop_at(c))
    return 0
