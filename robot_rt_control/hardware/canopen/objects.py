"""The objects of CiA 301 and CiA 402 that the plugin uses, and the two records that a motor exchanges in each period.

The table names the objects of a drive's first motor. Those of motor k are at 0x800 k above, its PDOs at 0x40 k.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from robot_rt_control.vocabulary.enums import CommandMode

AXIS_STEP = 0x800
PDO_AXIS_STEP = 0x40

DEVICE_TYPE = 0x1000
PROFILE = 402
"""Low word of the device type."""
CYCLE_PERIOD = 0x1006
CONSUMER_HEARTBEAT = 0x1016
HEARTBEAT = 0x1017
IDENTITY = 0x1018
RPDO, RPDO_MAPPING, TPDO, TPDO_MAPPING = 0x1400, 0x1600, 0x1800, 0x1A00

ABORT_CONNECTION = 0x6007
ERROR_CODE = 0x603F
MODE, MODE_DISPLAY = 0x6060, 0x6061
POSITION_ACTUAL = 0x6064
RATED_TORQUE = 0x6076
INTERPOLATION_PERIOD = 0x60C2
SUPPORTED_MODES = 0x6502

QUICK_STOP_ON_LOSS = 3
"""Value of ABORT_CONNECTION: a drive that misses this computer's heartbeats brakes with its quick stop."""

CYCLIC_MODES = {CommandMode.POSITION: 8, CommandMode.VELOCITY: 9, CommandMode.EFFORT: 10}
"""Modes of operation: cyclic synchronous position, velocity, torque."""


@dataclass(frozen=True)
class Mapped:
    """An object in a PDO, and its field of the command or state record."""

    field: str
    index: int
    """Index for the first motor of a drive."""
    dtype: str
    type: str
    """In the words of CiA 301."""

    @property
    def size(self) -> int:
        """[bytes]"""
        return np.dtype(self.dtype).itemsize


_CONTROLWORD = Mapped("controlword", 0x6040, "<u2", "UNSIGNED16")
_MODE = Mapped("mode", MODE, "i1", "INTEGER8")
_TARGETS = {
    CommandMode.POSITION: Mapped("position", 0x607A, "<i4", "INTEGER32"),
    CommandMode.VELOCITY: Mapped("velocity", 0x60FF, "<i4", "INTEGER32"),
    CommandMode.EFFORT: Mapped("torque", 0x6071, "<i2", "INTEGER16"),
}
_STATUSWORD = Mapped("statusword", 0x6041, "<u2", "UNSIGNED16")
_ERROR = Mapped("error", ERROR_CODE, "<u2", "UNSIGNED16")
_MODE_DISPLAY = Mapped("mode", MODE_DISPLAY, "i1", "INTEGER8")
_POSITION = Mapped("position", POSITION_ACTUAL, "<i4", "INTEGER32")
_TORQUE = Mapped("torque", 0x6077, "<i2", "INTEGER16")
_VELOCITY = Mapped("velocity", 0x606C, "<i4", "INTEGER32")


def _record(*mapped: Mapped) -> np.dtype:
    return np.dtype([(m.field, m.dtype) for m in mapped])


COMMAND_RECORD = _record(_CONTROLWORD, _MODE, *_TARGETS.values())
"""What a motor gets in a period. A drive's RPDOs carry some or all of these bytes."""
STATE_RECORD = _record(_STATUSWORD, _ERROR, _MODE_DISPLAY, _POSITION, _VELOCITY, _TORQUE)
"""What a motor reports in a period; some or all of these bytes come in its drive's TPDOs."""


def received(modes: Iterable[CommandMode]) -> list[Mapped]:
    """The objects that a drive gets for a motor. A single mode is set once and needs no place in a PDO."""
    wanted = sorted(set(modes))
    return [_CONTROLWORD, *([_MODE] if len(wanted) > 1 else []), *(_TARGETS[mode] for mode in wanted)]


def transmitted(velocity: bool, error: bool = True) -> list[Mapped]:
    """The objects that a drive reports of a motor.

    Its mode is one of them also if it has only one: a drive may have been set to another one.

    Args:
        velocity: also its own measurement of that.
        error: also its error code, which not every drive has or lets be mapped.
    """
    own = [m for m, wanted in ((_ERROR, error), (_VELOCITY, velocity)) if wanted]
    return [_STATUSWORD, _MODE_DISPLAY, _POSITION, _TORQUE, *own]


def into_pdos(mapped: Iterable[Mapped]) -> list[list[Mapped]]:
    """The objects in as few PDOs of 8 bytes as first-fit finds, the largest objects first."""
    pdos: list[list[Mapped]] = []
    for one in sorted(mapped, key=lambda m: -m.size):
        place = next((pdo for pdo in pdos if sum(m.size for m in pdo) + one.size <= 8), None)
        if place is None:
            pdos.append(place := [])
        place.append(one)
    return pdos
