"""Callbacks: each one has a queue and a thread of its own, so that a slow one delays nobody else."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from robot_rt_control.client.event import Event

_log = logging.getLogger(__name__)


class CallbackQueue:
    """Calls `callback(event)` for each event put in, in order, in its own thread.

    An exception of the callback is logged and does not end the queue. Events that do not fit are dropped,
    counted in `overflowed`, and reported to `on_overflow` (called in the thread that puts events in).
    """

    def __init__(
        self, callback: Callable[[Event], object], *, capacity: int, on_overflow: Callable[[int], None], name: str
    ) -> None:
        self._callback, self._on_overflow, self._name = callback, on_overflow, name
        self._queue: queue.Queue[Event | None] = queue.Queue(capacity)
        self.overflowed = 0
        self._thread = threading.Thread(target=self._run, name=f"callback {name}", daemon=True)
        self._thread.start()

    def put(self, event: Event) -> None:
        """Hand an event over; never blocks."""
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self.overflowed += 1
            self._on_overflow(self.overflowed)

    def _run(self) -> None:
        while (event := self._queue.get()) is not None:
            try:
                self._callback(event)
            except Exception:
                _log.exception("callback for %s failed at tick %d", self._name, event.tick)

    def close(self, timeout_s: float = 1.0) -> None:
        """Let the callback finish what is queued, for at most so long."""
        try:
            self._queue.put(None, timeout=timeout_s)
        except queue.Full:
            return  # the callback hangs; its thread is a daemon and ends with the process
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)
