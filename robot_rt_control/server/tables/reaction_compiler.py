"""From reactions' definitions, which are valid, to their rows in the tables: conditions compiled, names resolved."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from robot_rt_control.conditions.compiler import CompiledCondition, compile_condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.definitions import ReactionDefinition
from robot_rt_control.memory.layout import reaction_dtype
from robot_rt_control.server.tables.entities import DefinedAction, DefinedReaction, SessionContents
from robot_rt_control.server.tables.table_composer import ReactionBlock
from robot_rt_control.validation.catalogue import Catalogue
from robot_rt_control.validation.scope import Scope
from robot_rt_control.vocabulary.enums import ReactionFlag
from robot_rt_control.vocabulary.names import SESSION


class ReactionCompiler:
    """Compiles the reactions of one owner, which `validation` found right.

    Args:
        contents: of the session.
        actions: all its actions, those being defined included, by id.
        workcell: state variables of parts and system, by full name.
        owner: the action that owns the reactions; None: they are free-standing.
    """

    def __init__(
        self,
        contents: SessionContents,
        actions: Mapping[str, DefinedAction],
        workcell: Mapping[str, VariableRef],
        owner: DefinedAction | None,
    ) -> None:
        self._session_index, self._actions, self._owner = contents.index, actions, owner
        variables = {id_: action.variables for id_, action in actions.items()} | {SESSION: contents.variables.refs}
        self._scope = Scope(Catalogue(parts={}, variables=workcell), variables)
        self._owner_id = owner.id if owner is not None else ""

    def compile(
        self,
        definitions: Sequence[ReactionDefinition],
        identities: Sequence[int],
        runtime_slots: Sequence[int],
        taken_names: Collection[str] = (),
    ) -> tuple[DefinedReaction, ...]:
        """Compile reactions, in the order in which they are judged.

        Args:
            identities, runtime_slots: one for each reaction.
            taken_names: of the owner's earlier reactions.
        """
        names = self._names(definitions, taken_names)
        rows = np.zeros(len(definitions), reaction_dtype)
        rows["identity"], rows["runtime_slot"] = identities, runtime_slots
        rows["session"] = self._session_index
        rows["owner"] = self._owner.entry.slot if self._owner is not None else -1
        rows["signal_action"] = rows["leaves"] = -1
        conditions = []
        for i, definition in enumerate(definitions):
            conditions.append(compile_condition(definition.condition, self._resolve))
            self._fill(rows[i], definition)
        rows["n_instructions"] = [len(c.instructions) for c in conditions]
        defined = []
        for i, (definition, name, condition) in enumerate(zip(definitions, names, conditions, strict=True)):
            defined.append(
                DefinedReaction(
                    identity=identities[i],
                    name=name,
                    owner=self._owner_id,
                    definition=definition,
                    mentions=self._mentions(definition, condition),
                    runtime_slot=runtime_slots[i],
                    block=ReactionBlock(rows[i : i + 1], condition.instructions),
                )
            )
        return tuple(defined)

    def condition(self, text: str) -> tuple[CompiledCondition, frozenset[str]]:
        """A condition of the owner, and the ids of the other actions that it reads."""
        compiled = compile_condition(text, self._resolve)
        found = {self._scope.action_of(name, self._owner_id) for name in compiled.variables}
        return compiled, frozenset(found - {""})

    def variable(self, name: str) -> tuple[int, frozenset[str]]:
        """The offset of a state variable that the owner reads, and the ids of the other actions that have it."""
        return self._resolve(name).offset, frozenset({self._scope.action_of(name, self._owner_id)} - {""})

    def _names(self, definitions: Sequence[ReactionDefinition], taken: Collection[str]) -> list[str]:
        """The reactions' names, made up where they have none."""
        used = set(taken)
        used.update(definition.name for definition in definitions)
        names, number = [], len(taken)
        for definition in definitions:
            name = definition.name
            number += 1
            while not name:
                name = f"reaction_{number}"
                if name in used:
                    name, number = "", number + 1
            used.add(name)
            names.append(name)
        return names

    def _fill(self, row: np.record, definition: ReactionDefinition) -> None:
        flags = ReactionFlag(0)
        if definition.fire_once:
            flags |= ReactionFlag.FIRE_ONCE
        if definition.stop:
            flags |= ReactionFlag.STOP
        if definition.event:
            flags |= ReactionFlag.EVENT
        if definition.keep_owner:
            flags |= ReactionFlag.KEEP_OWNER
        row["flags"] = int(flags)
        row["n_starts"] = len(definition.start)
        row["starts"][: len(definition.start)] = [self._actions[id].entry.slot for id in definition.start]
        if definition.leaves:
            row["leaves"] = self._actions[self._owner_id].prepared.within.index(definition.leaves)
        if definition.signal:
            action, _, signal = definition.signal.rpartition(".")
            target = self._actions[action or self._owner_id]
            row["signal_action"] = target.entry.slot
            row["signal"] = target.type.declared.signals.index(signal)
        row["n_captures"] = len(definition.capture)
        for i, name in enumerate(definition.capture):
            row["captures"][i] = self._resolve(name).offset

    def _resolve(self, name: str) -> VariableRef:
        ref = self._scope.resolve(name, self._owner_id)
        assert ref is not None  # the server knows its parts and types
        return ref

    def _mentions(self, definition: ReactionDefinition, condition: CompiledCondition) -> frozenset[str]:
        named = (*condition.variables, *definition.capture)
        found = {self._scope.action_of(name, self._owner_id) for name in named}
        found |= {*definition.start, definition.signal.rpartition(".")[0]}
        return frozenset(found - {"", self._owner_id})
