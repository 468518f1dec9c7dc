"""What is defined, as the server keeps it: immutable, so that a change that fails leaves everything as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from robot_rt_control.program.action_type import ActionType, ParameterValue
from robot_rt_control.program.definitions import ActionDefinition
from robot_rt_control.server.action_types import RegisteredType
from robot_rt_control.server.table_composer import ActionEntry, ReactionBlock


@dataclass(frozen=True, eq=False, kw_only=True)
class DefinedReaction:
    """A reaction in the tables."""

    identity: int
    name: str
    owner: str
    """Id of its action; empty: free-standing."""
    event: str
    captures: tuple[str, ...]
    mentions: frozenset[str]
    """Ids of the other actions that it starts, signals or reads."""
    runtime_slot: int
    block: ReactionBlock


@dataclass(frozen=True, eq=False, kw_only=True)
class DefinedAction:
    """An action in the tables."""

    id: str
    type: RegisteredType
    parts: tuple[str, ...]
    """Names, in the order of the type's slots."""
    definition: ActionDefinition | None
    """None: an action of the system."""
    instance: ActionType
    values: Mapping[str, ParameterValue]
    entry: ActionEntry
    reactions: tuple[DefinedReaction, ...] = ()

    @property
    def moved_parts(self) -> tuple[str, ...]:
        """Names of the parts that it commands."""
        return self.parts[: len(self.entry.moved_parts)]


@dataclass(frozen=True, eq=False, kw_only=True)
class SessionContents:
    """Everything that one session has defined."""

    identity: int
    index: int
    actions: Mapping[str, DefinedAction] = field(default_factory=dict)
    reactions: Mapping[str, DefinedReaction] = field(default_factory=dict)
    """Free-standing ones, by name."""
