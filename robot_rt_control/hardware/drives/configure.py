"""The record of a device with drives, filled from its configuration. Not real-time."""

from __future__ import annotations

import numpy as np

from robot_rt_control.hardware.info import HardwareInfo
from robot_rt_control.hardware.interfaces import standard_command_interfaces, standard_state_interfaces
from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.drive_layout import drives_dtype
from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.model.workcell.drives import Drives
from robot_rt_control.vocabulary.enums import CommandMode


def configure_drives(device: np.record, info: HardwareInfo, drives: Drives) -> np.record:
    """Set up a device record for its drives, before the first tick.

    Args:
        device: a record of `layout.device_dtype`; it refers to the returned one, which the caller keeps.

    Returns:
        A record of `drive_layout.drives_dtype`; `open_network` fills what belongs to the network.
    """
    record: np.record = np.zeros(1, drives_dtype)[0]
    states, commands = standard_state_interfaces(info), standard_command_interfaces(info)
    state_index = {interface.name: i for i, interface in enumerate(states)}
    command_index = {interface.name: i for i, interface in enumerate(commands)}
    device.drives = address_of(record)
    device.n_state, device.n_command = len(states), len(commands)
    device.n_parts = max(part.index for part in info.parts) + 1
    device.state[:] = np.nan
    record.n_drives, record.n_motors = len(drives.drives), sum(len(drive.motors) for drive in drives.drives)
    record.every, record.ticks = drives.every, drives.every - 1  # the first tick exchanges
    record.enable_ticks = drives.enable_ticks(info.period_s)
    parts = {part.name: part for part in info.parts}
    m = 0
    for d, drive in enumerate(drives.drives):
        row = record.drives[d]
        row.node, row.first_motor, row.n_motors = drive.node, m, len(drive.motors)
        for name in dict.fromkeys(motor.joint.partition(".")[0] for motor in drive.motors):
            report = record.reports[int(record.n_reports)]
            report.drive, report.part, report.place = d, parts[name].index, state_index[f"{name}/{drive.name}.age"]
            record.n_reports += 1
        for motor in drive.motors:
            name, _, joint = motor.joint.partition(".")
            part, own = parts[name], record.motors[m]
            own.part, own.joint = part.index, part.joint_names.index(joint)
            turns = motor.turns(part.units[own.joint] == "m") * motor.direction
            own.counts, own.offset = motor.counts * turns, motor.offset
            own.milliamperes = 1000 / (motor.torque_constant * 2 * np.pi * turns)
            own.state, own.command = state_index[f"{name}/{joint}/position"], command_index[f"{name}/{joint}/position"]
            own.report = state_index[f"{name}/{joint}.error"]
            own.holding_mode = _holding_mode(part.supported_modes)
            m += 1
    for part in info.parts:
        modes = [_holding_mode(part.supported_modes)] * len(part.joint_names)
        record.holding_modes[part.index] = pack_modes(modes)
    return record


def _holding_mode(supported: frozenset[CommandMode]) -> CommandMode:
    """The mode in which a joint is best held; without position and velocity it gets no effort."""
    return next(m for m in (CommandMode.POSITION, CommandMode.VELOCITY, CommandMode.EFFORT) if m in supported)
