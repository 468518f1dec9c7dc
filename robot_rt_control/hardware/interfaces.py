"""The interfaces of a device: those of its parts, part by part."""

from __future__ import annotations

from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.model.workcell.interfaces import InterfaceDescription, command_interfaces, state_interfaces


def standard_state_interfaces(info: HardwareInfo) -> list[InterfaceDescription]:
    """The state interfaces that parts of these kinds have."""
    return [interface for part in info.parts for interface in state_interfaces(part)]


def standard_command_interfaces(info: HardwareInfo) -> list[InterfaceDescription]:
    """The command interfaces that parts of these kinds have."""
    return [interface for part in info.parts for interface in command_interfaces(part)]


def part_slices(interfaces: list[InterfaceDescription]) -> dict[str, slice]:
    """The range of each part's interfaces, for interfaces listed part by part."""
    slices: dict[str, slice] = {}
    for i, interface in enumerate(interfaces):
        start = slices[interface.part].start if interface.part in slices else i
        slices[interface.part] = slice(start, i + 1)
    return slices
