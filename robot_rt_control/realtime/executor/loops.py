"""Both loops as seen from outside. They are one compiled function, so that the tick is compiled once for both.

It is loaded by name: what it is made of, the whole tick, is imported only if it has to be compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from robot_rt_control.native.entries import python_call

LOCKSTEP, WALLCLOCK = 0, 1

Loops = Callable[[int, int, int, int], int]
"""`(LOCKSTEP, address of a lockstep_dtype record, ticks, silent devices)` is `run_lockstep`;
`(WALLCLOCK, address of the world, of the channel, of a loop_dtype record)` is `run_wallclock`, and returns 0."""

_COMPILED = "robot_rt_control.realtime.executor.compiled_loops"


@cache
def loops() -> Loops:
    """The loops, which release the GIL."""
    return python_call(_COMPILED, "run_loop", 4, keeps_gil=False)


@cache
def loops_with_gil() -> Loops:
    """The loops, which keep the GIL: releasing it for a microsecond may cost milliseconds if other threads are busy."""
    return python_call(_COMPILED, "run_loop", 4, keeps_gil=True)
