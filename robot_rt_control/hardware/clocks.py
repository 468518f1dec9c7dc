"""The clocks that can drive the loop, and the default: a simulator runs in simulated time."""

from __future__ import annotations

from robot_rt_control.hardware.lifecycle import load_plugin
from robot_rt_control.model.workcell.simulators import SIMULATORS
from robot_rt_control.model.workcell.workcell import COMPILED, EXTERNAL, TOPIC, Workcell
from robot_rt_control.vocabulary.enums import HARDWARE, LOCKSTEP, REALTIME
from robot_rt_control.vocabulary.errors import DefinitionError

AUTO = "auto"

CLOCKS = (AUTO, REALTIME, LOCKSTEP, HARDWARE)

CLOCK_HELP = (
    "auto: simulated time for a simulator, hardware for a device that keeps the period itself, else the wall clock; "
    "realtime: the wall clock; "
    "lockstep: simulated time, loop and simulator wait for each other; "
    "hardware: the cycle of a device's driver drives the loop"
)

FACTOR_HELP = "simulated seconds per second in lockstep; 0: as fast as possible; negative: by the service step only"


def chosen_clock(clock: str, workcell: Workcell) -> str:
    """The clock of a workcell: `clock`, or for `auto` lockstep if its hardware is a simulator, and hardware if one
    device paces the loop.

    Devices on topics do not count: they follow any clock. Mock and drives are computed in the loop, on any clock.

    Raises:
        DefinitionError: there is no such clock, or the clock is simulated time and a device has a foreign driver.
        HardwareError: the clock is `auto`, and a device's plugin cannot be loaded.
    """
    if clock not in CLOCKS:
        raise DefinitionError("clock", expected="one of: " + ", ".join(CLOCKS), got=repr(clock))
    plugins = {device.plugin for device in workcell.devices} - {*COMPILED, TOPIC}
    if clock == LOCKSTEP and EXTERNAL in plugins:
        names = [device.name for device in workcell.devices if device.plugin == EXTERNAL]
        raise DefinitionError(
            f"workcell {workcell.name!r}, clock:=lockstep",
            expected="hardware that this package runs itself, as a foreign driver does not step with the loop",
            got=f"foreign drivers of {', '.join(names)}",
            hint="Choose clock:=hardware or realtime, or other hardware",
        )
    if clock != AUTO or EXTERNAL in plugins:
        return REALTIME if clock == AUTO else clock
    simulated = [plugin in SIMULATORS or load_plugin(plugin).simulated for plugin in sorted(plugins)]
    if simulated and all(simulated):
        return LOCKSTEP
    pacing = [d for d in workcell.devices if d.plugin in plugins - {*SIMULATORS} and load_plugin(d.plugin).paces]
    return HARDWARE if len(pacing) == 1 and workcell.driving_device() == pacing[0] else REALTIME
