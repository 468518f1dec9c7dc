"""The lockstep loop: simulated time, the same tick. Simulators in this process exchange with it once in a period."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import int64, void

from robot_rt_control.hardware.image import driver_at, publish_state, take_command
from robot_rt_control.memory.atomics import record_at
from robot_rt_control.memory.layout import channel_dtype, record, world_dtype
from robot_rt_control.native.code_cache import compile_by_address
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.tick import tick
from robot_rt_control.vocabulary.capacities import MAX_DEVICES

exchange_dtype = record(
    [
        ("world", "i8"),
        ("channel", "i8"),
        ("period_ns", "i8"),
        ("n_devices", "i8"),
        ("images", "i8", (MAX_DEVICES,)),  # addresses of the devices' process images ...
        ("drivers", "i8", (MAX_DEVICES,)),  # ... and of their own sides
    ]
)
"""What `exchange` works on."""

_world_at: Callable[[int], Any] = record_at(world_dtype)
_channel_at: Callable[[int], Any] = record_at(channel_dtype)
_exchange_at: Callable[[int], Any] = record_at(exchange_dtype)


@realtime
def run_lockstep(w, ch, ticks, period_ns):
    """Run `ticks` ticks in simulated time without pause: for hardware that is computed in the tick."""
    for _ in range(ticks):
        w.now_ns = (w.tick + 1) * period_ns
        tick(w, ch)


@realtime
def exchange(x, silent):
    """One tick between simulators in this process: publish their states, tick, take their commands.

    Args:
        x: record of `exchange_dtype`.
        silent: bit i: device i publishes nothing.

    Returns:
        Bit i: there is a new command for device i.
    """
    for i in range(x.n_devices):
        if silent >> i & 1 == 0:
            publish_state(x.images[i], driver_at(x.drivers[i]))
    run_lockstep(_world_at(x.world), _channel_at(x.channel), 1, x.period_ns)
    new = 0
    for i in range(x.n_devices):
        new |= take_command(x.images[i], driver_at(x.drivers[i])) << i
    return new


# By address, a call costs a third of a microsecond; Numba's own dispatcher takes two. Compiled on first use.


@cache
def lockstep_entry() -> Callable[[int, int, int, int], None]:
    """run_lockstep by address: (world address, channel address, ticks, period_ns)."""

    def entry(world, channel, ticks, period_ns):
        run_lockstep(_world_at(world), _channel_at(channel), ticks, period_ns)

    compiled = compile_by_address(entry, void(*[int64] * 4))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(compiled.address)


@cache
def exchange_entry() -> Callable[[int, int], int]:
    """exchange by address: (address of the `exchange_dtype` record, silent devices)."""

    def entry(address, silent):
        return exchange(_exchange_at(address), silent)

    compiled = compile_by_address(entry, int64(int64, int64))
    # PYFUNCTYPE keeps the GIL: to release it for a microsecond may cost milliseconds if other threads are busy.
    return ctypes.PYFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 2)(compiled.address)
