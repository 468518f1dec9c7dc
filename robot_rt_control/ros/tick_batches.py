"""Every tick of the loop as bytes on a topic: names once, then batches of rows. Written by the executor's node, read by
the editor's process.

A row has one word of eight bytes for each column: the first one is the tick. Integers are int64, all others float64. A
column that does not change within a batch is sent once: of a robot at rest these are most.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

NAMES, VALUES = "ticks/names", "ticks/values"
"""Topics below the executor's node: std_msgs/String, kept for who comes later; std_msgs/UInt8MultiArray."""
MAX_ROWS = 500
"""Ticks of a batch at most."""
MAX_WORDS = 1 << 22
"""Rows times columns of a batch at most: a column that does not change takes no room in the message, but does here."""
_SHORTEST_S, _LONGEST_S = 1e-6, 60.0
"""[s] A loop's period is at least the first, and less than the second."""
_HEAD = struct.Struct("<4I")
"""Version of the names, rows, columns, bytes of the JSON at the end."""


@dataclass(frozen=True, kw_only=True)
class TickNames:
    """What the columns of batches with the same version are."""

    version: int
    """Begins at a random number: another one is another executor."""
    period: float
    """[s]"""
    columns: int
    variables: Mapping[str, int]
    """Name of a state variable, or of a value of the loop → its column."""
    actions: Mapping[str, int]
    """Part → the column with the identity of its active action, an integer; 0: none."""
    integers: frozenset[int]
    """Columns of integers."""

    joints: Mapping[str, int] = field(default_factory=dict)
    """Name in joint_states → the column of its measured position [rad or m], in the order of joint_states."""
    faults: Mapping[str, int] = field(default_factory=dict)
    """Part → the column with its FaultReason."""

    def text(self) -> str:
        return json.dumps({**asdict(self), "integers": sorted(self.integers)})


def names_of(text: str) -> TickNames:
    """Raises ValueError: it is no text of `TickNames`."""
    try:
        found = json.loads(text)
        variables, actions, joints, faults = (
            {str(name): int(column) for name, column in found[key].items()}
            for key in ("variables", "actions", "joints", "faults")
        )
        names = TickNames(
            version=int(found["version"]), period=float(found["period"]), columns=int(found["columns"]),
            variables=variables, actions=actions, joints=joints, faults=faults,
            integers=frozenset(map(int, found["integers"])),
        )  # fmt: skip
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError) as error:
        raise ValueError(f"names of ticks: {error!r}") from None
    places = (variables.values(), actions.values(), joints.values(), faults.values(), names.integers)
    columns = set().union(*places)
    if not (_SHORTEST_S <= names.period < _LONGEST_S and all(0 <= column < names.columns for column in columns)):
        raise ValueError("names of ticks: a column that there is not, or no period")
    return names


@dataclass(frozen=True, kw_only=True)
class TickBatch:
    """Ticks in ascending order; some may be missing."""

    version: int
    rows: NDArray[np.int64]
    """(n, columns), float64 as their bits."""
    action_names: Mapping[int, str]
    """Identity → id of the actions that are active in these rows, as far as known."""

    def packed(self) -> array[int]:
        """The data of the message on VALUES."""
        rows = np.ascontiguousarray(self.rows, np.int64)
        varies = (rows != rows[0]).any(axis=0)
        names = json.dumps(dict(self.action_names)).encode()
        return array(
            "B",
            b"".join((
                _HEAD.pack(self.version, *rows.shape, len(names)),
                np.packbits(varies).tobytes(),
                rows[0].tobytes(),
                np.ascontiguousarray(rows[1:, varies]).tobytes(),
                names,
            )),
        )  # fmt: skip


def batch_of(data: bytes) -> TickBatch:
    """Raises ValueError: it is no batch."""
    if len(data) < _HEAD.size:
        raise ValueError("a batch of ticks that ends too early")
    version, n, columns, n_names = _HEAD.unpack_from(data)
    if not (0 < n <= MAX_ROWS and 0 < columns <= len(data) // 8 and n * columns <= MAX_WORDS):
        raise ValueError("a batch of ticks of another size")
    at = _HEAD.size + (columns + 7) // 8
    varies = np.unpackbits(np.frombuffer(data[_HEAD.size : at], np.uint8), count=columns).astype(bool)
    changing = int(varies.sum())
    if len(data) != at + 8 * (columns + (n - 1) * changing) + n_names:
        raise ValueError("a batch of ticks of another length")
    rows = np.empty((n, columns), np.int64)
    rows[:] = np.frombuffer(data, np.int64, columns, at)
    at += 8 * columns
    rows[1:, varies] = np.frombuffer(data, np.int64, (n - 1) * changing, at).reshape(n - 1, changing)
    try:
        names = {int(key): str(name) for key, name in json.loads(data[len(data) - n_names :]).items()}
    except (AttributeError, RecursionError, ValueError) as error:
        raise ValueError(f"a batch of ticks: {error!r}") from None
    if (np.diff(rows[:, 0]) <= 0).any() or rows[0, 0] < 0:
        raise ValueError("a batch of ticks that are not in order")
    return TickBatch(version=version, rows=rows, action_names=names)
