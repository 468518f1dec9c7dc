"""A session: the exclusive right to move some parts, with actions, reactions, events and callbacks."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from robot_rt_control import srv
from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.client.conversions import action_message, parameter_messages, reaction_message, role_texts
from robot_rt_control.client.event import Event
from robot_rt_control.client.expression import Condition
from robot_rt_control.client.recorder import Recorder
from robot_rt_control.program.errors import DefinitionError, RobotControlError, SessionError, unknown

if TYPE_CHECKING:
    from robot_rt_control.client.client import Client

_log = logging.getLogger(__name__)

_KEPT_EVENTS = 10_000


class Session:
    """Made by `Client.session`; a context manager. All methods may be called from any thread.

    Leaving the context closes the session: its actions end, and its parts take their safety action.
    """

    def __init__(self, client: Client, parts: Iterable[str], *, lease_s: float, name: str) -> None:
        self._client = client
        self.parts = tuple(parts)
        response = client.call(
            srv.OpenSession, "open_session", SessionError, name=name, parts=list(self.parts), lease=float(lease_s)
        )
        self.id: str = response.session
        self.lease_s: float = response.lease
        self._changed = threading.Condition()
        self._events: deque[Event] = deque(maxlen=_KEPT_EVENTS)
        self._taken: dict[str, int] = {}
        self._end_reason: str | None = None
        self._queues: list[tuple[Callable[[Event], bool], CallbackQueue]] = []
        self._stop_renewing = threading.Event()
        self._names = 0
        client.add_listener(self._receive)
        self._renewer = threading.Thread(target=self._renew, name=f"lease of {self.id}", daemon=True)
        self._renewer.start()

    # --- life -----------------------------------------------------------------------------------

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the session; its parts take their safety action. Callbacks finish what has come."""
        self._stop_renewing.set()
        if self._end_reason is None:
            try:
                self._call(srv.CloseSession, "close_session")
            except SessionError as error:
                _log.info("session %s had ended already: %s", self.id, error)
        self._end("closed by the application")
        for _, callbacks in self._queues:
            callbacks.close()
        self._client.remove_listener(self._receive)

    @property
    def ended(self) -> str | None:
        """Why the session has ended; None while it lives."""
        return self._end_reason

    def _end(self, reason: str) -> None:
        with self._changed:
            if self._end_reason is None:
                self._end_reason = reason
            self._changed.notify_all()

    def _renew(self) -> None:
        """Renew the lease three times in its length, until the session ends."""
        if self.lease_s <= 0:
            return
        while not self._stop_renewing.wait(self.lease_s / 3):
            try:
                self._call(srv.RenewSession, "renew_session")
            except SessionError as error:
                self._end(str(error))
                return
            except RobotControlError as error:
                _log.warning("lease of session %s was not renewed: %s", self.id, error)

    def _call(self, service: type, path: str, **fields: Any) -> Any:
        if self._end_reason is not None:
            raise SessionError(f"session {self.id!r} has ended: {self._end_reason}", hint="Open a new one")
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
        before = len(self._queues)
        for reaction in {id(r): r for r in [*free, *(r for a in actions for r in a.reactions)]}.values():
            self._prepare_callback(reaction)
        try:
            self._call(
                srv.DefineActions,
                "define_actions",
                actions=[action_message(a, self.parts) for a in actions],
                reactions=[reaction_message(r) for r in free],
            )
        except SessionError as error:
            with self._changed:
                refused = self._queues[before:]
                del self._queues[before:]
            for _, callbacks in refused:  # else a second, corrected try would call them twice
                callbacks.close()
            raise DefinitionError(str(error)) from None

    def _prepare_callback(self, reaction: Reaction) -> None:
        """A reaction with a callback needs an event that leads to it."""
        if reaction.call is None:
            return
        if not reaction.event:
            self._names += 1
            reaction.event = f"callback_{self._names}"
        self.on(reaction.event, reaction.call, capacity=reaction.queue)

    def remove(self, *actions: str | Action, reactions: Iterable[str] = ()) -> None:
        """Remove actions, and free-standing reactions by name: all of them or none."""
        self._call(srv.RemoveActions, "remove_actions", actions=_ids(actions), reactions=list(reactions))

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
            raise (error if self._end_reason is not None else DefinitionError(str(error))) from None
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

    # --- events ---------------------------------------------------------------------------------

    def on(self, name: str, callback: Callable[[Event], object], *, capacity: int = 100) -> None:
        """Call `callback(event)` at every event of this name, in a thread of its own, in order.

        The callback may take as long as it likes and may call the session. Events beyond `capacity` that wait for it
        are dropped with a warning. `name` is a user's event or a kind: "action_failed", "session_ended" …
        """
        queue = CallbackQueue(
            callback,
            capacity=capacity,
            on_overflow=lambda n: _log.warning("callback for %r is too slow: %d events dropped so far", name, n),
            name=name,
        )
        with self._changed:
            self._queues.append((lambda event: name in (event.name, event.kind), queue))

    def wait_for(self, name: str, timeout_s: float | None = None) -> Event:
        """Wait for the next event of this name that `wait_for` has not given yet; also one that came before the call.

        Raises:
            TimeoutError: it did not come in time.
            SessionError: the session ended meanwhile, with the reason.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with self._changed:
            while True:
                for event in self._events:
                    if name in (event.name, event.kind) and event.sequence > self._taken.get(name, 0):
                        self._taken[name] = event.sequence
                        return event
                if self._end_reason is not None:
                    raise SessionError(
                        f"session {self.id!r} ended while waiting for the event {name!r}: {self._end_reason}"
                    )
                remaining = None if deadline is None else deadline - time.monotonic()
                if remaining is not None and remaining <= 0:
                    came = sorted({e.name for e in self._events if e.name})
                    raise TimeoutError(f"the event {name!r} did not come within {timeout_s:g} s; events so far: {came}")
                self._changed.wait(remaining)

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
            if self._end_reason is None:
                self.remove(reactions=[name])

    @property
    def active(self) -> tuple[str, ...]:
        """Ids of its active actions, in the order in which they started, as last told by the control server."""
        state = self._client.program_states.get(self.id)
        return () if state is None or self._end_reason is not None else state.active

    @property
    def events(self) -> list[Event]:
        """The session's last events, oldest first."""
        with self._changed:
            return list(self._events)

    def _receive(self, event: Event) -> None:
        """Called in the client's spinning thread."""
        if event.session not in (self.id, ""):
            return
        with self._changed:
            self._events.append(event)
            queues = [queue for matches, queue in self._queues if matches(event)]
            self._changed.notify_all()
        for queue in queues:
            queue.put(event)
        if event.kind == "session_ended" and event.session == self.id:
            self._stop_renewing.set()
            self._end(event.reason or "ended by the server")


def _ids(actions: Iterable[str | Action]) -> list[str]:
    return [a if isinstance(a, str) else a.id for a in actions]
