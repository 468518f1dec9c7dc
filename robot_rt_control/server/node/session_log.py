"""Log lines for sessions that end otherwise than by their client."""

from __future__ import annotations

from collections.abc import Callable

from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.vocabulary.event_kinds import Kind


class SessionLog:
    """A listener of the server's events.

    Args:
        warning: takes lines.
    """

    def __init__(self, warning: Callable[[str], object]) -> None:
        self._warning = warning

    def take(self, event: ServerEvent) -> None:
        """In the dispatcher's thread."""
        if event.kind != Kind.SESSION_ENDED or event.by_client:
            return
        parts = f" (parts {event.part})" if event.part else ""
        log = f"; the last ticks: {event.file}" if event.file else ""
        self._warning(f"session {event.session!r}{parts} has ended: {event.reason}{log}")
