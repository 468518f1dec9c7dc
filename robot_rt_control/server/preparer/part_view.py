"""A part as action types see it when an action is defined: what the workcell says, and the state last seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_rt_control.memory.layout import measured_dtype
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.part_facts import LIMITS, Array, PartFacts, worn


class PartView(PartFacts):
    """A part of the workcell.

    Args:
        description: of the workcell.
        measured: gives what was measured of all parts in the last tick, `layout.measured_dtype` by index; None: there
            was no tick yet.
    """

    def __init__(self, description: PartDescription, measured: Callable[[], np.ndarray | None]) -> None:
        super().__init__(description)
        self.measured = measured

    @property
    def index(self) -> int:
        """Position in the workcell, and in the world's `parts`."""
        return self.description.index

    @property
    def record(self) -> np.record:
        """A copy of the part's record: limits and chain, with the tool that is on, and what was measured and
        commanded in the last tick."""
        record = super().record
        measured = self.measured()
        if measured is not None:
            for name in measured_dtype.names or ():
                record[name] = measured[self.index][name]
        return worn(record, self.description, float(record.tool_number))

    def limits(self, name: str) -> Array:
        """As PartFacts. Only tools change limits: without them nobody needs what the loop has measured, which is a copy
        of the whole workcell."""
        if self.description.tools or name not in LIMITS:
            return super().limits(name)
        return np.array(self.description.initial_record[name][: self.dof])
