"""A client without a network: what `client.Session` needs of a `Client`, over the control server of a lockstep cell.

Messages, services, conversions and the session itself are the real ones; only DDS is missing. Threads of callbacks may
call while the test's own thread steps: `step` and the services exclude each other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from robot_rt_control.client.conversions import event_of
from robot_rt_control.client.event_source import EventSource, Listener
from robot_rt_control.client.session import Session
from robot_rt_control.definitions.action_type import ActionType
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.node.conversions import event_message, time_message
from robot_rt_control.server.node.services import Services
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError, SessionError


class _Node:
    """Collects services instead of offering them."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def create_service(self, kind: Any, path: str, callback: Any, *, callback_group: Any) -> None:
        self.handlers[path.removeprefix("~/")] = callback

    def get_logger(self) -> Any:
        return SimpleNamespace(error=print)


class CellClient:
    """Args:
    cell: where; to be stepped by this object alone.
    """

    def __init__(self, cell: LockstepCell) -> None:
        self.cell = cell
        self.one_at_a_time = threading.RLock()
        self.deaf = False
        """Whether the server's answers stay away, as those of a dead one do."""
        self.losing = False
        """Whether events are lost on the way."""
        self.program_states: dict[str, Any] = {}
        self.timeouts: list[float | None] = []
        """With which calls were made; None: the usual one."""
        self._source = EventSource()
        node: Any = _Node()
        group: Any = None
        Services(node, lambda: cell.server, group)
        self._handlers = node.handlers
        cell.server.add_listener(self._forward)

    def session(self, *parts: str, lease_s: float = 0.0, read_only: bool = False, deadline_s: float = 0.0) -> Session:
        client: Any = self
        return Session(client, parts, lease_s=lease_s, name="", read_only=read_only, deadline_s=deadline_s)

    def step(self, ticks: int = 1) -> int:
        with self.one_at_a_time:
            return self.cell.step(ticks)

    # --- what a session asks of its client --------------------------------------------------------

    def call(
        self, service: Any, path: str, error: type[RobotControlError] = RobotControlError, /, **fields: Any
    ) -> Any:
        self.timeouts.append(fields.pop("timeout_s", None))
        if self.deaf:
            raise RobotControlError(f"service {path!r} did not answer")
        with self.one_at_a_time:
            response = self._handlers[path](service.Request(**fields), service.Response())
        if not response.success:
            raise error(response.message)
        return response

    def renew(self, session: str, timeout_s: float) -> None:
        from robot_rt_control import srv

        self.call(srv.RenewSession, "renew_session", SessionError, session=session)

    def load_classes(self, classes: Iterable[type[ActionType]]) -> None:
        with self.one_at_a_time:
            for action_class in classes:
                self.cell.server.load_action_types(action_class, replace=True)

    def add_listener(self, listener: Listener) -> None:
        self._source.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        self._source.remove(listener)

    def _forward(self, event: ServerEvent) -> None:
        if not self.losing:
            self._source.receive(event_of(event_message(event, time_message(event.time_ns))))


def names(events: Iterable[Any]) -> list[str]:
    """User's names of events, of those that have one."""
    return [e.name for e in events if e.name]
