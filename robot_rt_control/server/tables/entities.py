"""What is defined, as the server keeps it: immutable, so that a change that fails leaves everything as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.action_type import ACTION_VARIABLES
from robot_rt_control.definitions.definitions import ReactionDefinition
from robot_rt_control.memory.layout import governed_dtype, offset_of, world_dtype
from robot_rt_control.recording.reaction_names import NamedReaction
from robot_rt_control.server.tables.preparation import PreparedAction
from robot_rt_control.server.tables.session_variables import SessionVariables
from robot_rt_control.server.tables.table_composer import ActionEntry, ReactionBlock
from robot_rt_control.server.types.action_types import RegisteredType
from robot_rt_control.validation.scope import STRATEGY_VARIABLES, variables_of_type

_STATE_ARENA = offset_of(world_dtype, "state_arena")


@dataclass(frozen=True, eq=False, kw_only=True)
class DefinedReaction:
    """A reaction in the tables."""

    identity: int
    name: str
    owner: str
    """Id of its action; empty: free-standing."""
    definition: ReactionDefinition
    mentions: frozenset[str]
    """Ids of the other actions that it starts, signals or reads."""
    runtime_slot: int
    block: ReactionBlock

    @property
    def event(self) -> str:
        """Name of its event; empty: none."""
        return self.definition.event

    @property
    def captures(self) -> tuple[str, ...]:
        """Names of the state variables that its event carries."""
        return self.definition.capture

    @property
    def named(self) -> NamedReaction:
        """As recordings have it."""
        of = self.definition
        return NamedReaction(
            identity=self.identity, name=self.name, owner=self.owner, event=of.event, condition=of.condition,
            starts=of.start, values=of.capture,
        )  # fmt: skip

    @property
    def label(self) -> str:
        """How messages call it."""
        owner = f"of action {self.owner!r}" if self.owner else "(free-standing)"
        return f"reaction {self.name!r} {owner}"


@dataclass(frozen=True, eq=False, kw_only=True)
class DefinedAction:
    """An action with its place in the tables."""

    prepared: PreparedAction
    entry: ActionEntry
    variables: Mapping[str, VariableRef]
    """Its state variables, by bare name."""
    reactions: tuple[DefinedReaction, ...] = ()
    mentions: frozenset[str] = frozenset()
    """Ids of the other actions that the conditions of its strategies read."""

    @property
    def id(self) -> str:
        return self.prepared.id

    @property
    def type(self) -> RegisteredType:
        return self.prepared.type

    @property
    def moved_parts(self) -> tuple[str, ...]:
        """Names of the parts that it commands."""
        return tuple(p.name for p in self.prepared.parts[: len(self.entry.moved_parts)])


def variables_of(registered: RegisteredType, slot: int, state_offset: int) -> Mapping[str, VariableRef]:
    """Where the state variables of an action are, by bare name.

    Args:
        slot: of the action.
        state_offset: of its state record in the state arena [bytes].
    """
    return variables_of_type(
        registered.declared,
        _STATE_ARENA + state_offset + 8 * len(registered.declared.signals),
        {v.name: offset_of(world_dtype, "actions_runtime", slot, v.name) for v in ACTION_VARIABLES},
    )


def variables_of_axis(name: str, state_offset: int) -> dict[str, VariableRef]:
    """Where the state variables of a degree of freedom with strategies are, by their names in the action.

    Args:
        state_offset: of its `governed_dtype` in the state arena [bytes].
    """
    first = _STATE_ARENA + state_offset
    return {
        f"{name}.{variable}": VariableRef(first + offset_of(governed_dtype, variable), "int")
        for variable in STRATEGY_VARIABLES
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class SessionContents:
    """Everything that one session has defined."""

    identity: int
    index: int
    """In the tables; stays for as long as the session lives."""
    actions: Mapping[str, DefinedAction] = field(default_factory=dict)
    reactions: Mapping[str, DefinedReaction] = field(default_factory=dict)
    """Free-standing ones, by name."""
    variables: SessionVariables = field(default_factory=SessionVariables)
    used_ids: frozenset[str] = frozenset()
    """Ids of all actions that it ever had."""
