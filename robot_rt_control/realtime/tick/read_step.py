"""Step 1, read: the devices' state images into the parts, with their age, and what follows from them."""

import math
from collections.abc import Callable
from typing import Any

from robot_rt_control.hardware.drives.bus_exchange import REPORTED
from robot_rt_control.hardware.drives.exchange import take_reports
from robot_rt_control.hardware.image import read_state, reported_error
from robot_rt_control.hardware.mock_cycle import MOCK_PLUGIN, mock_cycle
from robot_rt_control.memory.atomics import address_of, record_at
from robot_rt_control.memory.drive_layout import drives_at
from robot_rt_control.memory.layout import link_dtype, offset_of, world_dtype
from robot_rt_control.memory.plain_access import load_f8, store_f8
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.action_time import set_time
from robot_rt_control.realtime.tick.derive import derive
from robot_rt_control.realtime.tick.drive_step import follow_drives, read_drives
from robot_rt_control.realtime.tick.feedback import unknown_joint
from robot_rt_control.realtime.tick.parts import (
    count_rest,
    fault_part,
    has_efforts_alone,
    takes_commands,
    wait_for_rest,
)
from robot_rt_control.realtime.tick.tools import judge_tools
from robot_rt_control.vocabulary.enums import FaultReason, OperationalState

_ENABLED = int(OperationalState.ENABLED)
_STALE = int(FaultReason.STALE_HARDWARE)
_UNKNOWN = int(FaultReason.UNKNOWN_FEEDBACK)
_HARDWARE_ERROR = int(FaultReason.HARDWARE_ERROR)
_READS = offset_of(world_dtype, "reads")
_LINK_SIZE = link_dtype.itemsize

link_at: Callable[[int], Any] = record_at(link_dtype)
"""The link's record at an address."""


@realtime
def _read_device(w, d):
    """Take the device's newest state, if there is one; else it grows older."""
    dev = w.devices[d]
    if dev.plugin == MOCK_PLUGIN:
        mock_cycle(dev, w.period)
        dev.age = 0
        return
    if dev.drives != 0 and drives_at(dev.drives).network != REPORTED:
        read_drives(w, d)
        return
    new = read_state(dev.image, dev) if dev.image != 0 else 0
    if new == 1:
        dev.age = 0
        dev.faulted = 0
    else:
        dev.age += 1
        if new < 0:
            dev.faulted = reported_error(dev.image)
    if dev.drives != 0:
        take_reports(drives_at(dev.drives), dev)


@realtime
def _take_states(w):
    """Copy the devices' states to the parts; values that are too old become unknown."""
    base = address_of(w)
    links = base + _READS
    for address in range(links, links + w.n_reads * _LINK_SIZE, _LINK_SIZE):
        link = link_at(address)
        store_f8(base + link.offset, load_f8(base + link.place))
    for d in range(w.n_devices):
        if w.devices[d].age > w.devices[d].max_age:
            for i in range(w.n_reads):
                if w.reads[i].device == d:
                    store_f8(base + w.reads[i].offset, math.nan)


@realtime
def read(w, ch):
    """Read all devices; values that are too old become unknown and fault the parts that they move."""
    for d in range(w.n_devices):
        _read_device(w, d)
    _take_states(w)
    for p in range(w.n_parts):
        part = w.parts[p]
        pr = w.parts_runtime[p]
        dev = w.devices[pr.device]
        set_time(w, p)
        part.age = dev.age
        derive(w, p)
        if dev.drives != 0:
            follow_drives(w, ch, p)
        if pr.state != _ENABLED and has_efforts_alone(w, p):
            count_rest(w, p)
        if pr.state == _ENABLED or pr.rest_wait > 0:
            if not takes_commands(part):
                continue  # its values are unknown until they come again
            if dev.age > dev.max_age:
                fault_part(w, ch, p, _STALE, -1)
            elif dev.faulted != 0:
                pr.fault_code = dev.faulted >> 8
                fault_part(w, ch, p, _HARDWARE_ERROR, -1)
            else:
                joint = unknown_joint(w, p)
                if joint >= 0:
                    fault_part(w, ch, p, _UNKNOWN, joint)
            if pr.rest_wait > 0:
                wait_for_rest(w, ch, p)
        else:
            _follow(w, p)
    for p in range(w.n_parts):
        if w.parts_runtime[p].n_tools > 0:
            judge_tools(w, p)


@realtime
def _follow(w, p):
    """A part that nothing is sent for any more: the last command follows what is measured.

    Not while it is still sent, for outputs that settle: a drive that lags behind, or that is held, would be stepped.
    """
    part = w.parts[p]
    pr = w.parts_runtime[p]
    if pr.written != 0 and pr.enabling == 0:
        return
    for j in range(part.dof):
        if part.commanded_velocity[j] != 0.0 or not math.isfinite(part.position[j]):
            return
    for j in range(part.dof):
        part.commanded_position[j] = part.position[j]
