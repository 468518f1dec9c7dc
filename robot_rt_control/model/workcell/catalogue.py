"""The workcell as definitions see it: parts, and state variables with their offsets in the loop's memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.model.workcell.state_variables import part_state_variables
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.validation.catalogue import Catalogue, KnownPart


@dataclass(frozen=True)
class VariableInfo:
    """A state variable, for listing."""

    name: str
    type: str
    unit: str
    description: str
    offset: int
    """Offset of its float64 from the start of the world [bytes]."""
    length: int = 1
    """Elements of a vector; 1: it is a number."""

    @property
    def ref(self) -> VariableRef:
        """The data that the condition compiler needs."""
        return VariableRef(self.offset, self.type, self.unit, self.length)


SYSTEM_VARIABLES = (
    VariableInfo("time", "float", "s", "time since the loop's first tick", offset_of(world_dtype, "time")),
    VariableInfo("speed", "float", "", "speed override, 0 to 1", offset_of(world_dtype, "speed")),
    VariableInfo(
        "protective_stop",
        "bool",
        "",
        "whether a protective stop holds all parts",
        offset_of(world_dtype, "protective_stop"),
    ),
)


def workcell_variables(workcell: Workcell) -> dict[str, VariableInfo]:
    """The state variables of the system and of all parts, by full name."""
    table = {v.name: v for v in SYSTEM_VARIABLES}
    for part in workcell.parts:
        base = offset_of(world_dtype, "parts", part.index)
        for v in part_state_variables(part):
            table[v.name] = VariableInfo(v.name, v.type, v.unit, v.description, base + v.offset, v.length)
    return table


def workcell_catalogue(workcell: Workcell | None, types: Iterable[DeclaredType]) -> Catalogue:
    """The catalogue against which definitions are checked.

    Args:
        workcell: None: the workcell is not known, and parts may have any name.
    """
    by_name = {t.name: t for t in types}
    if workcell is None:
        return Catalogue(types=by_name, variables={v.name: v.ref for v in SYSTEM_VARIABLES})
    parts = {
        part.name: KnownPart(
            kinds=(part.kind.name.lower(),),
            dof=part.dof,
            joint_unit=joint_unit(part),
            joints=dict(zip(part.joint_names, part.units, strict=True)),
            command_modes=tuple(mode.name.lower() for mode in part.command_modes),
        )
        for part in workcell.parts
    }
    variables = {name: variable.ref for name, variable in workcell_variables(workcell).items()}
    return Catalogue(types=by_name, parts=parts, variables=variables)


def joint_unit(part: PartDescription) -> str:
    """Unit of its joints' positions: rad or m; "rad or m" if it has both."""
    return " or ".join(sorted(set(part.units), reverse=True))
