"""Error codes of motors: text and remedy. Codes of 16 bits are those of CiA 402 (object 603Fh, IEC 61800-7-201), others
those of a Franka."""

from __future__ import annotations

from collections.abc import Mapping

from robot_rt_control.vocabulary.enums import MotorStatus
from robot_rt_control.vocabulary.franka_errors import CODES, REMEDIES

GENERIC_ERROR = 0x1000
"""Code of a motor in fault whose drive gives none."""
WRONG_MODE, IGNORES_COMMANDS, NO_COMMANDS, NO_HEARTBEAT, FOLLOWING_ERROR = 0x6320, 0x6321, 0x7500, 0x8130, 0x8611

MOTOR_ERRORS: Mapping[int, tuple[str, str]] = {
    0x2310: (
        "continuous over current",
        "look for a blocked joint, a brake that stays closed or a load that is too heavy",
    ),
    0x2340: ("short circuit in the motor or its cable", "check the motor cable; do not enable again before"),
    0x3210: ("DC link over-voltage", "brake more slowly, or check the braking resistor"),
    0x3220: ("DC link under-voltage", "check the supply of the drive's power stage"),
    0x4210: ("the drive is too hot", "let it cool down; check its cooling and the load"),
    0x4310: ("the motor is too hot", "let it cool down; lower the load or the accelerations"),
    0x5441: ("safe torque off is active", "release the emergency stop or close the safety door"),
    WRONG_MODE: (
        "the drive is not in the wanted mode of operation",
        "check which modes the drive has, in which states it takes them, and what else sets its mode",
    ),
    IGNORES_COMMANDS: (
        "the drive is enabled and does not follow its commands",
        "look at its manual for what makes it ignore targets: a halt, a limit, homing, another source of commands",
    ),
    0x7121: ("the motor is blocked", "free the joint; check its brake"),
    0x7305: ("encoder fault", "check the encoder's cable"),
    NO_COMMANDS: ("the drive misses commands", "check the network's cable and the drive's counters of lost packets"),
    NO_HEARTBEAT: (
        "the drive's answers or heartbeats are missing, or it left the state operational",
        "check its supply and the bus; restart its driver if it was restarted",
    ),
    FOLLOWING_ERROR: ("following error", "look for a collision; lower the speed or the load"),
    **{code: (name, REMEDIES[name]) for name, code in CODES.items()},
}
"""Code → its text and remedy. Others have the code alone; the manual of the drive explains them."""


def motor_error_text(code: int) -> str:
    """An error code in words: "error 0x8611 (following error)"; below 0, -1 - `MotorStatus`: that state."""
    if code < 0:
        return f"it is in the state {MotorStatus(-1 - code).name.lower().replace('_', ' ')}"
    text = MOTOR_ERRORS.get(code, ("see the manual of the drive", ""))[0]
    return f"error 0x{code:04x} ({text})" if code else ""


def motor_error_remedy(code: int) -> str:
    """What to do before the error is cleared; empty: the code is not known."""
    return MOTOR_ERRORS.get(code, ("", ""))[1]
