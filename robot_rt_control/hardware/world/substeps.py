"""How many steps of a simulation make one period."""

from __future__ import annotations

from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.vocabulary.errors import HardwareError


def substeps_of(info: HardwareInfo, given: float | None, where: str = "world.timestep", hint: str = "") -> int:
    """Steps of the simulation in each period.

    Args:
        given: [s] of one step; None: the period.
        where: it is given, for errors.

    Raises:
        HardwareError: it is no whole number.
    """
    period, timestep = info.period_s, given or info.period_s
    substeps = round(period / timestep)
    if substeps < 1 or abs(substeps * timestep - period) > 1e-9 * period:
        raise HardwareError(
            f"{info.where('devices', info.name)}hardware {info.name!r}: {where}",
            expected=f"the period {period} s or a whole fraction of it",
            got=f"{timestep} s",
            hint=hint,
        )
    return substeps
