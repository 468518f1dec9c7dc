"""A client's events: received with consecutive numbers, and passed to listeners."""

from __future__ import annotations

import logging
import threading

from robot_rt_control.client.backend import Listener
from robot_rt_control.client.event import Event
from robot_rt_control.vocabulary.event_kinds import Kind

_log = logging.getLogger(__name__)


class SequenceWatch:
    """Counts the missing events between numbered ones. One thread at a time."""

    def __init__(self) -> None:
        self._last = 0

    def missing(self, sequence: int) -> int:
        """Number of events missing right before the one of this number, from 1.

        The first event sets the count; a lower number comes from a new server, which counts from 1.
        """
        gap = sequence - self._last - 1 if self._last and sequence > self._last else 0
        self._last = sequence
        return gap


class EventSource:
    """Passes events to listeners, after a gap first an event `events_lost`. Only one thread may call `receive`."""

    def __init__(self) -> None:
        self._watch = SequenceWatch()
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def add(self, listener: Listener) -> None:
        """Call `listener` with every event from now on."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def remove(self, listener: Listener) -> None:
        """Undo `add`."""
        with self._lock:
            self._listeners = tuple(entry for entry in self._listeners if entry != listener)

    def receive(self, event: Event) -> None:
        """Pass on an event of the control server."""
        lost = self._watch.missing(event.sequence)
        if lost:
            text = f"{lost} events were lost between the control server and this application"
            _log.warning("%s", text)
            self._tell(Event(kind=Kind.EVENTS_LOST, tick=event.tick, reason=text, values={"lost": float(lost)}))
        self._tell(event)

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)
