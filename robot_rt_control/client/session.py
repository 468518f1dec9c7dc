"""A session: the exclusive right to move some parts, with actions, reactions, events and callbacks."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from robot_rt_control import srv
from robot_rt_control.client.actions import Action, Reaction, reply_of
from robot_rt_control.client.callback_queue import CallbackQueue, close_all
from robot_rt_control.client.conversions import action_message, parameter_messages, reaction_message, role_texts
from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition
from robot_rt_control.client.inbox import CLOSED, EVENTS_LOST, SESSION_ENDED, Inbox
from robot_rt_control.client.lease import LeaseKeeper
from robot_rt_control.client.reaction_calls import ReactionCall, ReactionCalls
from robot_rt_control.client.recorder import Recorder
from robot_rt_control.client.stream import Stream
from robot_rt_control.definitions.stream_sample import InputSample, OutputSample
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError, SessionError, unknown

if TYPE_CHECKING:
    from robot_rt_control.client.client import Client

_log = logging.getLogger(__name__)

_LAST_TRY_S = 0.5
"""For closing a session that nobody has answered for already."""


class Session:
    """Made by `Client.session`; a context manager. All methods may be called from any thread.

    Leaving the context closes the session: its actions end, and its parts take their safety action.
    """

    def __init__(
        self,
        client: Client,
        parts: Iterable[str],
        *,
        lease_s: float,
        name: str,
        deadline_s: float = 0.0,
        read_only: bool = False,
    ) -> None:
        self._client = client
        self.parts, self.read_only = tuple(parts), read_only
        self._early: list[Event] | None = []
        """What came before the id of the session was known."""
        self._receiving = threading.Lock()
        self._opened = False
        self._names = 0
        self._calls = ReactionCalls()
        self._defining = threading.Lock()
        self._forget_streams: Callable[[], None] = lambda: None
        self._stream_queues: list[CallbackQueue[OutputSample]] = []
        client.add_listener(self._receive)
        try:
            response = client.call(
                srv.OpenSession,
                "open_session",
                SessionError,
                name=name,
                parts=list(self.parts),
                lease=float(lease_s),
                deadline=float(deadline_s),
                read_only=read_only,
            )
        except BaseException:
            client.remove_listener(self._receive)
            raise
        self.id: str = response.session
        self.lease_s: float = response.lease
        self._inbox = Inbox(self.id)
        self._keeper = LeaseKeeper(
            lambda timeout_s: client.renew(self.id, timeout_s),
            self._inbox.end,
            lease_s=self.lease_s,
            name=f"lease of {self.id}",
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

    def close(self) -> None:
        """End the session; its parts take their safety action. Callbacks finish what has come."""
        self._keeper.stop()
        self._inbox.expect_end()
        if self.ended is None or self._keeper.unanswered:
            more = {"timeout_s": _LAST_TRY_S} if self._keeper.unanswered else {}
            try:
                self._client.call(srv.CloseSession, "close_session", SessionError, session=self.id, **more)
            except SessionError as error:
                _log.info("session %s had ended already: %s", self.id, error)
            except RobotControlError as error:
                _log.warning("session %s could not be closed, and ends by its lease if it has one: %s", self.id, error)
        self._inbox.end(CLOSED)
        self._inbox.close()
        self._client.remove_listener(self._receive)
        self._forget_streams()
        close_all(self._stream_queues)

    @property
    def ended(self) -> str | None:
        """Why the session has ended; None while it lives."""
        return self._inbox.end_reason

    def _call(self, service: type, path: str, **fields: Any) -> Any:
        if self.ended is not None:
            raise SessionError(f"session {self.id!r} has ended: {self.ended}", hint="Open a new one")
        return self._client.call(service, path, SessionError, session=self.id, **fields)

    # --- definitions ----------------------------------------------------------------------------

    def add(self, *actions: Action, reactions: Iterable[Reaction] = ()) -> None:
        """Define actions and free-standing reactions: all of them or, on an error, none.

        Raises:
            DefinitionError: names what is wrong; nothing has changed.
            CompileError: code of an action's class is refused; likewise.
        """
        self._client.load_classes(a.action_class for a in actions if a.action_class is not None)
        free = list(reactions)
        with self._defining:
            new, undo = self._calls.prepare(actions, free)
            queues = [self._inbox.on_reaction(c.concerns, *self._replying(c), c.reaction.queue) for c in new]
        try:
            self._call(
                srv.DefineActions,
                "define_actions",
                actions=[action_message(a, self.parts) for a in actions],
                reactions=[reaction_message(r) for r in free],
            )
        except RobotControlError as error:
            with self._defining:
                undo()
            self._inbox.drop(queues)  # else a second, corrected try would call them twice
            if isinstance(error, SessionError) and self.ended is None:
                raise DefinitionError(str(error)) from None
            raise

    def _replying(self, of: ReactionCall) -> tuple[str, Callable[[Event], object]]:
        """The name of a reaction's callback for people, and the callback, whose result becomes parameters."""
        call, reply_to = of.call, of.reaction.reply_to

        def call_and_reply(event: Event) -> None:
            values = reply_of(call(event), reply_to)
            if values:
                self.set(reply_to, **values)

        return of.reaction.event, call_and_reply if reply_to else call

    def remove(self, *actions: str | Action, reactions: Iterable[str] = ()) -> None:
        """Remove actions, and free-standing reactions by name: all of them or none."""
        ids, names = _ids(actions), list(reactions)
        if ids or names:  # else the request would mean: everything
            self._call(srv.RemoveActions, "remove_actions", actions=ids, reactions=names)

    def clear(self) -> None:
        """Remove everything that the session has defined, in one tick; its parts take their default action."""
        self._call(srv.RemoveActions, "remove_actions")

    def upload(self, program: str, parts: Mapping[str, str] | Iterable[str] = (), /, **parameters: Any) -> list[str]:
        """Define everything of a program: all of it or, on an error, nothing. Returns the ids of its actions.

        Args:
            program: YAML text, or the name of a kept program: "trace_edge", "trace_edge@2".
            parts: parts for its roles, role → part or "role=part".
            parameters: values of its parameters, as those of an Action.

        Raises:
            DefinitionError: all that is wrong, each with its line; nothing has changed.
            SessionError: the session has ended.
        """
        try:
            response = self._call(
                srv.UploadProgram,
                "upload_program",
                program=program,
                parts=role_texts(parts),
                parameters=parameter_messages(parameters),
            )
        except SessionError as error:
            raise (error if self.ended is not None else DefinitionError(str(error))) from None
        return list(response.actions)

    # --- running --------------------------------------------------------------------------------

    def start(self, *actions: str | Action, at_tick: int = 0) -> int:
        """Start actions in one tick, all or none. Returns the tick (in lockstep: the tick in which they will start)."""
        return int(self._call(srv.StartActions, "start_actions", actions=_ids(actions), target_tick=at_tick).tick)

    def stop(self, *actions: str | Action) -> int:
        """Stop actions, without arguments all of the session; their parts take their default action."""
        return int(self._call(srv.StopActions, "stop_actions", actions=_ids(actions)).tick)

    def signal(self, action: str | Action, signal: str) -> int:
        """Raise a signal to an active action. Returns the tick."""
        return int(self._call(srv.RaiseSignal, "raise_signal", action=_ids([action])[0], signal=signal).tick)

    def set(self, action: str | Action, **parameters: Any) -> int:
        """Give an action new parameters; those left out keep their values. Returns the tick."""
        return int(
            self._call(
                srv.SetActionParameters,
                "set_action_parameters",
                action=_ids([action])[0],
                parameters=parameter_messages(parameters),
            ).tick
        )

    # --- looking --------------------------------------------------------------------------------

    def values(self, prefixes: Iterable[str]) -> dict[str, float]:
        """Present values, all of one tick, of the state variables whose name begins with one of these words: parts'
        and the session's actions' ("arm.tool.", "move.is_done"); NaN: unknown.
        """
        wanted = " ".join(prefixes)
        response = self._call(srv.ListStateVariables, "list_state_variables", filter=wanted)
        return {variable.name: float(variable.value) for variable in response.variables}

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
            names: as conditions of the session spell them: "arm.tool.z", "move.progress".
            period_s: between two looks [s].

        Raises:
            DefinitionError: there is none of this name.
        """
        return Recorder(self.values, names, period_s)

    # --- streams --------------------------------------------------------------------------------

    def stream(self, action: str | Action, name: str) -> Stream:
        """Get ready to write a stream input of an action, before or while it is active.

        Raises:
            SessionError: there is no such action or stream, or the session has ended.
        """
        (action_id,) = _ids([action])
        link = self._client.streams
        link.connect()
        opened = self._call(srv.OpenStream, "open_stream", action=action_id, stream=name)

        def send(sample: InputSample) -> None:
            if self.ended is not None:
                raise SessionError(f"session {self.id!r} has ended: {self.ended}", hint="Open a new one")
            link.send(self.id, action_id, name, sample)

        return Stream(
            action_id,
            name,
            length=int(opened.length),
            rates=True,  # the server knows whether the stream takes them
            period=float(opened.period),
            send=send,
            clock=time.monotonic,
        )

    def on_stream(
        self, action: str | Action, name: str, callback: Callable[[OutputSample], object], *, capacity: int = 1000
    ) -> None:
        """Call `callback(sample)` at every sample of a stream output, in a thread of its own, in order.

        Samples beyond `capacity` that wait for it are dropped with a warning; `sample.missed` counts them.
        """
        (action_id,) = _ids([action])
        queue = CallbackQueue(
            callback,
            capacity=capacity,
            on_overflow=lambda _, n: _log.warning("callback for stream %r is too slow: %d samples dropped", name, n),
            on_failure=lambda *_: None,  # the queue has logged it
            name=f"{action_id}.{name}",
        )
        self._stream_queues.append(queue)
        link = self._client.streams
        self._forget_streams = lambda: link.forget(self.id)
        link.listen(self.id, action_id, name, queue)

    # --- events ---------------------------------------------------------------------------------

    def on(self, name: str, callback: Callable[[Event], object], *, capacity: int = 100) -> None:
        """Call `callback(event)` at every event of this name, in a thread of its own, in order.

        The callback may take as long as it likes and may call the session. Where more than `capacity` events wait for
        it, further ones are dropped: an event `callback_overflow` tells it, and `event.missed` counts. An exception is
        logged, and told by an event `callback_failed`; the next event comes all the same. `name` is a user's event or a
        kind: "action_failed", "session_ended" …
        """
        self._inbox.on(name, callback, capacity)

    def wait_for(self, name: str, timeout_s: float | None = None) -> Event:
        """Wait for the next event of this name that `wait_for` has not given yet; also one that came before the call.

        Raises:
            TimeoutError: it did not come in time.
            SessionError: the session ended meanwhile, with the reason.
        """
        return self._inbox.wait_for(name, timeout_s)

    def follow(self, name: str = "") -> Iterator[Event]:
        """All events from this call on, or those of one name or kind: `for event in session.follow("near"): …`.

        It ends when the application closes the session.

        Raises:
            SessionError: the session ended otherwise, with the reason.
        """
        return self._inbox.follow(name)

    def wait_until(self, condition: str | Condition, timeout_s: float | None = None) -> Event:
        """Wait until a condition on state variables holds: a free-standing reaction that lives until then.

        Raises:
            DefinitionError: the condition is not valid.
            TimeoutError: it did not hold in time.
            SessionError: the session ended meanwhile.
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
        """Ids of its active actions, in the order in which they started, as last told by the control server."""
        state = self._client.program_states.get(self.id)
        return () if state is None or self.ended is not None else state.active

    @property
    def events(self) -> list[Event]:
        """The session's last events, oldest first."""
        return self._inbox.events

    def _receive(self, event: Event) -> None:
        """Called in the client's spinning thread."""
        with self._receiving:
            if self._early is not None:
                self._early.append(event)
            else:
                self._sort(event)

    def _sort(self, event: Event) -> None:
        """Take what concerns this session: its own events, and those of the whole workcell since it was opened."""
        if event.session == self.id:
            self._opened = True
            if event.kind == SESSION_ENDED:
                self._keeper.stop()
            self._inbox.receive(event)
        elif event.session == "" and (self._opened or event.kind == EVENTS_LOST):
            self._inbox.receive(event)


def _ids(actions: Iterable[str | Action]) -> list[str]:
    return [a if isinstance(a, str) else a.id for a in actions]
