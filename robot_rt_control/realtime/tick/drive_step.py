"""Drives in the tick: their exchange in step 1, and what it means for the parts that they move."""

from robot_rt_control.hardware.drives.bus_exchange import REPORTED
from robot_rt_control.hardware.drives.exchange import ALL_ENABLED, ENABLE, FOLLOW, IN_ERROR, OFF, exchange
from robot_rt_control.memory.drive_layout import drives_at
from robot_rt_control.native.realtime_code import realtime
from robot_rt_control.realtime.tick.feedback import unknown_joint
from robot_rt_control.realtime.tick.parts import fault_part, start_motion, unmeasured_joint
from robot_rt_control.vocabulary.enums import FaultReason, OperationalState

_ENABLED = int(OperationalState.ENABLED)
_FAULTED = int(OperationalState.FAULTED)
_MOTOR_ERROR = int(FaultReason.MOTOR_ERROR)
_SILENT = int(FaultReason.DRIVE_SILENT)
_NOT_ENABLED = int(FaultReason.MOTOR_NOT_ENABLED)
_STALE = int(FaultReason.STALE_HARDWARE)
_HARDWARE_ERROR = int(FaultReason.HARDWARE_ERROR)
_UNKNOWN = int(FaultReason.UNKNOWN_FEEDBACK)


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
def find_drive_fault(w, p):
    """Why a part that is enabled, or is being enabled, must be faulted in this tick.

    Only a motor that is not enabled yet is waited for. What ends the hope that it will be counts at once.

    Returns:
        FaultReason, or 0; the joint, or -1; for the reason's text: an error code, or -1 - MotorStatus.
    """
    pr = w.parts_runtime[p]
    dev = w.devices[pr.device]
    drives = drives_at(dev.drives)
    state = drives.part_state[p]
    # A driver process resets errors when the part is enabled, and not before.
    if drives.clear[p] > 0 and (drives.network != REPORTED or pr.enabling > 0):
        drives.clear[p] = drives.clear[p] - 1 if state == IN_ERROR else 0
    if pr.enabling == 0 and pr.state != _ENABLED:
        return 0, -1, 0
    if drives.age[p] > dev.max_age:
        if dev.age > dev.max_age:
            return _STALE, -1, 0  # their driver process is silent
        return _SILENT, drives.silent_joint[p], 0
    if state == IN_ERROR and drives.clear[p] == 0:
        return _MOTOR_ERROR, drives.part_joint[p], drives.part_code[p]
    if dev.faulted != 0:
        return _HARDWARE_ERROR, -1, dev.faulted >> 8
    unknown = unmeasured_joint(w, p) if pr.enabling > 0 else unknown_joint(w, p)
    if unknown >= 0:
        return _UNKNOWN, unknown, 0
    if state != ALL_ENABLED and pr.enabling <= 1:
        return _NOT_ENABLED, drives.part_joint[p], drives.part_code[p]
    return 0, -1, 0


@realtime
def follow_drives(w, ch, p):
    """A part's age; its fault, if one of its own motors or drives fails; its motion, once all motors are enabled."""
    pr = w.parts_runtime[p]
    drives = drives_at(w.devices[pr.device].drives)
    w.parts[p].age = drives.age[p]
    reason, joint, code = find_drive_fault(w, p)
    if reason != 0:
        pr.fault_code = code
        fault_part(w, ch, p, reason, joint)
    elif pr.enabling > 0:
        pr.enabling -= 1
        if drives.part_state[p] == ALL_ENABLED:
            start_motion(w, ch, p)
