"""States of mock devices that others set: in the loop's memory, or in the plugin beside it."""

from __future__ import annotations

import functools
from collections.abc import Callable

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.interfaces import standard_state_interfaces
from robot_rt_control.hardware.mock_plugin import MockPlugin
from robot_rt_control.model.workcell.drives import DRIVES
from robot_rt_control.model.workcell.workcell import MOCK, DeviceDescription
from robot_rt_control.realtime.executor.executor import Executor


def mock_setters(executor: Executor) -> dict[str, Callable[[float], None]]:
    """State interface of a mock device, such as "rangefinder/distance", with what sets it from the next tick on."""
    return {name: put for device in executor.workcell.devices for name, put in _setters(executor, device)}


def _setters(executor: Executor, device: DeviceDescription) -> list[tuple[str, Callable[[float], None]]]:
    if device.plugin == DRIVES:
        return []
    names = [interface.name for interface in standard_state_interfaces(hardware_info(executor.workcell, device))]
    if device.plugin == MOCK:
        state = executor.world.memory.devices[device.index].state
        return [(name, functools.partial(state.__setitem__, i)) for i, name in enumerate(names)]
    plugin = executor.devices.hosts[device.name].plugin
    if not isinstance(plugin, MockPlugin):
        return []
    return [(name, functools.partial(_put, plugin, name)) for name in names]


def _put(plugin: MockPlugin, name: str, value: float) -> None:
    plugin.set_states({name: value})
