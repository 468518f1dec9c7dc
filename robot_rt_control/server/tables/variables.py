"""Names of state variables, and where each one is in the loop's memory (docs/semantics.md, C4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.model.state_variables import part_state_variables
from robot_rt_control.model.workcell import Workcell


@dataclass(frozen=True)
class VariableInfo:
    """A state variable, for listing."""

    name: str
    type: str
    unit: str
    description: str
    offset: int
    """Of its float64 from the start of the world [bytes]."""

    @property
    def ref(self) -> VariableRef:
        """What the condition compiler needs of it."""
        return VariableRef(self.offset, self.type, self.unit)


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
            table[v.name] = VariableInfo(v.name, v.type, v.unit, v.description, base + v.offset)
    return table


class VariableScope:
    """What the conditions and captures of one owner can name.

    Args:
        workcell: variables of parts and system, by full name.
        actions: action id → its variables, by bare name, of the same session.
        owner: id of the action whose reactions are resolved; empty: free-standing ones.
    """

    def __init__(
        self,
        workcell: Mapping[str, VariableRef],
        actions: Mapping[str, Mapping[str, VariableRef]],
        owner: str = "",
    ) -> None:
        self._workcell, self._actions = workcell, actions
        self._own: Mapping[str, VariableRef] = actions[owner] if owner else {}

    def resolve(self, name: str) -> VariableRef:
        """Where the variable is.

        Raises:
            KeyError: there is none of this name.
        """
        if name in self._own:
            return self._own[name]
        action, dot, variable = name.partition(".")
        if dot and action in self._actions:
            return self._actions[action][variable]
        return self._workcell[name]

    def action_of(self, name: str) -> str | None:
        """The id of the other action whose variable this is; None: it is the owner's, a part's or the system's."""
        action, dot, _ = name.partition(".")
        return action if dot and name not in self._own and action in self._actions else None

    def known(self) -> Iterator[str]:
        """All names, for near matches."""
        yield from self._own
        for action, variables in self._actions.items():
            yield from (f"{action}.{name}" for name in variables)
        yield from self._workcell
