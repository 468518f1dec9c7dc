"""Numbers events and hands them to listeners."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)

Listener = Callable[[ServerEvent], None]
"""Called for every event, in order, in the thread that found it: quick, and without calling the server."""


class EventHub:
    """All methods may be called from any thread.

    Args:
        now: gives tick and time [ns] of the last event of the loop.
    """

    def __init__(self, now: Callable[[], tuple[int, int]]) -> None:
        self._now = now
        self._lock = threading.RLock()
        self._listeners: tuple[Listener, ...] = ()
        self._sequence = 0

    def add(self, listener: Listener) -> None:
        """Tell `listener` every event from now on."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def remove(self, listener: Listener) -> None:
        """Tell it no more."""
        with self._lock:
            self._listeners = tuple(entry for entry in self._listeners if entry != listener)

    def announce(
        self, kind: Kind, *, session: str = "", parts: Sequence[str] = (), reason: str = "", action: str = ""
    ) -> None:
        """Number and tell an event of the server's own. Its tick is taken as late as possible: so that no event of the
        loop with an earlier tick can come after it."""
        with self._lock:
            tick, time_ns = self._now()
            event = ServerEvent(kind=kind, session=session, part=", ".join(parts), reason=reason, current_action=action)
            self.emit(replace(event, tick=tick, time_ns=time_ns))

    def emit(self, event: ServerEvent) -> None:
        """Number an event and tell it. A listener that fails is logged; the others still get the event."""
        with self._lock:
            self._sequence += 1
            numbered = replace(event, sequence=self._sequence)
            for listener in self._listeners:
                try:
                    listener(numbered)
                except Exception:  # the other listeners must get the event
                    _log.exception("a listener could not handle %s", numbered)
