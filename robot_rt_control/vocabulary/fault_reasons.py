"""Fault reasons of a part: text, usual cause and remedy. docs/safety.md has the same table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_rt_control.vocabulary.enums import FaultReason
from robot_rt_control.vocabulary.motor_errors import motor_error_remedy, motor_error_text


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
    FaultReason.MOTOR_ERROR: FaultInfo(
        text="a motor reports an error",
        cause="the text names drive, motor and error code; docs/drives.md explains the codes",
        remedy="remove the cause that the error's text names",
    ),
    FaultReason.DRIVE_SILENT: FaultInfo(
        text="a drive does not answer",
        cause="the drive is without power, its cable is unplugged, or the network loses packets",
        remedy="check the power and the cable of the drive, and its counters of lost and corrupt packets",
    ),
    FaultReason.MOTOR_NOT_ENABLED: FaultInfo(
        text="a motor is not enabled",
        cause="the drive lacks the voltage for its power stage, or its safe torque off is active",
        remedy="release the emergency stop and the safe torque off; check the power of the drive",
    ),
    FaultReason.UNKNOWN_FEEDBACK: FaultInfo(
        text="a measured position or velocity is not a number",
        cause="an encoder's cable is loose, or the driver reports values that it does not know",
        remedy="check the encoder and its cable, and read the driver's log",
    ),
    FaultReason.FOLLOWING_ERROR: FaultInfo(
        text="a joint does not follow its command",
        cause="something blocks or drives the joint, its drive is too weak, or its encoder counts the wrong way",
        remedy="remove what blocks the joint; compare commanded and measured motion in the log; "
        "monitors.following_error of the workcell has the limits",
    ),
    FaultReason.FROZEN_FEEDBACK: FaultInfo(
        text="the measured state of a joint does not change although it is commanded to move",
        cause="an encoder or the driver repeats an old state, or a joint is blocked",
        remedy="restart the driver, check the encoder; remove what blocks the joint",
    ),
    FaultReason.POSITION_JUMP: FaultInfo(
        text="a measured position jumped",
        cause="an encoder lost counts, was set to another zero, or a cable is loose",
        remedy="check the encoder and its cable, and whether the joint is where it is shown to be",
    ),
    FaultReason.COMMAND_BORDER: FaultInfo(
        text="a command beyond the system limits was not sent",
        cause="a mistake in this software, or memory of the loop that something else has written",
        remedy="report it, with the log of the last ticks",
    ),
    FaultReason.DEADLINE_MISSED: FaultInfo(
        text="the loop missed too many deadlines",
        cause="the machine is too slow or too busy for the period, or the loop has no real-time priority",
        remedy="look at compute and lateness in the executor's status; relieve the machine or lengthen the period",
    ),
}


def fault_in_words(text: str, joint: str, code: int) -> str:
    """A fault with its joint and, if a motor's error caused it, that error and its remedy.

    Args:
        text: of the fault.
        joint: its joint, or motor; empty: none.
        code: error code of the motor; 0: none; below 0: -1 - `MotorStatus` in which it is.
    """
    if joint:
        text += f" ({joint})"
    if code:
        text += f": {motor_error_text(code)}"
    remedy = motor_error_remedy(code)
    return f"{text}; {remedy}" if remedy else text
