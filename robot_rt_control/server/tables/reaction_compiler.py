"""From reactions' definitions to their rows in the tables: conditions compiled, names resolved, references checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from robot_rt_control.conditions.compiler import CompiledCondition, compile_condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.definitions import ReactionDefinition
from robot_rt_control.memory.layout import reaction_dtype
from robot_rt_control.server.tables.entities import DefinedAction, DefinedReaction
from robot_rt_control.server.tables.table_composer import ReactionBlock
from robot_rt_control.server.tables.variables import VariableScope
from robot_rt_control.vocabulary.enums import ReactionFlag
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


class ReactionCompiler:
    """Compiles the reactions of one owner.

    Args:
        session_index: of the session in the tables.
        actions: all actions of the session, those being defined included, by id.
        workcell: state variables of parts and system, by full name.
        owner: the action that owns the reactions; None: they are free-standing.
    """

    def __init__(
        self,
        session_index: int,
        actions: Mapping[str, DefinedAction],
        workcell: Mapping[str, VariableRef],
        owner: DefinedAction | None,
    ) -> None:
        self._session_index, self._actions, self._owner = session_index, actions, owner
        variables = {id_: action.variables for id_, action in actions.items()}
        self._scope = VariableScope(workcell, variables, owner.id if owner is not None else "")
        self._of = f" of action {owner.id!r}" if owner is not None else ""

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

        Raises:
            DefinitionError: names the reaction and what it refers to wrongly.
        """
        names = self._names(definitions, taken_names)
        rows = np.zeros(len(definitions), reaction_dtype)
        rows["identity"], rows["runtime_slot"] = identities, runtime_slots
        rows["session"] = self._session_index
        rows["owner"] = self._owner.entry.slot if self._owner is not None else -1
        rows["start_action"] = rows["signal_action"] = -1
        conditions = []
        for i, (definition, name) in enumerate(zip(definitions, names, strict=True)):
            of = f"reaction {name!r}{self._of}"
            condition = compile_condition(
                definition.condition, self._scope.resolve, known=self._scope.known(), of=f"condition of {of}"
            )
            conditions.append(condition)
            self._fill(rows[i], definition, of)
        rows["n_instructions"] = [len(c.instructions) for c in conditions]
        defined = []
        for i, (definition, name, condition) in enumerate(zip(definitions, names, conditions, strict=True)):
            defined.append(
                DefinedReaction(
                    identity=identities[i],
                    name=name,
                    owner=self._owner.id if self._owner is not None else "",
                    event=definition.event,
                    captures=tuple(definition.capture),
                    mentions=self._mentions(definition, condition),
                    runtime_slot=runtime_slots[i],
                    block=ReactionBlock(rows[i : i + 1], condition.instructions),
                )
            )
        return tuple(defined)

    def _names(self, definitions: Sequence[ReactionDefinition], taken: Collection[str]) -> list[str]:
        """The reactions' names, made up where they have none."""
        used = set(taken)
        for definition in definitions:
            if definition.name and definition.name in used:
                raise DefinitionError(
                    f"reaction {definition.name!r}{self._of} is there already",
                    expected="a name that no other reaction of the same owner has",
                    got=repr(definition.name),
                )
            used.add(definition.name)
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

    def _fill(self, row: np.record, definition: ReactionDefinition, of: str) -> None:
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
        if definition.start:
            target = self._action(definition.start, f"{of} starts")
            if definition.keep_owner:
                self._check_beside_owner(target, of)
            row["start_action"] = target.entry.slot
        if definition.signal:
            self._fill_signal(row, definition.signal, of)
        row["n_captures"] = len(definition.capture)
        for i, name in enumerate(definition.capture):
            try:
                row["captures"][i] = self._scope.resolve(name).offset
            except KeyError:
                raise DefinitionError(
                    f"{of} captures an unknown state variable",
                    expected=unknown("state variable", name, self._scope.known()),
                    got=repr(name),
                ) from None

    def _action(self, name: str, what: str) -> DefinedAction:
        if name not in self._actions:
            raise DefinitionError(
                f"{what} an action that is not defined",
                expected=unknown("action", name, self._actions),
                got=repr(name),
            )
        return self._actions[name]

    def _check_beside_owner(self, target: DefinedAction, of: str) -> None:
        assert self._owner is not None  # definitions refuse keep_owner in a free-standing reaction
        shared = [p for p in target.moved_parts if p in self._owner.moved_parts]
        if shared:
            raise DefinitionError(
                f"{of} keeps its owner, but starts an action that takes a part from it",
                expected=f"an action that does not move {', '.join(self._owner.moved_parts)}",
                got=f"{target.id!r}, which moves {', '.join(shared)}",
                hint="Leave keep_owner out, or start an action with other parts",
            )

    def _fill_signal(self, row: np.record, reference: str, of: str) -> None:
        action, dot, signal = reference.rpartition(".")
        if dot:
            target = self._action(action, f"{of} signals")
        else:
            assert self._owner is not None  # definitions refuse a bare signal in a free-standing reaction
            target = self._owner
        signals = target.type.action_type.signals
        if signal not in signals:
            raise DefinitionError(
                f"{of} raises a signal that action {target.id!r} (type {target.type.name!r}) does not have",
                expected=unknown("signal", signal, signals),
                got=repr(signal),
            )
        row["signal_action"] = target.entry.slot
        row["signal"] = signals.index(signal)

    def _mentions(self, definition: ReactionDefinition, condition: CompiledCondition) -> frozenset[str]:
        found = {self._scope.action_of(name) for name in (*condition.variables, *definition.capture)}
        found |= {definition.start, definition.signal.rpartition(".")[0]}
        own = self._owner.id if self._owner is not None else ""
        return frozenset(name for name in found if name and name != own)
