"""Everything that is defined at present, and the one way to change it: as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_rt_control.memory.layout import governed_dtype
from robot_rt_control.server.profiler.profilers import Profilers
from robot_rt_control.server.profiler.queue_writer import Motion, MotionQueue, entry_words, queue_entries
from robot_rt_control.server.tables.allocation import Arena, SlotPool
from robot_rt_control.server.tables.directory import Directory
from robot_rt_control.server.tables.entities import DefinedAction, DefinedReaction, SessionContents
from robot_rt_control.server.tables.group_preparation import PreparedGroup
from robot_rt_control.server.tables.session_variables import SessionVariables
from robot_rt_control.server.tables.table_composer import Blob, SessionEntry, TableContents, compose
from robot_rt_control.server.types.action_types import ActionTypes, RegisteredType
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CommandRefused

Install = Callable[[Callable[[np.record], int]], int]
"""`ExecutorLink.install`."""


@dataclass
class _Retired:
    """Places that the loop may be using until it has taken tables of this version."""

    version: int
    parameters: list[tuple[int, int]] = field(default_factory=list)
    state: list[tuple[int, int]] = field(default_factory=list)
    identities: list[int] = field(default_factory=list)
    queues: list[MotionQueue] = field(default_factory=list)


@dataclass(frozen=True)
class Fallbacks:
    """Action slots of the system's default and safety actions, one for each part; -1: none."""

    default: tuple[int, ...] = ()
    safety: tuple[int, ...] = ()


