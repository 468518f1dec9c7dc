"""The world of a workcell: the executor's memory filled with parts, limits, devices, and the links between them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Mapping

import numpy as np

from robot_rt_control.hardware.drives.configure import configure_drives
from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.hardware.mock import configure_mock
from robot_rt_control.hardware.process_image import Manifest
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.layout import offset_of, part_dtype, world_dtype
from robot_rt_control.model.workcell.canopen import CANOPEN
from robot_rt_control.model.workcell.drives import DRIVES
from robot_rt_control.model.workcell.interfaces import InterfaceDescription, tool_interface
from robot_rt_control.model.workcell.workcell import COMPILED, MOCK, Workcell
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.enums import BudgetPolicy, OperationalState
from robot_rt_control.vocabulary.errors import CapacityError, HardwareError


class World:
    """The executor's private memory: `memory` is a record of `layout.world_dtype`, `address` its first byte."""

    def __init__(self, workcell: Workcell) -> None:
        self.workcell = workcell
        self.memory: np.record = np.zeros(1, world_dtype)[0]
        self.address = address_of(self.memory)
        self.kept: list[object] = []
        """What `memory` refers to by addresses."""
        w = self.memory
        w.period = workcell.period
        w.speed = w.speed_target = 1.0
        w.past_speeds[:] = 1.0
        w.budget_policy = BudgetPolicy[workcell.budget_policy.upper()]
        w.budget_report_ticks = round(defaults.BUDGET_REPORT_S / workcell.period)
        w.far_window = round(defaults.FAR_WINDOW_S / workcell.period)
        w.n_parts, w.n_devices = len(workcell.parts), len(workcell.devices)
        for tables in w.tables:
            tables.default_action[:] = -1
            tables.safety_action[:] = -1
        # Variables of actions are unknown until the action is active.
        w.state_arena[:] = np.nan
        devices = {d.name: d.index for d in workcell.devices}
        self.drives: dict[str, np.record] = {}
        """Device → its `drives_dtype`, if it runs on drives that the loop exchanges packets with."""
        self.reported_drives: list[np.record] = []
        """Those of devices whose driver process exchanges packets with drives, and reports the motors' states."""
        for part in workcell.parts:
            _copy(w.parts[part.index], part.record)
            _copy(w.limits[part.index], part.system_limits)
            w.parts[part.index].dt = workcell.period
            runtime = w.parts_runtime[part.index]
            runtime.kind, runtime.device = part.kind, devices[part.device]
            runtime.external_effort = part.external_effort
            runtime.rest_wait_ticks = math.ceil(part.rest_wait / workcell.period)
            runtime.active_action = runtime.fault_joint = -1
            runtime.state = OperationalState.DISABLED
            runtime.snapshot_omits = 8 * (capacities.MAX_DRIVE_STATES - len(part.drive_states))
        self._list_tools()
        for device in workcell.devices:
            info, record = hardware_info(workcell, device), w.devices[device.index]
            default = defaults.MAX_AGE_TICKS_DRIVER
            if device.plugin == MOCK:
                configure_mock(record, info)
                default = defaults.MAX_AGE_TICKS_COMPILED
            elif device.plugin in (DRIVES, CANOPEN):
                assert device.drives is not None  # a plugin without a configuration is refused
                drives = configure_drives(record, info, device.drives)
                if device.plugin == CANOPEN:
                    self.reported_drives.append(drives)
                else:
                    self.drives[device.name] = drives
                    default = device.drives.max_age_ticks
            if device.plugin in COMPILED:
                names = Manifest.of(info, standard_state_interfaces(info), standard_command_interfaces(info))
                self.link_device(device.index, names)
            record.max_age = default if device.max_age_ticks is None else device.max_age_ticks
            for name in device.parts:  # states that are repeated meanwhile are old, and not frozen
                w.limits[workcell.part(name).index].frozen_ticks += record.max_age

    def _list_tools(self) -> None:
        w, number = self.memory, 0
        for part in self.workcell.parts:
            runtime = w.parts_runtime[part.index]
            runtime.first_tool, runtime.n_tools = number, len(part.tools)
            for tool in part.tools:
                _copy(w.tools[number], tool.record)
                first = number * capacities.MAX_SENSOR_INSTRUCTIONS
                w.tool_instructions[first : first + len(tool.instructions)] = tool.instructions
                number += 1

    def link_device(self, index: int, manifest: Manifest) -> None:
        """Connect a device's interfaces with its parts. Before the first tick.

        Raises:
            HardwareError: the device lacks an interface that one of its parts needs.
            CapacityError: too many interfaces.
        """
        device = self.workcell.devices[index]
        parts = [self.workcell.part(name) for name in device.parts]
        w = self.memory
        states = {i.name: (p.index, i) for p in parts for i in p.state_interfaces}
        commands = {i.name: (p.index, i) for p in parts for i in p.command_interfaces}
        _require(device.name, "state", states, manifest.state)
        _require(device.name, "command", commands, manifest.command)
        tools = [(p.index, tool_interface(p.name)) for p in parts if p.tools]
        commands |= {interface.name: (index, interface) for index, interface in tools}
        first = int(w.n_reads)
        w.n_reads = self._link("state", w.reads, int(w.n_reads), index, manifest.state, states)
        w.n_writes = self._link("command", w.writes, int(w.n_writes), index, manifest.command, commands)
        for link in w.reads[first : int(w.n_reads)]:  # unknown until it has been read
            ctypes.c_double.from_address(self.address + int(link["offset"])).value = math.nan

    def _link(
        self,
        array: str,
        links: np.ndarray,
        n: int,
        device: int,
        names: Iterable[str],
        known: Mapping[str, tuple[int, InterfaceDescription]],
    ) -> int:
        parts = offset_of(world_dtype, "parts")
        for place, name in enumerate(names):
            if name not in known:
                continue  # an interface of the plugin's own, that no part takes
            if n >= capacities.MAX_INTERFACE_LINKS:
                raise CapacityError("interfaces of all devices", expected=f"at most {capacities.MAX_INTERFACE_LINKS}")
            part, interface = known[name]
            link = links[n]
            link.device, link.interface, link.part = device, place, part
            link.offset = parts + part * part_dtype.itemsize + interface.offset
            link.place = offset_of(world_dtype, "devices", device, array, place)
            # Which tool is on is no motion: it is sent all the time.
            condition = "n_tools" if interface.field == "tool_number" else "written"
            link.written = offset_of(world_dtype, "parts_runtime", part, condition)
            n += 1
        return n


def _require(device: str, kind: str, needed: Mapping[str, object], offered: tuple[str, ...]) -> None:
    missing = [name for name in needed if name not in offered]
    if missing:
        raise HardwareError(
            f"device {device!r} does not export the {kind} interface {missing[0]!r}",
            expected=f"{len(needed)} {kind} interfaces of its parts",
            got=f"{len(offered)}, {len(missing)} of them missing",
            hint="Let the plugin export it, or take the part out of the workcell",
        )


def _copy(target: np.record, source: np.record) -> None:
    for name in target.dtype.names or ():
        target[name] = source[name]
