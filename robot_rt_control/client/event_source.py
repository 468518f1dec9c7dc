"""Where a client's events come in: numbered by the control server, told to whoever listens."""

from __future__ import annotations

import logging
import threading

from robot_rt_control.client.backend import Listener
from robot_rt_control.client.event import Event
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)


class SequenceWatch:
    """Counts what is missing between numbered events. One thread at a time."""

    def __init__(self) -> None:
        self._last = 0

    def missing(self, sequence: int) -> int:
        """How many events are missing right before the one of this number, from 1.

        The first one that comes sets the count; a lower number than before is another server's, which counts anew.
        """
        gap = sequence - self._last - 1 if self._last and sequence > self._last else 0
        self._last = sequence
        return gap


class EventSource:
    """Tells events to listeners; before one that shows a gap, an event `events_lost`. `receive` by one thread alone."""

    def __init__(self) -> None:
        self._watch = SequenceWatch()
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def add(self, listener: Listener) -> None:
        """Tell `listener` every event from now on."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def remove(self, listener: Listener) -> None:
        """Tell it no more."""
        with self._lock:
            self._listeners = tuple(entry for entry in self._listeners if entry != listener)

    def receive(self, event: Event) -> None:
        """Take an event of the control server."""
        lost = self._watch.missing(event.sequence)
        if lost:
            text = f"{lost} events were lost between the control server and this application"
            _log.warning("%s", text)
            self._tell(Event(kind=Kind.EVENTS_LOST, tick=event.tick, reason=text, values={"lost": float(lost)}))
        self._tell(event)

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)
