"""Ends of sessions, reported after all events of the loop that led to them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from robot_rt_control.server.events.events import ServerEvent

Stamp = tuple[int, int]
"""A tick and its start [ns]."""


class SessionEnds:
    """Keeps each `session_ended` back until all events of its tick were handed out. Any thread may call.

    So within a session events come in order of ticks, and `session_ended` is the last one.

    Args:
        emit: hands out an event.
    """

    def __init__(self, emit: Callable[[ServerEvent], None]) -> None:
        self._emit = emit
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[ServerEvent, Stamp | None]] = {}
        self._known: dict[int, Stamp] = {}
        """The loop has ended the session, and the server has not yet."""

    def add(self, identity: int, event: ServerEvent, at: Stamp | None) -> None:
        """The server has ended a session.

        Args:
            event: its `session_ended`.
            at: when the loop ended it; None: `set_end` sets it, before or after.
        """
        with self._lock:
            self._waiting[identity] = event, at or self._known.pop(identity, None)

    def set_end(self, identity: int, at: Stamp) -> None:
        """The loop has ended a session."""
        with self._lock:
            if identity in self._waiting:
                self._waiting[identity] = self._waiting[identity][0], at
            else:
                self._known[identity] = at

    def flush(self, told: Stamp | None = None) -> None:
        """Tell the ends whose tick is over.

        Args:
            told: the last tick whose events were all handed out; None: no more will come.
        """
        with self._lock:
            for identity, (event, at) in list(self._waiting.items()):
                if told is None or (at is not None and at[0] <= told[0]):
                    del self._waiting[identity]
                    tick, time_ns = at or (0, 0)
                    self._emit(replace(event, tick=tick, time_ns=time_ns))
            if told is None:
                self._known.clear()
