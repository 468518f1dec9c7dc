"""What a real-time function may do to its records: fields that exist, and those that may be written."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_rt_control.memory.layout import COMMAND_FIELDS
from robot_rt_control.vocabulary.errors import unknown

ALL, COMMANDS, NOTHING = "all", "commands", "nothing"
"""What of a record may be written: everything (state), the command fields (part), nothing (parameters)."""


@dataclass(frozen=True)
class Data:
    """A record, or an array in it, that an expression stands for."""

    label: str
    dtype: np.dtype
    shape: tuple[int, ...]
    """() is one record or number; -1 where a slice makes the length unknown."""
    writable: str
    root: str
    """Where it belongs: "state", "params" or "part"."""
    slot: int = -1
    """Index of the slot, for a part."""
    member: str = ""
    """Field of the record that it is in, if it belongs to a record of the method's parameters."""

    @property
    def is_array(self) -> bool:
        return self.shape != ()

    @property
    def is_record(self) -> bool:
        return self.shape == () and self.dtype.names is not None

    def field(self, name: str) -> Data | None:
        """The field of a record, None if there is no such field."""
        if not self.is_record or self.dtype.fields is None or name not in self.dtype.fields:
            return None
        dtype = self.dtype.fields[name][0]
        base, shape = dtype.subdtype if dtype.subdtype is not None else (dtype, ())
        writable = self.writable
        if writable == COMMANDS:
            writable = ALL if name in COMMAND_FIELDS else NOTHING
        return Data(f"{self.label}.{name}", base, shape, writable, self.root, self.slot, self.member or name)

    def unknown_field(self, name: str) -> str:
        """What is wrong with a field name."""
        return f"{self.label} has no field {name!r}; {unknown('field', name, self.dtype.names or ())}"

    def indexed(self, steps: list[int | None], label: str) -> Data:
        """An element or a slice: for each index, a slice (None) keeps its dimension, a number takes it away."""
        shape = [(-1 if step is None else None) for step in steps]
        rest = [n for n in shape if n is not None]
        return replace(self, label=label, shape=(*rest, *self.shape[len(steps) :]))

    @property
    def write_hint(self) -> str:
        """Where to write instead."""
        if self.root == "part" and self.member in COMMAND_FIELDS:
            return "Its slot only reads (moves=False): declare a slot that moves to command the part"
        if self.root == "part":
            return f"Of a part, an action writes {', '.join(COMMAND_FIELDS)}; keep its own values in fields of State"
        return "Parameters are read-only in real time: copy them to a field of State and change that"


def least_writable(one: Data | None, other: Data | None) -> Data | None:
    """The one that may be written least, of what a name may stand for."""
    if one is None or other is None:
        return one or other
    order = (NOTHING, COMMANDS, ALL)
    return min(one, other, key=lambda d: order.index(d.writable))
