"""A session: the exclusive right to move some parts, with actions, reactions, events and callbacks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

from robot_rt_control.client.actions import Action, Reaction, ids_of, parameter_values, reply_of, role_texts
from robot_rt_control.client.backend import Backend, SessionKey, SessionRequest
from robot_rt_control.client.callback_queue import CallbackQueue, close_all
from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition
from robot_rt_control.client.followed import Ending, Followed
from robot_rt_control.client.inbox import CLOSED, Inbox
from robot_rt_control.client.lease import LeaseKeeper
from robot_rt_control.client.reaction_calls import ReactionCall, ReactionCalls
from robot_rt_control.client.recorder import Recorder
from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.definitions.definitions import ActionDefinition
from robot_rt_control.definitions.stream_sample import InputSample, OutputSample
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import (
    DefinitionError,
    RobotControlError,
    SessionEnded,
    SessionError,
    unknown,
)
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

BUILD_TIMEOUT_S = defaults.STARTUP_S + 60.0
"""[s] A client waits longer for code to be compiled than the server does."""
_LAST_TRY_S = 0.5
"""[s] Time-out for closing a session whose server has become silent."""
_MANY_STALE = 16
"""Reactions of what is followed no more that are removed at last, if nothing else is removed before."""
_END_S = 1.0
"""[s] for which `close` waits for the event that reports the end."""


class Session:
    """Made by `Client.session`; a context manager. All methods may be called from any thread.

    Leaving the context closes the session: its actions end, and its parts take their safety action.

    Args:
        backend: the workcell.
        request: what to open.
        loaded: classes of action types that are already loaded; the session adds to it.

    Raises:
        DefinitionError: a part is unknown, or the request contradicts itself.
        SessionError: a part is held by another session.
    """

    def __init__(self, backend: Backend, request: SessionRequest, loaded: set[type[ActionType]] | None = None) -> None:
        self._backend = backend
        self.name, self.parts, self.read_only = request.name, request.parts, request.read_only
        self._loaded = set() if loaded is None else loaded
        self._early: list[Event] | None = []
        """Events received before the session's id was known."""
        self._receiving = threading.Lock()
        self._opened = False
        self._names = 0
        self._calls = ReactionCalls()
        self._defining = threading.Lock()
        self._replacement: tuple[int, Callable[[], None]] = (0, lambda: None)
        """The last one: its tick, and what a refusal in this tick undoes."""
        self._followed: list[Followed] = []
        self._stale: list[str] = []
        """Reactions of what is followed no more."""
        self._streams: list[Stream] = []
        self._stream_queues: list[CallbackQueue[OutputSample]] = []
        backend.add_listener(self._receive)
        try:
            self._key: SessionKey = backend.open_session(request)
        except BaseException:
            backend.remove_listener(self._receive)
            raise
        self.id, self.lease_s = self._key.id, self._key.lease_s
        self._inbox = Inbox(backend, self.id)
        self._keeper: LeaseKeeper | None = None
        if backend.threaded:
            self._keeper = LeaseKeeper(
                lambda timeout_s: backend.renew_session(self._key, timeout_s),
                self._lost,
                lease_s=self.lease_s,
                name=f"lease of {self.id}",
                simulated=lambda: backend.simulated,
            )
        with self._receiving:
            early, self._early = self._early, None
            for event in early:
                self._sort(event)

    # --- life -----------------------------------------------------------------------------------

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def renew(self) -> None:
        """Restart the lease. A session does this by itself; in a LockstepCell a test may do it.

        Raises:
            SessionError: the session has ended.
        """
        self._backend.renew_session(self._live(), max(self.lease_s, _END_S))

    def resume(self, who: str = "") -> int:
        """After a released protective stop: let the session start motion again. Starts nothing by itself.

        Call it when a person has asked for it. Returns the tick.

        Args:
            who: asks, for the log; default: the session's name.

        Raises:
            CommandRefused: a protective stop is still latched.
            SessionError: the session has ended.
        """
        return self._backend.resume(self._live(), who or self.name)

    def change_tool(self, part: str, tool: str) -> int:
        """Put a tool on a part of the session, which is at rest and commanded by no action of a session.

        All that follows from the tool changes in one tick: the tool's pose, the weight, the limits. It is for you, or
        the program's action `change_tool`, to have it on the flange. Returns the tick.

        Args:
            tool: one that the workcell file lists for the part.

        Raises:
            DefinitionError: there is no such tool, or the session does not hold the part.
            CommandRefused: the part moves, an action commands it, or sensors say that another tool is on.
            SessionError: the session has ended.
        """
        return self._backend.change_tool(self._live(), part, tool)

    @property
    def suspended(self) -> bool:
        """Whether a protective stop keeps it from starting motion until `resume`, as last reported."""
        state = self._backend.program_states.get(self.id)
        return state is not None and self.ended is None and state.suspended

    def close(self) -> None:
        """End the session; its parts take their safety action. Callbacks first finish the events received so far."""
        unanswered = False
        if self._keeper is not None:
            self._keeper.stop()
            unanswered = self._keeper.unanswered
        self._inbox.expect_end()
        if self.ended is None or unanswered:
            try:
                self._backend.close_session(self._key, _LAST_TRY_S if unanswered else None)
                if not self._backend.gated:
                    self._inbox.wait_for_end(_END_S)
            except SessionError as error:
                _log.info("session %s had ended already: %s", self.id, error)
            except RobotControlError as error:
                _log.warning("session %s could not be closed, and ends by its lease if it has one: %s", self.id, error)
        self._inbox.end(CLOSED)
        self._inbox.close()
        self._leave()
        close_all(self._stream_queues)

    @property
    def ended(self) -> str | None:
        """Why the session has ended; None while it lives."""
        return self._inbox.end_reason

    @property
    def secret(self) -> str:
        """The secret of the session's commands, for calls by hand; empty: the session is unprotected."""
        return self._key.secret

    @property
    def backend(self) -> Backend:
        """The workcell."""
        return self._backend

    @property
    def key(self) -> SessionKey:
        """The credentials for its commands, for a run in it.

        Raises:
            SessionError: the session has ended.
        """
        return self._live()

    def _lost(self, reason: str) -> None:
        """In the thread that renews the lease."""
        self._inbox.end(reason)
        self._leave()
        id, name = self.id, self.name  # what is kept of it is not the whole session
        self._backend.give_up(id, lambda: SessionEnded.of(id, name, reason))

    def _leave(self) -> None:
        """It has ended: nothing more comes, and the backend holds it no longer."""
        self._backend.remove_listener(self._receive)
        while self._followed:
            self._followed.pop().leave(self.ended or CLOSED)
        if self._stream_queues:
            self._backend.forget(self.id)
            for queue in self._stream_queues:
                queue.finish()

    def _live(self) -> SessionKey:
        """The session's key. Raises SessionError: the session has ended."""
        if self.ended is not None:
            raise SessionEnded.of(self.id, self.name, self.ended, self._inbox.end_file)
        return self._key

    # --- definitions ----------------------------------------------------------------------------

    def add(self, *actions: Action | ActionDefinition, reactions: Iterable[Reaction] = ()) -> None:
        """Define actions and free-standing reactions: all of them or, on an error, none.

        Args:
            actions: also defined ones, such as `plan.actions("push")`.

        Raises:
            DefinitionError: names what is wrong; nothing has changed.
            CompileError: code of an action's class is refused; likewise.
            SessionError: the session has ended, or is read-only.
        """
        free = list(reactions)
        self._define(
            [Action.of(a) if isinstance(a, ActionDefinition) else a for a in actions],
            free,
            lambda key, definitions: self._backend.define(key, definitions, [r.definition() for r in free]),
        )

    def replace(self, actions: Action | Iterable[Action], *, start: str | Action | Iterable[str | Action] = ()) -> int:
        """Give actions new definitions under their ids, add those with new ids, and start some: all in one tick,
        without standstill, or nothing.

        Reactions and strategies of other actions that name a replaced one then mean the new one. Callbacks of its old
        reactions get their firings up to that tick. Streams to it are closed; open them again.

        Args:
            start: what starts, moving on from the present motion, as if by `start`. Nothing: an active action that is
                replaced starts anew; otherwise it ends, unless it is among these.

        Returns:
            The tick; a later one if the loop ticks on request only, where an event `replace_refused` reports a refusal.

        Raises:
            as `add`.
            CommandRefused: what is to start cannot; nothing has changed.
        """
        new = [actions] if isinstance(actions, Action) else list(actions)
        ids = ids_of([start] if isinstance(start, str | Action) else start)
        tick = self._define(new, [], lambda key, definitions: self._backend.replace(key, definitions, ids))
        with self._defining:
            self._replacement = tick, self._calls.replaced(new, tick)
        self._close_streams(ids_of(new), "replaced")
        return tick

    def _define(
        self,
        actions: Sequence[Action],
        free: list[Reaction],
        define: Callable[[SessionKey, list[ActionDefinition]], _T],
    ) -> _T:
        key = self._live()
        for action_class in (c for a in actions for c in a.classes):
            if action_class not in self._loaded:
                self._backend.load_action_types(action_class, replace=True, timeout_s=BUILD_TIMEOUT_S)
                self._loaded.add(action_class)
        with self._defining:
            new, undo = self._calls.prepare(actions, free)
            queues = [self._inbox.on_reaction(c.concerns, *self._replying(c), c.reaction.queue) for c in new]
        try:
            return define(key, [a.definition(self.parts) for a in actions])
        except RobotControlError:
            with self._defining:
                undo()
            self._inbox.drop(queues)  # otherwise a second, corrected try would call them twice
            raise

    def _replying(self, of: ReactionCall) -> tuple[str, Callable[[Event], object]]:
        """The display name of a reaction's callback, and the callback; its result becomes parameters."""
        call, reply_to = of.call, of.reaction.reply_to

        def call_and_reply(event: Event) -> None:
            values = reply_of(call(event), reply_to)
            if values:
                self.set(reply_to, **values)

        return of.reaction.event, call_and_reply if reply_to else call

    def remove(self, *actions: str | Action, reactions: Iterable[str] = ()) -> None:
        """Remove actions, and free-standing reactions by name: all of them or none.

        Raises:
            DefinitionError: one does not exist, or another reaction refers to it; nothing has changed.
            SessionError: the session has ended.
        """
        ids, names = ids_of(actions), list(reactions)
        if ids or names:  # an empty request would mean everything
            concerned = [followed for followed in list(self._followed) if followed.concerns(ids)]
            gone = [*self._stale, *(name for followed in concerned for name in followed.reaction_names)]
            self._backend.remove(self._live(), ids, [*names, *gone])
            self._stale = [name for name in self._stale if name not in gone]
            for followed in concerned:
                followed.unjudged(gone)
            self._close_streams(ids)

    def clear(self) -> None:
        """Remove everything that the session has defined, in one tick; its parts take their default action."""
        self._stale.clear()
        self._backend.remove(self._live(), (), ())
        self._close_streams([stream.action for stream in self._streams])

    def _close_streams(self, actions: list[str], how: str = "removed") -> None:
        for stream in self._streams:
            if stream.action in actions:
                stream.close(f"its action {stream.action!r} was {how}")

    def upload(
        self, program: str, parts: Mapping[str, str] | Iterable[str] = (), /, *, prefix: str = "", **parameters: Any
    ) -> list[str]:
        """Define all of a program or, on an error, nothing. Returns the ids of its actions.

        Args:
            program: YAML text, or the name of a stored program: "trace_edge", "trace_edge@2".
            parts: parts for its roles, role → part or "role=part".
            prefix: before its ids, as in `Programs.run`.
            parameters: values of its parameters, as those of an Action.

        Raises:
            DefinitionError, ProgramError: all that is wrong, each with its line; nothing has changed.
            SessionError: the session has ended.
        """
        values = parameter_values(parameters)
        return self._backend.upload_program(self._live(), program, role_texts(parts), values, prefix=prefix)

    # --- running --------------------------------------------------------------------------------

    def start(self, *actions: str | Action, at_tick: int = 0) -> int:
        """Start actions in one tick, all or none. Returns the tick; a later one if the loop ticks on request only.

        Raises:
            DefinitionError: there is no such action, or two of them use the same part.
            CommandRefused: the loop refused; nothing has started.
            SessionError: the session has ended.
        """
        return self._backend.start(self._live(), ids_of(actions), at_tick)

    def follow(
        self,
        *actions: str | Action,
        until: str | Condition | Mapping[str, str | Condition] | None = "",
        add: Iterable[Action | ActionDefinition] = (),
        chain: Iterable[str | Action | ActionDefinition] = (),
        start: bool = True,
        on_change: Callable[[], object] = lambda: None,
        on_end: Callable[[Ending], object] | None = None,
    ) -> Followed:
        """Start actions in one tick, all or none, and learn how they end: `session.follow("move").wait(20)`.

        Args:
            until: the condition of the end that is to be reached, or name of an end → condition, of which the first to
                hold ends it. The loop judges them in each tick. Default: all of `actions` are settled, or done.
                None: there is nothing to reach; they end otherwise.
            add: actions to define first; they belong to it.
            chain: further ones that belong to it: reactions of those before start them.
            start: False: only prepare it, so that `Followed.start` takes one command to the loop.
            on_change: called when `poll` of it may have something new, in the receiving thread; must return at once.
            on_end: called once with the ending, as callbacks of `on` are.

        Raises:
            as `add` and `start`.
        """
        added, ids = list(add), ids_of(actions)
        all_ids = [*ids, *(action if isinstance(action, str) else action.id for action in (*added, *chain))]
        if isinstance(until, str) and not until:
            if added:
                self.add(*added)
                added = []
            until = self._all_settled(ids)
        given = until if isinstance(until, Mapping) else {} if until is None else {"done": until}
        ends = {name: str(when) for name, when in given.items()}
        self._names += 1
        followed = Followed(self, ids, all_ids, ends, self._names, on_change)
        if len(self._stale) >= _MANY_STALE:
            stale, self._stale = self._stale, []
            self._backend.remove(self._live(), (), stale)
        self._followed.append(followed)
        if on_end is not None:
            what = f"the end of {', '.join(ids)}"
            followed.queue = self._inbox.on_reaction(_is_end, what, followed.call(on_end), 100)
        try:
            followed.judge(*added)
        except BaseException:
            followed.give_up()
            raise
        if start:
            followed.start()
        return followed

    def _all_settled(self, ids: Sequence[str]) -> str:
        """The condition that these actions are settled, or done."""
        values = self.values([f"{id}." for id in ids])
        found = []
        for id in ids:
            known = [name for name in (f"{id}.is_settled", f"{id}.is_done") if name in values]
            if not known:
                raise DefinitionError(
                    f"action {id!r} has no state variable 'is_done'",
                    expected="a condition in `until`",
                    got="none",
                    hint="Say when the action has reached its end, such as 'time > 10'",
                )
            found.append(known[0])
        return " and ".join(found)

    def judged(self, reactions: Iterable[str]) -> None:
        """How followed actions end has been judged: these reactions are removed with what is removed next."""
        self._stale += reactions

    def drop(self, callback: CallbackQueue[Event]) -> None:
        """A callback is not called any more."""
        self._inbox.drop([callback])

    def forget(self, followed: Followed) -> None:
        """Followed actions have ended, and none of them is active."""
        with suppress(ValueError):
            self._followed.remove(followed)

    def stop(self, *actions: str | Action) -> int:
        """Stop actions, all of the session if none are named; their parts take their default action.

        Raises:
            as `start`.
        """
        return self._backend.stop(self._live(), ids_of(actions))

    def signal(self, action: str | Action, signal: str) -> int:
        """Raise a signal to an active action. Returns the tick.

        Raises:
            as `start`.
        """
        return self._backend.raise_signal(self._live(), ids_of([action])[0], signal)

    def set(self, action: str | Action, **parameters: Any) -> int:
        """Change parameters of an action; the others keep their values. Returns the tick.

        Args:
            action: the action; "<action>.<degree of freedom>.<strategy>": parameters of this strategy; "session":
                variables of the session, numbers or lists of numbers, which conditions and strategies read: after
                `session.set("session", offset=(0.02, "m"))`, `session.offset` is one.

        Raises:
            as `start`.
        """
        return self._backend.set_parameters(self._live(), ids_of([action])[0], parameter_values(parameters))

    # --- looking --------------------------------------------------------------------------------

    def values(self, prefixes: Iterable[str]) -> dict[str, float]:
        """Present values of the state variables whose names begin with one of these words, all from one tick. Both
        parts' variables and those of the session's actions: "arm.tool.", "move.is_done". NaN: unknown.
        """
        return self._backend.state_values(prefixes, self._live().id)

    def value(self, name: str) -> float:
        """Present value of a state variable of a part, or of an action of this session; NaN: unknown.

        Raises:
            DefinitionError: there is none of this name.
        """
        values = self.values([name])
        if name not in values:
            known = unknown("state variable", name, self.values([""]))
            raise DefinitionError(f"state variable {name!r} is not known", expected=known)
        return values[name]

    def record(self, *names: str, period_s: float = 0.02) -> Recorder:
        """Record state variables while the context lives: `with session.record("arm.tool.z") as recording: …`.

        Args:
            names: as in the session's conditions: "arm.tool.z", "move.progress".
            period_s: [s] between two samples; in simulated time each tick is recorded.

        Raises:
            DefinitionError: there is none of this name.
        """
        return Recorder(self.values, names, period_s, self._backend.sample_each_tick)

    # --- streams --------------------------------------------------------------------------------

    def stream(self, action: str | Action, name: str) -> Stream:
        """Open a stream input of an action for writing, before or while it is active.

        Raises:
            DefinitionError: there is no such action or stream.
            SessionError: the session has ended.
        """
        (action_id,) = ids_of([action])
        key = self._backend.open_stream(self._live(), action_id, name)

        def send(sample: InputSample) -> None:
            self._live()
            self._backend.write_sample(key, sample)

        stream = Stream(
            action_id,
            name,
            length=key.length,
            rates=True,  # the server checks whether the stream takes them
            period=key.period,
            send=send,
            clock=self._backend.source_time,
        )
        self._streams = [*(s for s in self._streams if not s.is_closed), stream]
        return stream

    def on_stream(
        self, action: str | Action, name: str, callback: Callable[[OutputSample], object], *, capacity: int = 1000
    ) -> None:
        """Call `callback(sample)` for every sample of a stream output, in order, in a thread of its own.

        If more than `capacity` samples wait, further ones are dropped with a warning; `sample.missed` counts them.
        """
        (action_id,) = ids_of([action])
        queue = CallbackQueue(
            callback,
            capacity=capacity,
            on_overflow=lambda _, n: _log.warning("callback for stream %r is too slow: %d samples dropped", name, n),
            on_failure=lambda *_: None,  # the queue has logged it
            name=f"{action_id}.{name}",
        )
        self._backend.serve(queue)
        self._stream_queues.append(queue)
        self._backend.listen(self.id, action_id, name, queue)

    # --- events ---------------------------------------------------------------------------------

    def on(self, name: str, callback: Callable[[Event], object], *, capacity: int = 100) -> None:
        """Call `callback(event)` for every event of this name, in order, in a thread of its own.

        In simulated time the waiting thread calls it right after the tick. The callback may take any time and may call
        the session. If more than `capacity` events wait, further ones are dropped: an event `callback_overflow` reports
        this, and `event.missed` counts them. An exception is logged and reported by an event `callback_failed`; calls
        continue with the next event. `name` is a user's event or a kind: "action_failed", "session_ended" …
        """
        self._inbox.on(name, callback, capacity)

    def wait_for(self, name: str, timeout_s: float | None = None) -> Event:
        """Wait for the next event of this name that `wait_for` has not returned yet, even if it came before the call.

        Args:
            timeout_s: in the workcell's time: simulated time where it lives in it (I17); None: without end.

        Raises:
            TimeoutError: it did not come in time.
            SessionError: the session ended first, with the reason.
        """
        return self._inbox.wait_for(name, timeout_s)

    def listen(self, name: str = "") -> Iterator[Event]:
        """Iterate over all events from now on, or those of one name or kind: `for event in session.listen("near"): …`.

        The iteration ends when the application closes the session.

        Raises:
            SessionError: the session ended otherwise, with the reason.
        """
        return self._inbox.listen(name)

    def wait_until(self, condition: str | Condition, timeout_s: float | None = None) -> Event:
        """Wait until a condition on state variables holds. A temporary free-standing reaction evaluates it in each
        tick.

        Raises:
            DefinitionError: the condition is not valid.
            TimeoutError: it did not hold in time.
            SessionError: the session ended first.
        """
        self._names += 1
        name = f"wait_{self._names}"
        self.add(reactions=[Reaction(condition, event=name, name=name, fire_once=True)])
        try:
            return self.wait_for(name, timeout_s)
        except TimeoutError:
            raise TimeoutError(f"the condition {str(condition)!r} did not hold within {timeout_s:g} s") from None
        finally:
            if self.ended is None:
                self.remove(reactions=[name])

    @property
    def active(self) -> tuple[str, ...]:
        """Ids of its active actions, in the order in which they started, as last reported by the control server."""
        state = self._backend.program_states.get(self.id)
        return () if state is None or self.ended is not None else state.active

    @property
    def events(self) -> list[Event]:
        """The session's last events, oldest first."""
        return self._inbox.events

    def _receive(self, event: Event) -> None:
        """Called in the thread that receives events."""
        with self._receiving:
            if self._early is not None:
                self._early.append(event)
            else:
                self._sort(event)

    def _sort(self, event: Event) -> None:
        """Take this session's events, and those of the whole workcell since it was opened."""
        if event.session == self.id:
            self._opened = True
            if event.kind == Kind.SESSION_ENDED and self._keeper is not None:
                self._keeper.stop()
            if event.kind == Kind.REPLACE_REFUSED and event.tick == self._replacement[0]:
                self._replacement[1]()
            self._pass_on(event)
            if event.kind == Kind.SESSION_ENDED:
                self._leave()
        elif event.session == "" and (self._opened or event.kind == Kind.EVENTS_LOST):
            self._pass_on(event)

    def _pass_on(self, event: Event) -> None:
        for followed in list(self._followed):
            followed.receive(event)
        self._inbox.receive(event)


def _is_end(event: Event) -> bool:
    return event.kind == Kind.SESSION_ENDED
