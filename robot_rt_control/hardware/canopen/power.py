"""The state machine of CiA 402 for all motors of a device at once: tables of what drives/cia402.py says for one."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from robot_rt_control.hardware.drives import cia402
from robot_rt_control.vocabulary.enums import MotorStatus

QUICK_STOP_WORD = 0x02


class Goal(IntEnum):
    QUICK_STOP = 0
    """Brake as the drive's quick stop does, then without power."""
    OFF = 1
    """Without torque: the brake holds. A fault stays."""
    ENABLED = 2
    """It follows its targets. A fault is reset."""


def _plain(function: Any) -> Any:
    """A few hundred calls at import are not worth a compilation."""
    return getattr(function, "py_func", function)


_STATES = np.array([_plain(cia402.motor_status)(word) for word in range(128)], np.int8)
_CONTROLWORDS = np.array(
    [
        [
            QUICK_STOP_WORD if status not in (MotorStatus.FAULT, MotorStatus.FAULT_REACTION) else 0
            for status in MotorStatus
        ],
        [_plain(cia402.controlword)(int(status), 0, False, False, False) for status in MotorStatus],
        # The reset bit has a rising edge: with every other goal a faulted motor got 0 before.
        [_plain(cia402.controlword)(int(status), 0, True, True, True) for status in MotorStatus],
    ],
    np.uint16,
)


def motor_states(statuswords: np.ndarray) -> np.ndarray:
    """MotorStatus of each statusword; NOT_READY also for words that the standard does not have."""
    return _STATES[statuswords & 0x7F]


def controlwords(states: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """The controlword that each motor gets next."""
    return _CONTROLWORDS[goals, states]
