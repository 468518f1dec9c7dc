"""One degree of freedom, as a law sees it when its strategy is defined: a part with one joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.memory.layout import JOINT_FIELDS, degree_dtype, part_dtype
from robot_rt_control.model.part_facts import PartFacts
from robot_rt_control.server.tables.part_view import PartView
from robot_rt_control.vocabulary.enums import PartKind


class AxisView(PartFacts):
    """A degree of freedom.

    Args:
        part: the part that it belongs to.
        name: of the joint, or of a degree of freedom that the action's type declares.
        joint_type: as those of a part's joints.
        start: its position at first [rad or m].
        declared: limits of a declared degree of freedom, of `layout.degree_dtype`; None: those of the joint.
    """

    def __init__(
        self, part: PartView, name: str, joint_type: str, start: float, declared: np.record | None = None
    ) -> None:
        super().__init__(
            replace(
                part.description,
                name=f"{part.name}.{name}",
                kind=PartKind.AXIS,
                joint_names=(name,),
                joint_types=(joint_type,),
                start_position=np.array([start]),
            )
        )
        self._part, self._declared = part, declared
        self.workcell = part.workcell

    @property
    def record(self) -> np.record:
        """A record with this joint alone: as in the loop, without chain and tool."""
        whole = self._part.record
        one: np.record = np.zeros(1, part_dtype)[0]
        one.dof, one.dt = 1, whole.dt
        for name in JOINT_FIELDS:
            one[name][0] = (
                whole[name][self._part.joint_names.index(self.joint_names[0])]
                if self._declared is None
                else self._declared[name]
            )
        return one


def joint_views(part: PartView) -> dict[str, AxisView]:
    """The joints of a part, by name."""
    described = part.description
    joints = zip(part.joint_names, described.joint_types, described.start_position, strict=True)
    return {name: AxisView(part, name, kind, float(start)) for name, kind, start in joints}


def degree_views(part: PartView, instance: ActionType, params: np.record) -> dict[str, AxisView]:
    """The degrees of freedom that an action's type declares, by name. Runs `prepare_degrees` of its author."""
    declared = type(instance).degrees_of_freedom
    limits: np.recarray = np.zeros(len(declared), degree_dtype)  # type: ignore[assignment]  # of records
    limits["position_lower"] = -np.inf
    for name in ("position_upper", "velocity_limit", "acceleration_limit", "jerk_limit", "effort_limit"):
        limits[name] = np.inf
    instance.prepare_degrees(params, limits)
    kinds = {"m": "prismatic", "rad": "continuous"}
    return {d.name: AxisView(part, d.name, kinds[d.unit], 0.0, limits[i]) for i, d in enumerate(declared)}
