"""Fault reasons of a part: text, usual cause and remedy. docs/safety.md has the same table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_rt_control.vocabulary.enums import FaultReason


@dataclass(frozen=True, kw_only=True)
class FaultInfo:
    """One reason, for people."""

    text: str
    """What happened."""
    cause: str
    """The usual cause."""
    remedy: str
    """What to do before the fault is cleared."""


FAULTS: Mapping[FaultReason, FaultInfo] = {
    FaultReason.NONE: FaultInfo(text="", cause="", remedy=""),
    FaultReason.NON_FINITE_COMMAND: FaultInfo(
        text="the action wrote a command that is not finite",
        cause="a division by zero, or an unknown sensor value in the action's code",
        remedy="look at the action's last ticks in the log and correct its code",
    ),
    FaultReason.UNSUPPORTED_COMMAND_MODE: FaultInfo(
        text="the action wrote a command mode that the part does not support",
        cause="the action writes efforts, and the part takes none (command_modes of the workcell)",
        remedy="use another action, or give the part the mode if its hardware has it",
    ),
    FaultReason.POSITION_LIMIT: FaultInfo(
        text="the measured position left its range",
        cause="the drive overshoots, something pushes the joint, or the range of the workcell is not the drive's",
        remedy="move the joint back into its range by hand or by a recovery program",
    ),
    FaultReason.VELOCITY_LIMIT: FaultInfo(
        text="the measured velocity exceeded the system limit",
        cause="a jump of the measured value, a collision, or efforts that were too large",
        remedy="look at the measured velocity in the log; lower the efforts or the speed",
    ),
    FaultReason.STALE_HARDWARE: FaultInfo(
        text="the hardware's data is too old",
        cause="the driver hangs, died or is too slow, or a cable is unplugged",
        remedy="restart the driver or plug in the cable; raise max_age_ticks if the driver is just slower",
    ),
    FaultReason.HARDWARE_ERROR: FaultInfo(
        text="the hardware reports an error",
        cause="the device itself is faulted, or its driver gave up following commands",
        remedy="read the driver's log, and remove the device's own error",
    ),
    FaultReason.DEADLINE_MISSED: FaultInfo(
        text="the loop missed too many deadlines",
        cause="the machine is too slow or too busy for the period, or the loop has no real-time priority",
        remedy="look at compute and lateness in the executor's status; relieve the machine or lengthen the period",
    ),
}
