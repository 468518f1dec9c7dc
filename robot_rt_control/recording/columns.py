"""The columns of a recorded tick."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.joint_modes import split_modes

TICK, TIME = "tick", "time_ns"
"""Columns of each recording: the tick, and its start on the loop's clock."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """An array of each tick: `width` words of eight bytes. In a file's metadata these fields are JSON."""

    name: str
    width: int = 1
    integer: bool = False
    scalar: bool = True
    """It is one number; else an array, also with one element."""
    modes_of: int = 0
    """It is one word with the modes of so many joints, see memory/joint_modes.py."""


def split_rows(rows: np.ndarray, columns: Sequence[Column]) -> dict[str, np.ndarray]:
    """Name → array over the ticks, of float64 or int64.

    Args:
        rows: int64 of shape (n, sum of all widths).
    """
    found, place = {}, 0
    for column in columns:
        block = rows[:, place : place + column.width]
        values = block if column.integer else block.view(np.float64)
        if column.modes_of:
            values = split_modes(values, column.modes_of)
        found[column.name] = values[:, 0] if column.scalar and not column.modes_of else values
        place += column.width
    return found


def field_names(columns: Iterable[Column]) -> list[str]:
    """A name for each column that a ROS message may have: `arm.position` is `arm_position`."""
    found: list[str] = []
    for column in columns:
        name = re.sub(r"[^a-z0-9]+", "_", column.name.lower()).strip("_")
        name = name if name[:1].isalpha() else f"x{name}"
        while name in found:
            name += "x"
        found.append(name)
    return found
