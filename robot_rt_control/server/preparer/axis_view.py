"""One degree of freedom, as a law sees it when its strategy is defined: a part with one joint."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, Degree
from robot_rt_control.memory.layout import JOINT_FIELDS, degree_dtype, part_dtype
from robot_rt_control.model.workcell.part_facts import PartFacts
from robot_rt_control.server.preparer.part_view import PartView
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

LIMITS = (
    *("position_lower", "position_upper"),
    *("velocity_limit", "acceleration_limit", "jerk_limit", "effort_limit", "effort_rate_limit"),
)
"""Fields of `layout.degree_dtype`, for a declared degree of freedom."""
_JOINT_TYPES = {"m": "prismatic", "rad": "continuous"}


@dataclass(frozen=True, kw_only=True)
class AxisDescription:
    """A degree of freedom as data, so that a process beside the server can make its view."""

    part: str
    """The part that it belongs to."""
    name: str
    """Name of the joint, or of a degree of freedom that the action's type declares."""
    joint_type: str
    start: float = 0.0
    """Its position at first [rad or m]."""
    limits: tuple[float, ...] | None = None
    """`LIMITS` of a declared degree of freedom; None: those of the joint."""


class AxisView(PartFacts):
    """A degree of freedom of a part."""

    def __init__(self, part: PartView, axis: AxisDescription) -> None:
        super().__init__(
            replace(
                part.description,
                name=f"{axis.part}.{axis.name}",
                kind=PartKind.AXIS,
                joint_names=(axis.name,),
                joint_types=(axis.joint_type,),
                start_position=np.array([axis.start]),
            )
        )
        self.axis = axis
        self._part = part
        self.workcell = part.workcell

    @property
    def record(self) -> np.record:
        """A record with this joint alone: as in the loop, without chain and tool."""
        whole = self._part.record
        one: np.record = np.zeros(1, part_dtype)[0]
        one.dof, one.dt = 1, whole.dt
        if self.axis.limits is None:
            joint = self._part.joint_names.index(self.axis.name)
            for name in JOINT_FIELDS:
                one[name][0] = whole[name][joint]
        else:
            for name, limit in zip(LIMITS, self.axis.limits, strict=True):
                one[name][0] = limit
        return one


def joint_views(part: PartView) -> dict[str, AxisView]:
    """The joints of a part, by name."""
    described = part.description
    joints = zip(part.joint_names, described.joint_types, described.start_position, strict=True)
    return {
        name: AxisView(part, AxisDescription(part=part.name, name=name, joint_type=kind, start=float(start)))
        for name, kind, start in joints
    }


def degree_limits(instance: ActionType, params: np.record) -> np.ndarray:
    """The limits of the degrees of freedom that an action's type declares. Runs `prepare_degrees` of its author.

    Returns:
        (n, len(LIMITS)).

    Raises:
        DefinitionError: a limit is NaN, or that of a size is negative.
    """
    declared = type(instance).degrees_of_freedom
    records: np.recarray = np.zeros(len(declared), degree_dtype)  # type: ignore[assignment]  # of records
    for name in LIMITS:
        records[name] = -np.inf if name == "position_lower" else np.inf
    instance.prepare_degrees(params, records)
    limits = np.array([records[name] for name in LIMITS]).T
    for degree, found in zip(declared, limits, strict=True):
        for name, limit in zip(LIMITS, found.tolist(), strict=True):
            least = 0.0 if name.endswith("_limit") else -math.inf
            if not limit >= least:  # NaN as well
                raise DefinitionError(
                    f"prepare_degrees: {name} of degree of freedom {degree.name!r}",
                    expected=f"a number, at least {least:g}",
                    got=f"{limit:g}",
                )
    return limits


def degree_views(part: PartView, degrees: tuple[Degree, ...], limits: np.ndarray) -> dict[str, AxisView]:
    """The degrees of freedom that an action's type declares, by name.

    Args:
        limits: from `degree_limits`.
    """
    return {
        degree.name: AxisView(
            part,
            AxisDescription(
                part=part.name, name=degree.name, joint_type=_JOINT_TYPES[degree.unit], limits=tuple(limit.tolist())
            ),
        )
        for degree, limit in zip(degrees, limits, strict=True)
    }
