"""A part as action types see it when an action is defined: what the workcell says, and the state last seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_rt_control.memory.layout import measured_dtype
from robot_rt_control.model.part_description import PartDescription
from robot_rt_control.model.part_facts import PartFacts


class PartView(PartFacts):
    """A part of the workcell.

    Args:
        description: of the workcell.
        snapshot: gives the last tick's snapshot (`layout.snapshot_dtype`); None: there was no tick yet.
    """

    def __init__(self, description: PartDescription, snapshot: Callable[[], np.record | None]) -> None:
        super().__init__(description)
        self._snapshot = snapshot

    @property
    def index(self) -> int:
        """Position in the workcell, and in the world's `parts`."""
        return self.description.index

    @property
    def record(self) -> np.record:
        """A copy of the part's record: limits and chain, and what was measured and commanded in the last tick."""
        record = super().record
        snapshot = self._snapshot()
        if snapshot is not None:
            measured = snapshot.parts[self.index].measured
            for name in measured_dtype.names or ():
                record[name] = measured[name]
        return record
