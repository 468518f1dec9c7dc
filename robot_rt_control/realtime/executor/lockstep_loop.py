"""The lockstep loop: simulated time, the same tick. Simulators in this process exchange with it once in a period."""

from collections.abc import Callable
from typing import Any

from robot_rt_control.hardware.image import driver_at, publish_state, take_command
from robot_rt_control.memory.atomics import record_at
from robot_rt_control.memory.layout import channel_dtype, world_dtype
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.tick import tick

_world_at: Callable[[int], Any] = record_at(world_dtype)
_channel_at: Callable[[int], Any] = record_at(channel_dtype)


@realtime
def run_lockstep(x, ticks, silent):
    """Run ticks in simulated time without pause; before each, simulators publish; after it, they take their commands.

    Args:
        x: record of `lockstep_dtype`.
        silent: bit i: device i publishes nothing.

    Returns:
        Bit i: there is a new command for device i.
    """
    new = 0
    w, ch = _world_at(x.world), _channel_at(x.channel)
    for _ in range(ticks):
        for i in range(x.n_devices):
            if silent >> i & 1 == 0:
                publish_state(x.images[i], driver_at(x.drivers[i]))
        w.now_ns = (w.tick + 1) * x.period_ns
        tick(w, ch)
        for i in range(x.n_devices):
            new |= take_command(x.images[i], driver_at(x.drivers[i])) << i
    return new
