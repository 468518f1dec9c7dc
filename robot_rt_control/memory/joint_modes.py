"""The command modes of a part's joints in one word: so what the loop, images and drivers hand on costs as one mode.

Each joint has four bits, joint 0 the lowest: its CommandMode. All NONE is 0.

`part.joint_modes` is such a word of overrides: 0, no override; else the mode plus one. So a joint without
override has the mode of its part, `part.command_mode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_rt_control.native.realtime_code import entry, realtime
from robot_rt_control.vocabulary.capacities import MAX_JOINTS
from robot_rt_control.vocabulary.enums import CommandMode

_ALL = sum(1 << 4 * j for j in range(MAX_JOINTS))
_LAST = int(max(CommandMode))
_NO_MODE = 6
"""What is none: no hardware supports it."""


@entry
def mode_of(modes: int, j: int) -> int:
    """The mode of joint j."""
    return (modes >> (4 * j)) & 7


@entry
def with_mode(modes: int, j: int, mode: int) -> int:
    """The word with another mode of joint j."""
    return (modes & ~(7 << (4 * j))) | (mode << (4 * j))


@realtime
def override_mode(part: Any, j: int, mode: int) -> None:
    """Let joint j of a part have a mode of its own in this tick; NONE: the loop brakes and holds it."""
    if mode < 0 or mode > _LAST:
        mode = _NO_MODE
    part.joint_modes = with_mode(part.joint_modes, j, mode + 1)


@realtime
def commanded_modes(part: Any) -> int:
    """The modes in which the joints of a part are commanded. `part.command_mode` is a CommandMode."""
    modes = part.command_mode * _ALL
    if part.joint_modes != 0:
        for j in range(part.dof):
            override = mode_of(part.joint_modes, j)
            if override != 0:
                modes = with_mode(modes, j, override - 1)
    return modes


def pack_modes(modes: Sequence[CommandMode]) -> int:
    """The word of these modes, one for each joint."""
    return sum(mode << 4 * j for j, mode in enumerate(modes))


def unpack_modes(word: int, n: int) -> tuple[CommandMode, ...]:
    """The modes of the first n joints. Raises: ValueError, if one is none."""
    return tuple(CommandMode((word >> 4 * j) & 15) for j in range(n))


def split_modes(words: np.ndarray, n: int) -> np.ndarray:
    """The modes of the first n joints, shape (m, n), of words of shape (m, 1)."""
    return (words >> 4 * np.arange(n)) & 7
