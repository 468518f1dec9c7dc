"""The events of a session, and what waits for them: callers, iterators and callbacks."""

from __future__ import annotations

import logging
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from robot_rt_control.client.backend import Backend
from robot_rt_control.client.callback_queue import CallbackQueue, close_all
from robot_rt_control.client.event import Event
from robot_rt_control.vocabulary.errors import SessionError
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)

KEPT_EVENTS = 10_000
_SMALLEST_S = 1e-6
CLOSED = "closed by the application"


class Inbox:
    """The events of one session. All methods may be called from any thread.

    Args:
        backend: serves the callbacks, and waits.
        session: its id.
        kept: number of last events to keep.
    """

    def __init__(self, backend: Backend, session: str, *, kept: int = KEPT_EVENTS) -> None:
        self._backend, self._session = backend, session
        self._changed = threading.Condition()
        self._events: deque[Event] = deque(maxlen=kept)
        self._received = 0
        self._taken: dict[str, int] = {}
        self._queues: list[tuple[Callable[[Event], bool], CallbackQueue]] = []
        self._end_reason: str | None = None
        self.end_file = ""
        """Log of the last ticks before the session failed, on the executor's machine; empty: there is none."""
        self._closed = False

    @property
    def end_reason(self) -> str | None:
        """Why the session has ended; None: it lives."""
        return self._end_reason

    @property
    def events(self) -> list[Event]:
        """The last events, oldest first."""
        with self._changed:
            return list(self._events)

    def receive(self, event: Event) -> None:
        """Keep an event, and pass it to what waits for it. Never blocks."""
        if event.kind == Kind.SESSION_ENDED and event.session == self._session:
            self.end(event.reason or "ended by the server", event)
        else:
            self._keep(event)

    def _keep(self, event: Event) -> None:
        with self._changed:
            queues = self._append(event)
        for queue in queues:
            queue.put(event)

    def _append(self, event: Event) -> list[CallbackQueue]:
        """Under the lock. Returns the queues that the event goes to."""
        self._events.append(event)
        self._received += 1
        self._changed.notify_all()
        return [queue for concerns, queue in self._queues if concerns(event)]

    # --- the end --------------------------------------------------------------------------------

    def expect_end(self) -> None:
        """The application itself closes the session: its end is no error for `listen`."""
        self._closed = True

    def end(self, reason: str, event: Event | None = None) -> None:
        """The session has ended: wake all waits. Callbacks still get the events received so far, the end itself last.

        Args:
            event: the one that reported the end; None: there was none; then one is made.
        """
        with self._changed:
            if self._end_reason is not None:
                return
            self._end_reason = CLOSED if self._closed else reason
            self.end_file = "" if event is None else event.file
            if event is None:
                tick = self._events[-1].tick if self._events else 0
                event = Event(kind=Kind.SESSION_ENDED, session=self._session, tick=tick, reason=self._end_reason)
            telling, every = self._append(event), list(self._queues)
        for queue in telling:
            queue.put(event)
        for _, queue in every:
            queue.finish()

    def wait_for_end(self, timeout_s: float) -> None:
        """Wait until the session's end has been reported."""
        end = self._backend.now() + timeout_s
        while self._end_reason is None and (remaining := end - self._backend.now()) > 0:
            self._backend.wait(self._changed, lambda: self._end_reason is not None, remaining)

    def close(self) -> None:
        """Wait a short time for callbacks to finish the events received so far."""
        with self._changed:
            queues = [queue for _, queue in self._queues]
        close_all(queues)

    # --- waiting --------------------------------------------------------------------------------

    def wait_for(self, name: str, timeout_s: float | None) -> Event:
        """See `Session.wait_for`."""
        now = self._backend.now
        end = None if timeout_s is None else now() + timeout_s
        seen = 0
        while True:
            with self._changed:
                number = max(self._received - len(self._events), seen, self._taken.get(name, 0))
                for event in islice(self._events, number - (self._received - len(self._events)), None):
                    number += 1
                    if _matches(name, event):
                        self._taken[name] = number
                        return event
                seen = self._received
                if self._end_reason is not None:
                    raise self._ended(f"while waiting for the event {name!r}")
            # Simulated times are multiples of the period: a rest below a microsecond is rounding.
            remaining = None if end is None else end - now()
            if remaining is not None and remaining <= _SMALLEST_S:
                came = sorted({e.name for e in self.events if e.name})
                raise TimeoutError(f"the event {name!r} did not come within {timeout_s:g} s; events so far: {came}")
            self._wait(seen, remaining)

    def _wait(self, seen: int, timeout_s: float | None) -> None:
        """Wait until more events have been received, or the session has ended."""
        self._backend.wait(self._changed, lambda: self._received != seen or self._end_reason is not None, timeout_s)

    def listen(self, name: str) -> Iterator[Event]:
        """See `Session.listen`."""
        with self._changed:
            first = self._received
        return self._listen(name, first)

    def _listen(self, name: str, seen: int) -> Iterator[Event]:
        while True:
            self._wait(seen, None)
            with self._changed:
                gone = max(self._received - len(self._events) - seen, 0)
                new = list(self._events)[max(len(self._events) - (self._received - seen), 0) :]
                seen, ended = self._received, self._end_reason is not None
            if gone:
                text = f"{gone} events came faster than they were looked at"
                yield Event(kind=Kind.EVENTS_LOST, session=self._session, reason=text, values={"lost": float(gone)})
            for event in new:
                if not name or _matches(name, event):
                    yield event
            if ended and self._received == seen:
                if self._closed:
                    return
                raise self._ended("while its events were listened to")

    def _ended(self, when: str) -> SessionError:
        return SessionError(f"session {self._session!r} ended {when}: {self._end_reason}")

    # --- callbacks ------------------------------------------------------------------------------

    def on(self, name: str, callback: Callable[[Event], object], capacity: int) -> CallbackQueue:
        """See `Session.on`. Returns the callback's queue."""
        return self.on_reaction(lambda event: _matches(name, event), name, callback, capacity)

    def on_reaction(
        self, concerns: Callable[[Event], bool], name: str, callback: Callable[[Event], object], capacity: int
    ) -> CallbackQueue:
        """Call `callback(event)` for every event that `concerns` it. Returns the callback's queue.

        Args:
            name: of the callback, for people.
        """
        queue = CallbackQueue(
            callback,
            capacity=capacity,
            name=name,
            on_overflow=lambda event, dropped: self._overflow(name, event, dropped),
            on_failure=lambda event, error: self._failure(name, event, error),
        )
        self._backend.serve(queue)
        with self._changed:
            self._queues.append((concerns, queue))
            ended = self._end_reason is not None
        if ended:
            queue.finish()
        return queue

    def drop(self, queues: list[CallbackQueue]) -> None:
        """Forget callbacks that were not needed after all."""
        with self._changed:
            self._queues = [entry for entry in self._queues if entry[1] not in queues]
        close_all(queues)

    def _overflow(self, name: str, event: Event, dropped: int) -> None:
        text = f"the callback for {name!r} is too slow: its queue is full, {dropped} events dropped so far"
        _log.warning("%s", text)
        self._tell(Kind.CALLBACK_OVERFLOW, event, text, {"dropped": float(dropped)})

    def _failure(self, name: str, event: Event, error: Exception) -> None:
        steps = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(steps[-1].filename).name}:{steps[-1].lineno})" if steps else ""
        self._tell(Kind.CALLBACK_FAILED, event, f"callback for {name!r}: {type(error).__name__}: {error}{place}", {})

    def _tell(self, kind: str, event: Event, reason: str, values: dict[str, float]) -> None:
        """Report a callback's overflow or failure; not for callbacks of such reports, which could recurse for ever."""
        if event.kind in (Kind.CALLBACK_OVERFLOW, Kind.CALLBACK_FAILED):
            return
        self._keep(
            Event(
                kind=kind,
                session=self._session,
                tick=event.tick,
                time=event.time,
                reaction=event.reaction,
                reason=reason,
                values=values,
            )
        )


def _matches(name: str, event: Event) -> bool:
    return name in (event.name, event.kind)