class DefinitionStore:
    """What is installed. One thread at a time, but for `taken`.

    Args:
        types: the action types; each change of tables takes their keys and time budgets as they are then.
        install: hands tables to the executor.
        directory: names for events.
        base: identities and versions begin above this number, so that they are never those of another server.
        profilers: fill the queues of motion groups.
        period: of the loop [s].
        gated: whether the loop ticks on request only, so that `install` returns before it takes the tables.
    """

    def __init__(
        self,
        types: ActionTypes,
        install: Install,
        directory: Directory,
        base: int,
        *,
        profilers: Profilers,
        period: float,
        gated: bool = False,
    ) -> None:
        self._types, self._install, self.directory, self.gated = types, install, directory, gated
        self.profilers, self.period = profilers, period
        self._identity = self._version = base
        self._installed = self._taken_version = base
        self.sessions: dict[int, SessionContents] = {}
        """identity → contents, of sessions that have defined something; the oldest, the system's, first."""
        self.fallbacks = Fallbacks()
        self.detached: dict[int, int] = {}
        """identity of a session → ticks for which it goes on without client or server."""
        self.suspended: set[int] = set()
        """Identities of sessions that a protective stop has suspended."""
        self.parameters = Arena(capacities.PARAMETER_ARENA_BYTES, name="PARAMETER_ARENA_BYTES", what="parameters")
        self.state = Arena(capacities.STATE_ARENA_BYTES, name="STATE_ARENA_BYTES", what="state")
        self.action_slots = SlotPool(capacities.MAX_ACTIONS, name="MAX_ACTIONS", what="actions")
        self.reaction_slots = SlotPool(capacities.MAX_REACTIONS, name="MAX_REACTIONS", what="reactions")
        self.motion_queues = SlotPool(capacities.MAX_MOTION_QUEUES, name="MAX_MOTION_QUEUES", what="async groups")
        self.set_points = Arena(capacities.MOTION_QUEUE_BYTES, name="MOTION_QUEUE_BYTES", what="set points")
        self.stream_places = SlotPool(capacities.MAX_STREAMS, name="MAX_STREAMS", what="streams")
        self.session_slots = SlotPool(capacities.MAX_SESSIONS, name="MAX_SESSIONS", what="sessions with definitions")
        self.retiring: set[int] = set()
        """Identities of sessions that have ended in the loop: the next change takes them out of the tables."""
        self._session_of_slot: dict[int, int] = {}
        self._retired: list[_Retired] = []
        self._waiting: Change | None = None
        """A replacement that a gated loop has yet to take or to refuse."""

    def new_identity(self) -> int:
        """A number that nothing else has, had or will have."""
        self._identity += 1
        return self._identity

    def taken(self, version: int) -> None:
        """The loop has taken tables of this version. May be called from any thread."""
        self._taken_version = max(self._taken_version, version)

    def refused(self, version: int) -> None:
        """The loop has refused tables of this version. May be called from any thread."""
        waiting = self._waiting
        if waiting is not None and waiting.version == version:
            waiting.revert()

    @property
    def all_taken(self) -> bool:
        """Whether the loop has taken everything that was installed."""
        return self._installed <= self._taken_version

    def used_types(self) -> dict[RegisteredType, str]:
        """The types of all actions, each with one of its actions."""
        return {
            used: f"action {action.id!r} of session {self.directory.session_id(session.identity)!r}"
            for session in self.sessions.values()
            for action in session.actions.values()
            for used in (action.type, *(law.type for axis in action.prepared.axes for law in axis.laws))
        }

    def among(self, identities: Collection[int]) -> Iterator[tuple[int, DefinedAction]]:
        """Identity of its session, and action as it is defined at present, of those among `identities`; of the oldest
        session first. May be called from any thread."""
        wanted = set(identities)
        for session, contents in list(self.sessions.items()):
            for action in contents.actions.values():
                if action.entry.identity in wanted:
                    yield session, action

    def keep_variables(self, session: int, variables: SessionVariables) -> None:
        """Remember what has been written; the session is in the tables."""
        self.sessions[session] = replace(self.sessions[session], variables=variables)

    def keep(self, session: int, action: DefinedAction) -> None:
        """Remember what has changed of an action without changing the tables."""
        contents = self.sessions[session]
        self.sessions[session] = replace(contents, actions={**contents.actions, action.id: action})

    def change(self) -> Change:
        """Begin a change; use it in a `with` statement. It takes sessions that have ended out of the tables.

        Raises:
            CommandRefused: a gated loop has not seen a replacement yet, which it may refuse.
        """
        if self._waiting is not None:
            if not self._waiting.settle(self._taken_version):
                raise _wait_for_step("definitions cannot change", "a replacement that the loop has seen")
            self._waiting = None
        self._reclaim()
        change = Change(self)
        for identity in self.retiring & set(self.sessions):
            change.drop_session(identity)
        return change

    def _reclaim(self) -> None:
        """Free what only tables used that the loop has given up."""
        while self._retired and self._retired[0].version <= self._taken_version:
            gone = self._retired.pop(0)
            for offset, size in gone.parameters:
                self.parameters.release(offset, size)
            for offset, size in gone.state:
                self.state.release(offset, size)
            self.directory.forget(gone.identities)
            for queue in gone.queues:
                self.motion_queues.release([queue.number])
                self.set_points.release(queue.offset, queue.size)

    def _contents(
        self, sessions: dict[int, SessionContents], fallbacks: Fallbacks, starts: Sequence[int] | None
    ) -> TableContents:
        by_age = [sessions[identity] for identity in sorted(sessions)]
        used = {s.index for s in by_age}
        former = [(i, identity) for i, identity in self._session_of_slot.items() if i not in used]
        return TableContents(
            version=self._version,
            type_keys=self._types.keys,
            type_budgets_ns=self._types.budgets_ns,
            sessions=[
                SessionEntry(
                    index=s.index,
                    identity=s.identity,
                    name=self.directory.session_id(s.identity),
                    actions=tuple(a.entry for a in s.actions.values()),
                    free=tuple(r.block for r in s.reactions.values()),
                    detached=self.detached.get(s.identity, 0),
                    suspended=s.identity in self.suspended,
                )
                for s in by_age
            ],
            former_sessions=former,
            default_action=fallbacks.default,
            safety_action=fallbacks.safety,
            starts=starts,
        )


def _wait_for_step(what: str, expected: str) -> CommandRefused:
    return CommandRefused(
        what, expected=expected, got="one that waits for the loop's next step", hint="Let the loop step first"
    )


