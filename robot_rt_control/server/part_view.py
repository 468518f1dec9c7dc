"""A part as action types see it when an action is defined: what the workcell says, and the state last seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.program.layout import measured_dtype
from robot_rt_control.program.vocabulary import PartKind


class PartView:
    """Implements the `Part` protocol of action_type.py.

    Args:
        description: of the workcell.
        snapshot: gives the last tick's snapshot (`layout.snapshot_dtype`); None: there was no tick yet.
    """

    def __init__(self, description: PartDescription, snapshot: Callable[[], np.record | None]) -> None:
        self._description, self._snapshot = description, snapshot

    @property
    def name(self) -> str:
        return self._description.name

    @property
    def index(self) -> int:
        """Position in the workcell, and in the world's `parts`."""
        return self._description.index

    @property
    def kind(self) -> PartKind:
        return self._description.kind

    @property
    def dof(self) -> int:
        return self._description.dof

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self._description.joint_names

    @property
    def joint_unit(self) -> str:
        """Unit of its joints' positions: rad or m; "rad or m" where it has both."""
        return " or ".join(sorted(set(self._description.units), reverse=True))

    @property
    def input_names(self) -> tuple[str, ...]:
        return self._description.input_names

    @property
    def output_names(self) -> tuple[str, ...]:
        return self._description.output_names

    @property
    def record(self) -> np.record:
        """A copy of the part's record: limits and chain, and what was measured and commanded in the last tick."""
        record = self._description.record
        snapshot = self._snapshot()
        if snapshot is not None:
            measured = snapshot.parts[self.index].measured
            for name in measured_dtype.names or ():
                record[name] = measured[name]
        return record
