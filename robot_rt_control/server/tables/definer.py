"""Defining, removing and changing what a session has: checked as a whole first, then installed, else left as it was."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.definitions import (
    ActionDefinition,
    ParameterValue,
    ProgramDefinition,
    ReactionDefinition,
)
from robot_rt_control.memory.layout import governed_dtype, motion_dtype
from robot_rt_control.model.workcell.part_description import PartDescription
from robot_rt_control.server.link.transactions import InstallRefused
from robot_rt_control.server.sessions import Session
from robot_rt_control.server.tables.definition_store import Change, DefinitionStore, Fallbacks
from robot_rt_control.server.tables.entities import (
    DefinedAction,
    DefinedReaction,
    SessionContents,
    variables_of,
    variables_of_axis,
)
from robot_rt_control.server.tables.preparation import PreparedAction, PreparedAxis, Preparer
from robot_rt_control.server.tables.reaction_compiler import ReactionCompiler
from robot_rt_control.server.tables.session_variables import SessionVariables
from robot_rt_control.server.tables.strategy_entries import NO_INSTRUCTIONS, AxisEntry, StrategyEntry
from robot_rt_control.server.tables.stream_entries import stream_entries
from robot_rt_control.server.tables.table_composer import ActionEntry, join_blocks
from robot_rt_control.text.document import Document
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import CommandRefused, DefinitionError, unknown


class StartRefused(CommandRefused):
    """Actions that were to start with new definitions cannot; nothing has changed.

    Attributes:
        answer: the loop's.
        actions: those that were to start.
    """

    def __init__(self, refused: InstallRefused, actions: Sequence[DefinedAction]) -> None:
        super().__init__(refused.what)
        self.answer, self.actions = refused.answer, actions


class Definer:
    """Makes changes of the store. One thread at a time.

    Args:
        preparer: prepares actions.
        variables: state variables of parts and system, by full name.
    """

    def __init__(self, store: DefinitionStore, preparer: Preparer, variables: Mapping[str, VariableRef]) -> None:
        self._store, self._preparer, self._variables = store, preparer, variables

    def contents(self, session: Session) -> SessionContents:
        """What a session has defined."""
        found = self.defined(session)
        return found if found is not None else SessionContents(identity=session.identity, index=-1)

    def defined(self, session: Session) -> SessionContents | None:
        """What a session has defined: the same object as long as nothing changes. None: nothing yet."""
        return self._store.sessions.get(session.identity)

    # --- adding ---------------------------------------------------------------------------------

    def prepare(
        self, session: Session | None, actions: Sequence[ActionDefinition], places: Document | None
    ) -> list[PreparedAction]:
        """Run the code of the action types' authors, which may take long. Several threads may do that at a time.

        Args:
            session: whose actions they are; None: the system's, or those of a check.
            actions: found right by `validation`.
            places: of a program's text, for the lines in messages.

        Raises:
            DefinitionError: all that this code refuses.
        """
        mistakes, prepared = Mistakes(), []
        for action in actions:
            with mistakes.collect(places, "actions", action.id):
                prepared.append(self._preparer.prepare(action, session))
        mistakes.raise_all()
        return prepared

    def define(
        self, session: Session, program: ProgramDefinition, prepared: Sequence[PreparedAction], *, start: bool = False
    ) -> int:
        """Add actions and free-standing reactions: all of them or none. Returns the tick; 0: the next step.

        An action takes the place of one that has its id. What refers to that one then refers to the new one.

        Args:
            program: found right by `validation` for what the session has now.
            prepared: from `prepare`, in the order of the actions.
            start: `program.start` starts in the same tick; if that is empty, active ones that are replaced.

        Raises:
            CapacityError: no room; nothing has changed.
            StartRefused: what is to start cannot; nothing has changed.
            ChannelError: the executor is gone; nothing has changed.
        """
        actions, reactions = program.actions, program.reactions
        with self._store.change() as change:
            contents = change.session(session.identity)
            old = {a.id: contents.actions[a.id] for a in prepared if a.id in contents.actions}
            placed = self._place(change, contents.index, prepared, old)
            everything = {**contents.actions, **{a.id: a for a in placed}}
            complete = [
                replace(
                    self._with_variables(contents, everything, a),
                    reactions=self._compile(change, contents, everything, a, d.reactions, ()),
                )
                for a, d in zip(placed, actions, strict=True)
            ]
            free = self._compile(change, contents, everything, None, reactions, contents.reactions)
            # Reactions are part of an action's rows, so the rows are complete only now.
            change.add(session.identity, map(_with_reactions, complete), free)
            for action in old.values():
                change.drop_action(action, keep_slot=True)
            if old:
                self._compile_readers(change, contents, everything, old)
            if start:
                change.starts = tuple(everything[id_].entry.slot for id_ in program.start) or None
            try:
                return change.apply()
            except InstallRefused as refused:
                raise StartRefused(refused, [everything[id_] for id_ in program.start or old]) from refused

    def _compile_readers(
        self,
        change: Change,
        contents: SessionContents,
        actions: Mapping[str, DefinedAction],
        replaced: Collection[str],
    ) -> None:
        """Compile again what refers to actions that are replaced: their state variables have new places."""

        def again(owner: DefinedAction | None, reaction: DefinedReaction) -> DefinedReaction:
            compiler = ReactionCompiler(contents, actions, self._variables, owner)
            (new,) = compiler.compile([reaction.definition], [reaction.identity], [reaction.runtime_slot])
            return replace(new, name=reaction.name)

        readers = []
        for action in contents.actions.values():
            mentions = action.mentions.union(*(r.mentions for r in action.reactions))
            if action.id not in replaced and not mentions.isdisjoint(replaced):
                reactions = tuple(again(action, r) for r in action.reactions)
                reader = self._with_variables(contents, actions, action)
                readers.append(_with_reactions(replace(reader, reactions=reactions)))
        free = [again(None, r) for r in contents.reactions.values() if not r.mentions.isdisjoint(replaced)]
        change.compile_again(contents.identity, readers, free)

    def _place(
        self,
        change: Change,
        session_index: int,
        prepared: Sequence[PreparedAction],
        replaced: Mapping[str, DefinedAction] = MappingProxyType({}),
    ) -> list[DefinedAction]:
        """Give prepared actions their places in the tables.

        Args:
            replaced: by id: the new one takes the slot, and stays within the same used programs.
        """
        placed = []
        numbers: dict[str, int] = {}  # of the used programs
        slots = iter(change.action_slots(sum(action.id not in replaced for action in prepared)))
        for action in prepared:
            old = replaced.get(action.id)
            if old is not None:
                action = replace(action, within=old.prepared.within)
            registered = action.type
            indices = tuple(p.index for p in action.parts)
            n_moved = len(registered.moving_slots)
            state_size = registered.declared.state_record.size
            if action.group is not None:
                n_moved = len(indices)
                state_size = motion_dtype.itemsize + n_moved * state_size
            identity = change.new_identity()
            entry = ActionEntry(
                identity=identity,
                slot=next(slots) if old is None else old.entry.slot,
                replaces=0 if old is None else old.entry.identity,
                session=session_index,
                type_index=registered.index,
                moved_parts=indices[:n_moved],
                read_parts=indices[n_moved:],
                parameter_offset=change.parameter_region(action.parameters),
                parameter_size=len(action.parameters),
                state_offset=change.state_region(state_size),
                state_size=state_size,
                n_signals=len(registered.declared.signals),
                n_variables=len(registered.declared.state_variables),
                time_limit=action.time_limit,
                name=action.id if session_index else "",  # index 0: the system's
                streams=stream_entries(
                    f"action {action.id!r}",
                    registered,
                    action.parts[0].dof,
                    change.stream_places(len(registered.declared.streams)),
                ),
                within=tuple(numbers.setdefault(program, identity) for program in action.within)
                if old is None
                else old.entry.within,
            )
            queue = None
            if action.group is not None:
                if action.group.is_asynchronous:
                    queue = change.motion_queue(f"action {action.id!r}", action.group)
                entry = replace(
                    entry,
                    queue=queue,
                    group=int(action.group.flags),
                    n_points=action.group.n_points,
                    braking_rate=action.group.braking_rate,
                )
            entry = replace(entry, axes=tuple(self._place_axis(change, axis, entry) for axis in action.axes))
            variables = dict(variables_of(registered, entry.slot, entry.state_offset))
            for axis, its_entry in zip(action.axes, entry.axes, strict=True):
                variables |= variables_of_axis(axis.name, its_entry.state_offset)
            placed.append(DefinedAction(prepared=action, entry=entry, variables=variables))
        return placed

    def _place_axis(self, change: Change, axis: PreparedAxis, action: ActionEntry) -> AxisEntry:
        return AxisEntry(
            part=axis.part.index,
            joint=axis.joint,
            state_offset=change.state_region(governed_dtype.itemsize),
            record_offset=-1 if axis.record is None else action.state_offset + axis.record,
            strategies=tuple(
                StrategyEntry(
                    type_index=law.type.index,
                    parts=tuple(part.index for part in law.parts),
                    parameter_offset=change.parameter_region(law.parameters),
                    parameter_size=len(law.parameters),
                    state_offset=change.state_region(law.type.declared.state_record.size),
                    state_size=law.type.declared.state_record.size,
                    inputs=(),
                    captures=(),
                    instructions=NO_INSTRUCTIONS,
                    # If nobody knows what it commands, as of plain Python, it may need it.
                    gravity=not law.type.declared.command_modes or "effort" in law.type.declared.command_modes,
                )
                for law in axis.laws
            ),
        )

    def _with_variables(
        self, contents: SessionContents, actions: Mapping[str, DefinedAction], action: DefinedAction
    ) -> DefinedAction:
        """The action with the conditions, inputs and captures of its strategies in its own entry."""
        if not action.entry.axes:
            return action
        compiler = ReactionCompiler(contents, actions, self._variables, action)
        mentions: set[str] = set()
        axes = []
        for axis, entry in zip(action.prepared.axes, action.entry.axes, strict=True):
            strategies = []
            for law, strategy in zip(axis.laws, entry.strategies, strict=True):
                if law.definition.when:
                    condition, mentioned = compiler.condition(law.definition.when)
                    strategy = replace(strategy, instructions=condition.instructions)
                    mentions |= mentioned
                bound = dict(law.definition.inputs)
                read = {name: compiler.variable(name) for name in (*bound.values(), *law.definition.capture)}
                mentions = mentions.union(*(mentioned for _, mentioned in read.values()))
                given = (bound.get(declared.name) for declared in law.type.declared.inputs)
                inputs = tuple(-1 if name is None else read[name][0] for name in given)
                captures = tuple(read[name][0] for name in law.definition.capture)
                strategies.append(replace(strategy, inputs=inputs, captures=captures))
            axes.append(replace(entry, strategies=tuple(strategies)))
        return replace(action, entry=replace(action.entry, axes=tuple(axes)), mentions=frozenset(mentions))

    def _compile(
        self,
        change: Change,
        contents: SessionContents,
        actions: Mapping[str, DefinedAction],
        owner: DefinedAction | None,
        reactions: Sequence[ReactionDefinition],
        taken_names: Collection[str],
    ) -> tuple[DefinedReaction, ...]:
        if not reactions:
            return ()
        compiler = ReactionCompiler(contents, actions, self._variables, owner)
        identities = [change.new_identity() for _ in reactions]
        return compiler.compile(reactions, identities, change.reaction_slots(len(reactions)), taken_names)

    # --- removing ------------------------------------------------------------------------------

    def remove(self, session: Session, actions: Sequence[str], reactions: Sequence[str]) -> int:
        """Remove actions and free-standing reactions: all of them or none. Returns the tick; 0: the next step.

        Raises:
            DefinitionError: one does not exist, or a remaining reaction refers to an action; nothing has changed.
        """
        contents = self.contents(session)
        gone, gone_reactions = dict.fromkeys(actions), dict.fromkeys(reactions)
        for kind, names, known in (
            ("action", gone, contents.actions),
            ("free-standing reaction", gone_reactions, contents.reactions),
        ):
            for name in names:
                if name not in known:
                    raise DefinitionError(
                        f"{kind} {name!r} cannot be removed: there is none in {session.label}",
                        expected=unknown(kind, name, known),
                        got=repr(name),
                    )
        kept = [a for a in contents.actions.values() if a.id not in gone]
        free = [r for r in contents.reactions.values() if r.name not in gone_reactions]
        left = [(r.label, r.mentions) for r in (*(r for a in kept for r in a.reactions), *free)]
        left += [(f"a strategy of action {a.id!r}", a.mentions) for a in kept]
        for label, mentions in left:
            for name in gone:
                if name in mentions:
                    raise DefinitionError(
                        f"action {name!r} cannot be removed: {label} refers to it",
                        expected="an action that no remaining reaction or strategy refers to",
                        hint="Remove what refers to it in the same request",
                    )
        if not gone and not gone_reactions:
            return 0
        with self._store.change() as change:
            change.remove(session.identity, gone, gone_reactions)
            return change.apply()

    def tidy(self) -> None:
        """Take sessions that have ended out of the tables.

        Raises:
            RobotControlError: the executor did not take the tables; nothing has changed.
        """
        if self._store.retiring & set(self._store.sessions):
            with self._store.change() as change:
                change.apply()

    # --- changing ------------------------------------------------------------------------------

    def with_values(self, action: DefinedAction, values: Iterable[ParameterValue]) -> PreparedAction:
        """An action after some of its parameters are changed. Runs the code of the type's author, which may take long.

        Raises:
            DefinitionError: a value is not valid.
        """
        present = action.prepared
        if present.group is not None:
            raise DefinitionError(
                f"action {action.id!r} is a motion group: its parameters cannot be changed",
                expected="a new definition of it, by `replace`, or a group of another id",
                got=", ".join(value.name for value in values),
            )
        merged = self._preparer.new_values(action.id, action.type, present.parts[0].name, present.values, values)
        with present.preparing:
            parameters = self._preparer.fill(f"action {action.id!r}", present.instance, merged)
        return replace(present, values=merged, parameters=parameters)

    def again(self, action: DefinedAction, definition: ActionDefinition) -> PreparedAction | None:
        """As `Preparer.again`."""
        return self._preparer.again(action.prepared, definition)

    def with_law_values(
        self, action: DefinedAction, axis: str, strategy: str, values: Iterable[ParameterValue]
    ) -> tuple[DefinedAction, int, int]:
        """An action after parameters of a strategy are changed; and the places of degree of freedom and strategy.

        Raises:
            DefinitionError: there is none of this name, or a value is not valid.
        """
        axes = {x.name: i for i, x in enumerate(action.prepared.axes)}
        of = f"action {action.id!r}: strategies of {axis!r}"
        if axis not in axes:
            raise DefinitionError(
                of, expected=unknown("degree of freedom with strategies", axis, axes), got=repr(axis)
            )
        laws = {law.definition.name: i for i, law in enumerate(action.prepared.axes[axes[axis]].laws)}
        if strategy not in laws:
            raise DefinitionError(of, expected=unknown("strategy", strategy, laws), got=repr(strategy))
        i, k = axes[axis], laws[strategy]
        found = action.prepared.axes[i]
        with action.prepared.preparing:
            law = self._preparer.changed_law(f"{of}: strategy {strategy!r}", found.laws[k], values)
        found = replace(found, laws=(*found.laws[:k], law, *found.laws[k + 1 :]))
        prepared = replace(action.prepared, axes=(*action.prepared.axes[:i], found, *action.prepared.axes[i + 1 :]))
        return replace(action, prepared=prepared), i, k

    def replace_law(self, session: Session, action: DefinedAction, axis: int, law: int) -> int:
        """Install new parameters of a strategy; its law goes on. Returns the tick; 0: the next step.

        Raises:
            CapacityError: no room; nothing has changed.
            ChannelError: the executor is gone; nothing has changed.
        """
        with self._store.change() as change:
            change.replace_law(session.identity, action, axis, law)
            return change.apply()

    def keep_parameters(self, session: Session, action: DefinedAction, prepared: PreparedAction) -> DefinedAction:
        """Remember new parameters that a command brings to the loop: the action keeps its place. Returns it."""
        kept = replace(action, prepared=prepared)
        self._store.keep(session.identity, kept)
        return kept

    def replace_parameters(self, session: Session, action: DefinedAction, prepared: PreparedAction) -> int:
        """Install new parameters that are too large for a command. Returns the tick; 0: the next step.

        Raises:
            CapacityError: no room; nothing has changed.
            ChannelError: the executor is gone; nothing has changed.
        """
        with self._store.change() as change:
            change.replace(session.identity, replace(action, prepared=prepared), prepared.parameters)
            return change.apply()

    def write_variables(self, session: Session, values: Iterable[ParameterValue]) -> SessionVariables:
        """A session's variables after some are written. Brings the session into the tables, if it is not there yet.

        Raises:
            DefinitionError, CapacityError: as `SessionVariables.written`; nothing has changed.
            ChannelError: the executor is gone; nothing has changed.
        """
        if session.identity not in self._store.sessions:
            with self._store.change() as change:
                change.session(session.identity)
                change.apply()
        contents = self._store.sessions[session.identity]
        return contents.variables.written(contents.index, values)

    def keep_variables(self, session: Session, variables: SessionVariables) -> None:
        """Remember variables that a command brings to the loop."""
        self._store.keep_variables(session.identity, variables)

    def find(self, session: Session, action: str) -> DefinedAction:
        """An action of a session.

        Raises:
            DefinitionError: there is none.
        """
        actions = self.contents(session).actions
        if action not in actions:
            raise DefinitionError(
                f"unknown action in {session.label}", expected=unknown("action", action, actions), got=repr(action)
            )
        return actions[action]

    # --- the system's own ----------------------------------------------------------------------

    def install_nothing(self, identity: int) -> int:
        """Install tables in which only the system's session is, without actions. Returns the tick; 0: the next step."""
        with self._store.change() as change:
            change.session(identity)
            self._store.directory.sessions[identity] = ""
            return change.apply()

    def install_system(self, identity: int, parts: Iterable[str], wanted: Sequence[ActionDefinition]) -> None:
        """Install the default and safety actions of the parts.

        Args:
            identity: of the system's session.
            parts: names of all parts of the workcell, in its order.
            wanted: from `system_actions`; what is left out the loop does itself: it brakes and holds.

        Raises:
            DefinitionError: an action type's own code refuses the part.
        """
        names, prepared = tuple(parts), self.prepare(None, wanted, None)
        with self._store.change() as change:
            contents = change.session(identity)
            placed = self._place(change, contents.index, prepared)
            slot_of = {a.id: a.entry.slot for a in placed}
            change.add(identity, placed)
            change.fallbacks = Fallbacks(
                *(tuple(slot_of.get(f"{part}_{role}_action", -1) for part in names) for role in ("default", "safety"))
            )
            self._store.directory.sessions[identity] = ""
            change.apply()


def _with_reactions(action: DefinedAction) -> DefinedAction:
    """The action with its reactions' rows joined into its own entry."""
    return replace(action, entry=replace(action.entry, reactions=join_blocks([r.block for r in action.reactions])))


def system_actions(parts: Iterable[PartDescription]) -> list[ActionDefinition]:
    """The default and safety actions that a workcell's parts ask for."""
    return [
        ActionDefinition(id=f"{part.name}_{role}_action", type=name, parts=(part.name,))
        for part in parts
        for role, name in (("default", part.default_action), ("safety", part.safety_action))
        if name is not None
    ]
