"""Callbacks: each has a queue, and over ROS a thread of its own, so that a slow one delays no other."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from robot_rt_control.client.event import Event
from robot_rt_control.definitions.stream_sample import OutputSample

Item = TypeVar("Item", bound=Event | OutputSample)

_log = logging.getLogger(__name__)


class CallbackQueue(Generic[Item]):
    """Calls `callback(event)` for each event or stream sample in the queue, in order.

    The backend decides which thread calls: the queue's own (`start_thread`), or in simulated time the waiting one
    (`call_waiting`). An exception of the callback does not end the queue. Events that do not fit are dropped and
    counted in `overflowed`; the next delivered event carries their count in `missed`.

    Args:
        capacity: how many events may wait for the callback.
        name: for people.
        on_overflow: called at the first drop of a run with the event and the number of drops so far, in the thread that
            puts events in.
        on_failure: called with the event and the callback's exception, in the thread that called the callback.
    """

    def __init__(
        self,
        callback: Callable[[Item], object],
        *,
        capacity: int,
        name: str,
        on_overflow: Callable[[Item, int], None],
        on_failure: Callable[[Item, Exception], None],
    ) -> None:
        self._callback, self._capacity, self._name = callback, capacity, name
        self._on_overflow, self._on_failure = on_overflow, on_failure
        self._changed = threading.Condition()
        self._waiting: deque[Item] = deque()
        self._missed = 0
        self._finishing = self._calling = False
        self.overflowed = 0
        self._thread: threading.Thread | None = None

    def start_thread(self) -> None:
        """Call the callback in a thread of its own, until the queue is closed."""
        self._thread = threading.Thread(target=self._run, name=f"callback {self._name}", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether no further calls will be made."""
        return self._finishing and not self._waiting

    @property
    def is_ready(self) -> bool:
        """Whether `call_waiting` has something to do."""
        return bool(self._waiting) and not self._calling

    def call_waiting(self) -> list[Exception]:
        """Call the callback for what waits, in this thread; does nothing during a call of it.

        Returns:
            What the callback raised; it has been logged and reported.
        """
        errors: list[Exception] = []
        if self._calling:
            return errors
        self._calling = True
        try:
            while self._waiting:
                error = self._call(self._waiting.popleft())
                errors += [] if error is None else [error]
        finally:
            self._calling = False
        return errors

    def put(self, event: Item) -> None:
        """Queue an event; never blocks. After `finish`, events are discarded."""
        with self._changed:
            if self._finishing:
                return
            dropped = len(self._waiting) >= self._capacity
            if dropped:
                self.overflowed += 1
                self._missed += 1
            else:
                self._waiting.append(replace(event, missed=self._missed) if self._missed else event)
                self._missed = 0
                self._changed.notify()
            first = self._missed == 1
        if dropped and first:
            self._on_overflow(event, self.overflowed)

    def _run(self) -> None:
        while (event := self._next()) is not None:
            self._call(event)

    def _call(self, event: Item) -> Exception | None:
        try:
            self._callback(event)
        except Exception as error:  # a callback may raise anything: it is reported, and the queue continues
            _log.exception("callback for %s failed at tick %d", self._name, event.tick)
            self._on_failure(event, error)
            return error
        return None

    def _next(self) -> Item | None:
        with self._changed:
            while not self._waiting:
                if self._finishing:
                    return None
                self._changed.wait()
            return self._waiting.popleft()

    def finish(self) -> None:
        """Accept no more events; the thread ends after the callback has received the waiting ones. Never blocks."""
        with self._changed:
            self._finishing = True
            self._changed.notify()

    def close(self, timeout_s: float = 1.0) -> None:
        """Let the callback finish what waits, for at most `timeout_s`."""
        self.finish()
        if self._thread is None:
            self.call_waiting()
        elif threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)


def close_all(queues: Sequence[CallbackQueue], timeout_s: float = 1.0) -> None:
    """Close several queues, in at most `timeout_s` altogether."""
    deadline = time.monotonic() + timeout_s
    for queue in queues:
        queue.finish()
    for queue in queues:
        queue.close(max(deadline - time.monotonic(), 0.0))
