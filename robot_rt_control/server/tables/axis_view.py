"""One joint of a part, as a law sees it when its strategy is defined: a part with one joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_rt_control.memory.layout import JOINT_FIELDS, part_dtype
from robot_rt_control.model.part_facts import PartFacts
from robot_rt_control.server.tables.part_view import PartView
from robot_rt_control.vocabulary.enums import PartKind


class AxisView(PartFacts):
    """A degree of freedom.

    Args:
        part: the part that it belongs to.
        joint: index of the joint.
    """

    def __init__(self, part: PartView, joint: int) -> None:
        name = part.joint_names[joint]
        one = slice(joint, joint + 1)
        super().__init__(
            replace(
                part.description,
                name=f"{part.name}.{name}",
                kind=PartKind.AXIS,
                joint_names=(name,),
                joint_types=part.description.joint_types[one],
                start_position=part.description.start_position[one],
            )
        )
        self.part, self.joint = part, joint
        self.workcell = part.workcell

    @property
    def record(self) -> np.record:
        """A record with this joint alone: as in the loop, without chain and tool."""
        whole = self.part.record
        one: np.record = np.zeros(1, part_dtype)[0]
        one.dof, one.dt = 1, whole.dt
        for name in JOINT_FIELDS:
            one[name][0] = whole[name][self.joint]
        return one
