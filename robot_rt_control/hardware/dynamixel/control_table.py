"""Registers and units of DYNAMIXEL servos of the X series, from the maker's e-manual of XL430-W250, XM430-W210, -W350.

EEPROM registers (below 64) can be written only without torque.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from robot_rt_control.vocabulary.enums import CommandMode

PULSES = 4096
"""Of a turn."""
VELOCITY_UNIT = 0.229 * 2 * math.pi / 60
"""[rad/s]"""
WATCHDOG_UNIT = 0.02
"""[s]"""
WATCHDOG_EXPIRED = 0xFF
FIRST_FIRMWARE = 38
"""The first one with a bus watchdog."""


class Register(NamedTuple):
    """A number of the control table, little-endian; negative ones in two's complement."""

    name: str
    address: int
    size: int
    is_signed: bool = False


MODEL = Register("Model Number", 0, 2)
FIRMWARE = Register("Firmware Version", 6, 1)
RETURN_DELAY = Register("Return Delay Time", 9, 1)
DRIVE_MODE = Register("Drive Mode", 10, 1)
OPERATING_MODE = Register("Operating Mode", 11, 1)
HOMING_OFFSET = Register("Homing Offset", 20, 4, True)
CURRENT_LIMIT = Register("Current Limit", 38, 2)
VELOCITY_LIMIT = Register("Velocity Limit", 44, 4)
MAX_POSITION = Register("Max Position Limit", 48, 4)
MIN_POSITION = Register("Min Position Limit", 52, 4)
TORQUE_ENABLE = Register("Torque Enable", 64, 1)
STATUS_RETURN_LEVEL = Register("Status Return Level", 68, 1)
BUS_WATCHDOG = Register("Bus Watchdog", 98, 1)
GOAL_CURRENT = Register("Goal Current", 102, 2, True)
GOAL_VELOCITY = Register("Goal Velocity", 104, 4, True)
PROFILE_ACCELERATION = Register("Profile Acceleration", 108, 4)
PROFILE_VELOCITY = Register("Profile Velocity", 112, 4)
GOAL_POSITION = Register("Goal Position", 116, 4, True)
PRESENT_POSITION = Register("Present Position", 132, 4, True)
INDIRECT_ADDRESSES = 168
INDIRECT_DATA = 224

MAPPED = (64, 68, 70, 98, *range(126, 136))
"""What is read of each servo in each exchange, gathered by Indirect Addresses: Torque Enable, Status Return Level,
Hardware Error Status, Bus Watchdog, Present Current (or Load), Velocity and Position. A servo that restarts loses the
addresses, which the Status Return Level then shows: it is 0 instead of 2."""
ANSWERS_ALL = 2
"""Status Return Level: each instruction is answered."""

ERRORS = {0: "input voltage", 2: "overheating", 3: "motor encoder", 4: "electrical shock", 5: "overload"}
"""Bits of Hardware Error Status."""

POSITION_MODE, EXTENDED_POSITION_MODE, VELOCITY_MODE, CURRENT_MODE = 3, 4, 1, 0
"""Values of Operating Mode. Position mode has one turn, extended position mode has 512."""

GOALS = {
    CommandMode.POSITION: GOAL_POSITION,
    CommandMode.VELOCITY: GOAL_VELOCITY,
    CommandMode.EFFORT: GOAL_CURRENT,
}


@dataclass(frozen=True)
class Model:
    """What one model has."""

    number: int
    current_unit: float = math.nan
    """[A] of Present and Goal Current; NaN: it measures and controls none."""

    @property
    def has_current(self) -> bool:
        return not math.isnan(self.current_unit)


MODELS = {
    "XL430-W250": Model(1060),
    "XM430-W210": Model(1030, 0.00269),
    "XM430-W350": Model(1020, 0.00269),
}


def error_names(status: int) -> str:
    """The errors of a Hardware Error Status."""
    named = [ERRORS.get(bit, f"bit {bit}") for bit in range(8) if status >> bit & 1]
    return ", ".join(named)
