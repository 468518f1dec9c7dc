"""A simulated device in the loop's own process, for simulated time, with the same tick and the same image."""

from __future__ import annotations

from dataclasses import replace

from robot_rt_control.hardware.device_host import DeviceHost
from robot_rt_control.hardware.plugin import HardwareInfo, HardwarePlugin
from robot_rt_control.vocabulary.errors import HardwareError


class LockstepHost(DeviceHost):
    """A plugin with a private image. One period is `read_device`, an exchange with the tick, `write_device`.

    Args:
        plugin: its name, or a fresh object.
        info: the device.

    Raises:
        HardwareError: the plugin does not simulate; real hardware cannot wait for the loop.
    """

    def __init__(self, plugin: str | HardwarePlugin, info: HardwareInfo) -> None:
        super().__init__(plugin, replace(info, simulated_time=True))
        if not self.plugin.simulated:
            raise HardwareError(
                f"hardware {info.name!r}: {type(self.plugin).__name__} in lockstep",
                expected="a plugin that simulates (class attribute `simulated`)",
                hint="Run real hardware with the clock `realtime`",
            )
