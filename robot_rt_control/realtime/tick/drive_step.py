"""Drives in the tick: their exchange in step 1, and what it means for the parts that they move."""

from robot_rt_control.hardware.drives.bus_exchange import REPORTED
from robot_rt_control.hardware.drives.exchange import ALL_ENABLED, ENABLE, FOLLOW, IN_ERROR, OFF, exchange
from robot_rt_control.memory.drive_layout import drives_at
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.parts import fault_part, start_motion
from robot_rt_control.vocabulary.enums import FaultReason, OperationalState

_ENABLED = int(OperationalState.ENABLED)
_FAULTED = int(OperationalState.FAULTED)
_MOTOR_ERROR = int(FaultReason.MOTOR_ERROR)
_SILENT = int(FaultReason.DRIVE_SILENT)
_NOT_ENABLED = int(FaultReason.MOTOR_NOT_ENABLED)
_STALE = int(FaultReason.STALE_HARDWARE)


@realtime
def read_drives(w, d):
    """Exchange packets with the drives of a device: the last tick's commands leave, actual values come."""
    dev = w.devices[d]
    drives = drives_at(dev.drives)
    for p in range(w.n_parts):
        pr = w.parts_runtime[p]
        if pr.device == d:
            drives.on[p] = FOLLOW if pr.written != 0 else OFF
            if pr.enabling > 0:
                drives.on[p] = ENABLE
    exchange(drives, dev, w.period)


@realtime
def follow_drives(w, ch, p):
    """A part's age; its fault, if one of its own motors or drives fails; its motion, once all motors are enabled."""
    pr = w.parts_runtime[p]
    dev = w.devices[pr.device]
    drives = drives_at(dev.drives)
    w.parts[p].age = drives.age[p]
    state = drives.part_state[p]
    # A driver process resets errors when the part is enabled, and not before.
    if drives.clear[p] > 0 and (drives.network != REPORTED or pr.enabling > 0):
        drives.clear[p] = drives.clear[p] - 1 if state == IN_ERROR else 0
    if pr.enabling == 0 and pr.state != _ENABLED:
        return
    reason, joint = 0, drives.part_joint[p]
    if drives.age[p] > dev.max_age:
        reason, joint = _SILENT, drives.silent_joint[p]
        if dev.age > dev.max_age:
            reason, joint = _STALE, -1  # their driver process is silent
    elif state == IN_ERROR and drives.clear[p] == 0:
        reason = _MOTOR_ERROR
    elif state != ALL_ENABLED and pr.enabling <= 1:
        reason = _NOT_ENABLED
    if reason != 0:
        pr.fault_code = drives.part_code[p] if reason == _MOTOR_ERROR or reason == _NOT_ENABLED else 0
        fault_part(w, ch, p, reason, joint)
    elif pr.enabling > 0:
        pr.enabling -= 1
        if state == ALL_ENABLED:
            start_motion(w, ch, p)
