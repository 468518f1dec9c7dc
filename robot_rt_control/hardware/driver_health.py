"""The health of a driver process: whether it keeps its device's period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.intervals import interval_values
from robot_rt_control.vocabulary.enums import DriverMode
from robot_rt_control.vocabulary.health import Health, Level

_MANY = 0.1
"""Share of late cycles from which they are more than a warning."""


@dataclass(frozen=True, kw_only=True)
class Cycles:
    """Counters of a driver since its start."""

    cycles: int
    overruns: int
    late_commands: int | None = None
    """Commands that came too late for their state; None: the device does not pace the loop."""
    starts_ns: tuple[int, ...] = ()
    """Starts of the last cycles."""


def driver_health(device: str, mode: DriverMode, now: Cycles, before: Cycles) -> Health:
    """A warning while cycles come late, or if many came late since the start; an error while many do.

    Args:
        device: its name.
        mode: the driver's mode.
        now: the present counters.
        before: those of the last report.
    """
    cycles, late = now.cycles - before.cycles, now.overruns - before.overruns
    level, message = Level.OK, mode.name.lower()
    if late > 0:
        level = Level.ERROR if late >= _MANY * cycles else Level.WARN
        message += f"; {late} of the last {cycles} cycles were late"
    elif now.overruns >= _MANY * max(now.cycles, 1):
        level = Level.WARN
        message += f"; {now.overruns} of {now.cycles} cycles were late since the start"
    values = {"cycles": str(now.cycles), "overruns": str(now.overruns), "mode": mode.name.lower()}
    if now.late_commands is not None:
        values["late_commands"] = str(now.late_commands)
        late = now.late_commands - (before.late_commands or 0)
        if late > 0:
            level = max(level, Level.WARN)
            message += f"; {late} commands came too late for their state"
    return Health(
        what=f"device {device}",
        hardware=device,
        level=level,
        message=message,
        values=values | interval_values("period", np.array(now.starts_ns[-(cycles + 1) :], np.int64)),
    )
