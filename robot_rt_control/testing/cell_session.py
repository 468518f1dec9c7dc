"""A session in a lockstep cell: `client.Session` without ROS, threads and waiting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from robot_rt_control.client.actions import Action, Reaction, reply_of
from robot_rt_control.client.event import Event
from robot_rt_control.client.reaction_calls import ReactionCalls
from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.definitions import ActionDefinition, ParameterValue, ReactionDefinition
from robot_rt_control.definitions.stream_sample import InputSample, OutputSample
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.vocabulary.errors import RobotControlError

if TYPE_CHECKING:
    from robot_rt_control.testing.lockstep_cell import LockstepCell


class CellSession:
    """A session in a cell. Commands and definitions take effect at the next `cell.step()`.

    Args:
        cell: where.
        parts: that it may move.
        lease_s: on the clock `cell.now`; 0: until closed.

    Raises:
        SessionError: a part is taken.
    """

    def __init__(
        self,
        cell: LockstepCell,
        parts: Iterable[str],
        *,
        lease_s: float,
        name: str,
        deadline_s: float = 0.0,
        read_only: bool = False,
    ) -> None:
        self._cell = cell
        self._session = cell.server.open_session(
            name, tuple(parts), lease_s, read_only=read_only, deadline=deadline_s
        )
        self.id = self._session.id
        self.parts = self._session.parts
        self._callbacks: list[tuple[Callable[[Event], bool], Callable[[Event], object], str]] = []
        """What concerns it, callback, action that its result goes to."""
        self._calls = ReactionCalls()

    def close(self) -> None:
        """End the session; its parts take their safety action."""
        self._cell.server.close_session(self.id)

    def renew(self) -> None:
        """Count the lease from now."""
        self._cell.server.renew_session(self.id)

    @property
    def ended(self) -> str | None:
        """Why the session has ended; None while it lives."""
        return self._session.end_reason or None

    @property
    def active(self) -> tuple[str, ...]:
        """Ids of its active actions after the last tick, in definition order."""
        view, contents = self._cell.server.snapshot(), self._cell.server.contents(self._session)
        if view is None:
            return ()
        return tuple(a.id for a in contents.actions.values() if view.active_since(a.entry.identity) is not None)

    @property
    def events(self) -> list[ServerEvent]:
        """What happened in this session."""
        return [e for e in self._cell.events if e.session == self.id]

    # --- definitions ----------------------------------------------------------------------------

    def add(self, *actions: Action, reactions: Iterable[Reaction] = ()) -> None:
        """Define actions and free-standing reactions: all of them or, on an error, none.

        Callbacks are called by `cell.step`, behind the tick of their event; what they command and return takes effect
        in the next one. What they raise comes out of `cell.step`.

        Raises:
            DefinitionError: names what is wrong; nothing has changed.
            CompileError: code of an action's class is refused; likewise.
        """
        for action_class in {a.action_class: None for a in actions if a.action_class is not None}:
            self._cell.load(action_class)
        free = list(reactions)
        new, undo = self._calls.prepare(actions, free)
        try:
            self._cell.server.define(
                self.id, [_action_definition(a, self.parts) for a in actions], [_reaction_definition(r) for r in free]
            )
        except RobotControlError:
            undo()
            raise
        self._callbacks += [(c.concerns, c.call, c.reaction.reply_to) for c in new]

    def on(self, name: str, callback: Callable[[Event], object], *, capacity: int = 100) -> None:
        """Call `callback(event)` at every event of this name or kind, as `add` says; none is ever dropped here."""
        self._callbacks.append((lambda event: name in (event.name, event.kind), callback, ""))

    @property
    def called_by_cell(self) -> bool:
        """Whether the cell has somebody to call behind a tick."""
        return bool(self._callbacks)

    def call_back(self, event: ServerEvent) -> None:
        """Call the callbacks of an event. The cell does that."""
        if event.session == self.id:
            for call in self._calls_for(event_of(event)):
                call()

    def _calls_for(self, event: Event) -> list[Callable[[], None]]:
        """What is to be called at an event."""
        return [
            functools.partial(self._call_and_reply, call, reply_to, event)
            for concerns, call, reply_to in self._callbacks
            if concerns(event)
        ]

    def _call_and_reply(self, call: Callable[[Event], object], reply_to: str, event: Event) -> None:
        result = call(event)
        if reply_to and (values := reply_of(result, reply_to)):
            self.set(reply_to, **values)

    def remove(self, *actions: str | Action, reactions: Iterable[str] = ()) -> None:
        """Remove actions, and free-standing reactions by name: all of them or none."""
        ids, names = _ids(actions), list(reactions)
        if ids or names:
            self._cell.server.remove(self.id, ids, names)

    def clear(self) -> None:
        """Remove everything that the session has defined, in one tick; its parts take their default action."""
        self._cell.server.clear(self.id)

    def upload(self, program: str, parts: Mapping[str, str] | Iterable[str] = (), /, **parameters: Any) -> list[str]:
        """Define everything of a program. Returns the ids of its actions.

        Args:
            program: YAML text, or the name of a kept program: "trace_edge", "trace_edge@2".
            parts: parts for its roles, role → part or "role=part".
            parameters: values of its parameters, as those of an Action.
        """
        server, values = self._cell.server, _parameter_values(parameters)
        return [a.id for a in server.upload_program(self.id, program, values, parts).actions]

    # --- running --------------------------------------------------------------------------------

    def start(self, *actions: str | Action, at_tick: int = 0) -> int:
        """Start actions in one tick, all or none. Returns the tick in which they will start."""
        return self._cell.server.start(self.id, _ids(actions), at_tick)

    def stop(self, *actions: str | Action) -> int:
        """Stop actions, without arguments all of the session; their parts take their default action."""
        return self._cell.server.stop(self.id, _ids(actions))

    def signal(self, action: str | Action, signal: str) -> int:
        """Raise a signal to an action. Returns the tick in which it sees it."""
        return self._cell.server.signal(self.id, _ids([action])[0], signal)

    def set(self, action: str | Action, **parameters: Any) -> int:
        """Give an action new parameters; those left out keep their values. Returns the tick."""
        return self._cell.server.set_parameters(self.id, _ids([action])[0], _parameter_values(parameters))

    # --- streams --------------------------------------------------------------------------------

    def stream(self, action: str | Action, name: str) -> Stream:
        """Get ready to write a stream input, before or while the action is active.

        Samples arrive in the tick in which they are written; `time` may say that they were made before.
        """
        (action_id,) = _ids([action])
        opened = self._cell.server.open_stream(self.id, action_id, name)

        def send(sample: InputSample) -> None:
            self._cell.server.write_stream(
                self.id,
                action_id,
                name,
                sample.values,
                valid=sample.valid,
                time=sample.source_time,
                sequence=sample.sequence,
                tick=sample.tick,
            )

        return Stream(
            action_id,
            name,
            length=opened.length,
            rates=opened.rates,
            period=opened.period,
            send=send,
            clock=lambda: self._cell.tick * opened.period,
        )

    def on_stream(self, action: str | Action, name: str, callback: Callable[[OutputSample], object]) -> None:
        """Call `callback(sample)` at every sample of a stream output, within `cell.step`."""
        (action_id,) = _ids([action])

        def listener(sample: OutputSample) -> None:
            if (sample.session, sample.action, sample.stream) == (self.id, action_id, name):
                callback(sample)

        self._cell.server.add_sample_listener(listener)

    # --- looking --------------------------------------------------------------------------------

    def value(self, name: str) -> float:
        """A state variable of an action, "action.variable", after the last tick; NaN: unknown."""
        return self._cell.value(self.id, name)


def event_of(event: ServerEvent) -> Event:
    """The event as an application sees it; its time is the loop's own."""
    return Event(
        kind=event.kind,
        session=event.session,
        tick=event.tick,
        time=event.time_ns * 1e-9,
        name=event.event,
        reaction=event.reaction,
        previous_action=event.previous_action,
        current_action=event.current_action,
        part=event.part,
        reason=event.reason,
        values=dict(zip(event.names, event.values, strict=True)),
        sequence=event.sequence,
    )


def _ids(actions: Iterable[str | Action]) -> list[str]:
    return [a if isinstance(a, str) else a.id for a in actions]


def _parameter_values(parameters: Mapping[str, Any]) -> tuple[ParameterValue, ...]:
    values = []
    for name, given in parameters.items():
        has_unit = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], str)
        value, unit = given if has_unit else (given, "")
        values.append(ParameterValue(name=name, value=value, unit=unit))
    return tuple(values)


def _reaction_definition(reaction: Reaction) -> ReactionDefinition:
    return ReactionDefinition(
        name=reaction.name,
        condition=reaction.when,
        start=reaction.start,
        stop=reaction.stop,
        signal=reaction.signal,
        event=reaction.event,
        fire_once=reaction.fire_once,
        keep_owner=reaction.keep_owner,
        capture=tuple(reaction.capture),
    )


def _action_definition(action: Action, session_parts: tuple[str, ...]) -> ActionDefinition:
    return ActionDefinition(
        id=action.id,
        type=action.type,
        parts=tuple(action.parts_of(session_parts)),
        parameters=_parameter_values(action.parameters),
        reactions=tuple(map(_reaction_definition, action.reactions)),
    )