class Change:
    """A change in the making. Leaving its `with` statement without `apply` undoes it.

    `sessions` is a copy that may be changed freely; its values are immutable.

    Attributes:
        starts: slots of the actions that start as the loop takes it; None: active ones that are replaced.
        version: of its tables, once it is applied.
    """

    def __init__(self, store: DefinitionStore) -> None:
        self._store = store
        self.sessions = dict(store.sessions)
        self.fallbacks = store.fallbacks
        self.starts: Sequence[int] | None = ()
        self.version = 0
        self._before = store.sessions
        self._reverted = False
        self._undo_later: list[Callable[[], None]] = []
        self._blobs: list[Blob] = []
        self._undo: list[Callable[[], None]] = []
        self._retired = _Retired(0)
        self._released: list[Callable[[], None]] = []
        self._new_actions: list[DefinedAction] = []
        self._new_reactions: list[DefinedReaction] = []

    def __enter__(self) -> Change:
        return self

    def __exit__(self, *_: object) -> None:
        for undo in reversed(self._undo):
            undo()

    # --- places ---------------------------------------------------------------------------------

    def session(self, identity: int) -> SessionContents:
        """The contents of a session, empty ones where it has defined nothing yet.

        Raises:
            CapacityError: too many sessions have definitions.
        """
        if identity not in self.sessions:
            pool = self._store.session_slots
            taken = pool.take()
            self._undo.append(lambda: pool.release(taken))
            self.sessions[identity] = SessionContents(identity=identity, index=taken[0])
        return self.sessions[identity]

    def action_slots(self, count: int) -> list[int]:
        """Places for actions.

        Raises:
            CapacityError: fewer are free.
        """
        return self._take(self._store.action_slots, count)

    def reaction_slots(self, count: int) -> list[int]:
        """Places for reactions' memory.

        Raises:
            CapacityError: fewer are free.
        """
        return self._take(self._store.reaction_slots, count)

    def stream_places(self, count: int) -> list[int]:
        """Rings for streams.

        Raises:
            CapacityError: fewer are free.
        """
        return self._take(self._store.stream_places, count)

    def motion_queue(self, label: str, group: PreparedGroup) -> MotionQueue:
        """A queue for the set points of a motion group, filled.

        Args:
            label: the action, for messages.

        Raises:
            CapacityError: no room.
        """
        store = self._store
        (number,) = self._take(store.motion_queues, 1)
        entries = queue_entries(group.braking_rate, group.n_points, store.period)
        size = 8 * entries * entry_words(group.plans)
        queue = MotionQueue(
            number=number, offset=self._region(store.set_points, size), entries=entries, size=size
        )
        motion = Motion(queue=queue, plans=group.plans, n_points=group.n_points, period=store.period)
        store.profilers.start(motion, label)
        self._undo.append(lambda: store.profilers.stop(number))
        return queue

    def _take(self, pool: SlotPool, count: int) -> list[int]:
        taken = pool.take(count)
        self._undo.append(lambda: pool.release(taken))
        return taken

    def parameter_region(self, data: np.ndarray) -> int:
        """The offset of a new region that holds a parameter record (bytes, shape (size,)).

        Raises:
            CapacityError: no room.
        """
        offset = self._region(self._store.parameters, len(data))
        self._blobs.append(Blob(offset, data))
        return offset

    def state_region(self, size: int) -> int:
        """The offset of a new region for a state record.

        Raises:
            CapacityError: no room.
        """
        return self._region(self._store.state, size)

    def _region(self, arena: Arena, size: int) -> int:
        offset = arena.allocate(size)
        self._undo.append(lambda: arena.release(offset, size))
        return offset

    def new_identity(self) -> int:
        """A number that nothing else has, had or will have."""
        return self._store.new_identity()

    # --- contents -------------------------------------------------------------------------------

    def add(self, identity: int, actions: Iterable[DefinedAction], reactions: Iterable[DefinedReaction] = ()) -> None:
        """Add new actions, and free-standing reactions, after those that a session has; an action may take the place
        of another one of its id."""
        contents = self.session(identity)
        new_actions, new_reactions = list(actions), list(reactions)
        self._new_actions += new_actions
        self._new_reactions += new_reactions
        self.sessions[identity] = replace(
            contents,
            actions={**contents.actions, **{a.id: a for a in new_actions}},
            reactions={**contents.reactions, **{r.name: r for r in new_reactions}},
            used_ids=contents.used_ids.union(a.id for a in new_actions),
        )

    def compile_again(
        self, identity: int, actions: Iterable[DefinedAction], reactions: Iterable[DefinedReaction]
    ) -> None:
        """Keep actions and free-standing reactions, with new rows."""
        contents = self.session(identity)
        self.sessions[identity] = replace(
            contents,
            actions={**contents.actions, **{a.id: a for a in actions}},
            reactions={**contents.reactions, **{r.name: r for r in reactions}},
        )

    def remove(self, identity: int, actions: Iterable[str], reactions: Iterable[str]) -> None:
        """Take actions and free-standing reactions out of a session; they must be there."""
        contents = self.session(identity)
        left, free = dict(contents.actions), dict(contents.reactions)
        for id_ in actions:
            self.drop_action(left.pop(id_))
        self.drop_reactions([free.pop(name) for name in reactions])
        self.sessions[identity] = replace(contents, actions=left, reactions=free)

    def replace(self, identity: int, action: DefinedAction, data: np.ndarray) -> None:
        """Give an action a new parameter record, in a new region: the loop may be reading the old one.

        Args:
            action: the new definition, in its old slot.

        Raises:
            CapacityError: no room.
        """
        contents, old = self.session(identity), action.entry
        entry = replace(old, parameter_offset=self.parameter_region(data))
        self._retired.parameters.append((old.parameter_offset, old.parameter_size))
        self.sessions[identity] = replace(
            contents, actions={**contents.actions, action.id: replace(action, entry=entry)}
        )

    def replace_law(self, identity: int, action: DefinedAction, axis: int, law: int) -> None:
        """Give a strategy its new parameter record, in a new region: the loop may be reading the old one.

        Args:
            action: the new definition, in its old slots.
            axis, law: places of the degree of freedom, and of the strategy in its list.

        Raises:
            CapacityError: no room.
        """
        contents, entry = self.session(identity), action.entry
        old = entry.axes[axis].strategies[law]
        offset = self.parameter_region(action.prepared.axes[axis].laws[law].parameters)
        self._retired.parameters.append((old.parameter_offset, old.parameter_size))
        laws = list(entry.axes[axis].strategies)
        laws[law] = replace(old, parameter_offset=offset)
        axes = list(entry.axes)
        axes[axis] = replace(axes[axis], strategies=tuple(laws))
        changed = replace(action, entry=replace(entry, axes=tuple(axes)))
        self.sessions[identity] = replace(contents, actions={**contents.actions, action.id: changed})

    # --- giving up -----------------------------------------------------------------------------

    def drop_action(self, action: DefinedAction, *, keep_slot: bool = False) -> None:
        """Free an action's places, and its reactions', once the loop has given them up.

        Args:
            keep_slot: another action takes its slot.
        """
        entry = action.entry
        self._retired.parameters.append((entry.parameter_offset, entry.parameter_size))
        self._retired.state.append((entry.state_offset, entry.state_size))
        for axis in entry.axes:
            self._retired.state.append((axis.state_offset, governed_dtype.itemsize))
            self._retired.parameters += [(s.parameter_offset, s.parameter_size) for s in axis.strategies]
            self._retired.state += [(s.state_offset, s.state_size) for s in axis.strategies]
        self._retired.identities.append(entry.identity)
        if (queue := entry.queue) is not None:
            self._retired.queues.append(queue)
            self._released.append(lambda: self._store.profilers.stop(queue.number))
        slots = self._store.action_slots
        if not keep_slot:
            self._released.append(lambda: slots.release([entry.slot]))
        places = self._store.stream_places
        self._released.append(lambda: places.release([s.place for s in entry.streams]))
        self.drop_reactions(action.reactions)

    def drop_reactions(self, reactions: Iterable[DefinedReaction]) -> None:
        """Free the places of reactions once the loop has given them up."""
        gone = list(reactions)
        self._retired.identities += [r.identity for r in gone]
        slots = self._store.reaction_slots
        self._released.append(lambda: slots.release([r.runtime_slot for r in gone]))

    def drop_session(self, identity: int) -> None:
        """Take a session with everything that it has defined out of the tables."""
        contents = self.sessions.pop(identity)
        for action in contents.actions.values():
            self.drop_action(action)
        self.drop_reactions(contents.reactions.values())
        self._retired.identities.append(identity)
        pool = self._store.session_slots
        self._released.append(lambda: pool.release([contents.index]))

    # --- applying ------------------------------------------------------------------------------

    def apply(self) -> int:
        """Install the change. Returns the tick from which it holds; 0: that of the next step.

        Raises:
            CommandRefused: a gated loop has not seen earlier changes yet, and this one starts actions.
            InstallRefused: the loop refused to start actions with it; nothing has changed.
            RobotControlError: it was not installed, and nothing has changed.
        """
        store = self._store
        store._version += 1
        self.version = store._version
        if self.starts != () and store.gated and not store.all_taken:
            raise _wait_for_step("actions cannot be replaced", "definitions that the loop has seen")
        before = dict(store._session_of_slot)
        for contents in self.sessions.values():
            store._session_of_slot[contents.index] = contents.identity
        tables = store._contents(self.sessions, self.fallbacks, self.starts)

        new = [*self._new_reactions, *(r for a in self._new_actions for r in a.reactions)]
        names = [reaction.named for reaction in new]

        def write(staging: np.record) -> int:
            compose(tables, self._blobs, staging, names)
            return self.version

        self._undo.insert(0, lambda: self._forget(before))
        store.directory.add(self._new_actions, self._new_reactions)
        tick = store._install(write)
        store.sessions, store.fallbacks, store._installed = self.sessions, self.fallbacks, self.version
        if self.starts != () and store.gated:
            self._undo_later, self._undo, store._waiting = self._undo, [], self
        else:
            self._finish()
        return tick

    def settle(self, taken: int) -> bool:
        """Whether a gated loop has seen the replacement. Frees its places, or those of what it replaced.

        Args:
            taken: version of the tables that the loop has taken last.
        """
        if self._reverted:
            for undo in reversed(self._undo_later):
                undo()
        elif self.version <= taken:
            self._finish()
        return self._reverted or self.version <= taken

    def revert(self) -> None:
        """The loop has refused the replacement: what was before is valid, with parameters that have changed since."""
        store, self._reverted = self._store, True
        sessions = {**self._before, **{i: s for i, s in store.sessions.items() if i in self._before}}
        for identity, before in self._before.items():
            now = sessions[identity]
            if now is not before and now.actions.keys() >= before.actions.keys():
                actions = {
                    a.id: replace(a, prepared=now.actions[a.id].prepared)
                    if now.actions[a.id].entry.identity == a.entry.identity
                    else a
                    for a in before.actions.values()
                }
                sessions[identity] = replace(before, actions=actions, variables=now.variables)
        store.sessions, store._installed = sessions, store._taken_version

    def _finish(self) -> None:
        """The loop has it, or will have it."""
        store = self._store
        store.retiring &= set(store.sessions)
        self._undo.clear()
        for release in self._released:
            release()
        self._retired.version = self.version
        store._retired.append(self._retired)

    def _forget(self, sessions_of_slots: dict[int, int]) -> None:
        store = self._store
        store._session_of_slot = sessions_of_slots
        store.directory.forget([a.entry.identity for a in self._new_actions])
        store.directory.forget([r.identity for a in self._new_actions for r in a.reactions])
        store.directory.forget([r.identity for r in self._new_reactions])
