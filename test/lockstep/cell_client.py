"""A client over ROS without a network: real messages, services and threads, over the control server of a lockstep cell.

Only DDS is missing. Threads of callbacks may call while the test's own thread steps: `step` and the services exclude
each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from robot_rt_control.client.backend import Listener, SessionRequest
from robot_rt_control.client.client import Client
from robot_rt_control.client.conversions import event_of
from robot_rt_control.client.event_source import EventSource
from robot_rt_control.client.ros_backend import RosServices, ThreadedWaiting
from robot_rt_control.client.session import Session
from robot_rt_control.ros.conversions import time_message
from robot_rt_control.ros.refusals import error_of
from robot_rt_control.server.events.events import ServerEvent
from robot_rt_control.server.node.conversions import event_message
from robot_rt_control.server.node.services import Services
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import RobotControlError


class _Node:
    """Collects services instead of offering them."""

    def __init__(self) -> None:
        self.handlers: dict[str, Any] = {}

    def create_service(self, kind: Any, path: str, callback: Any, *, callback_group: Any) -> None:
        self.handlers[path.removeprefix("~/")] = callback

    def get_logger(self) -> Any:
        return SimpleNamespace(error=print, warning=print, info=print)


class ServicesOfCell(RosServices, ThreadedWaiting):
    """The part of `RosBackend` that a session needs."""

    def __init__(self, cell: LockstepCell) -> None:
        self.cell, self.gated = cell, cell.server.gated
        self.one_at_a_time = threading.RLock()
        self.deaf = False
        """Whether the server's answers stay away, as those of a dead one do."""
        self.losing = False
        """Whether events are lost on the way."""
        self.simulated = False
        """Its leases count the wall clock."""
        self.program_states: dict[str, Any] = {}
        self.given_up: dict[str, RobotControlError] = {}
        self.timeouts: list[float | None] = []
        """The time-out of the calls; None: the default."""
        self._source = EventSource()
        node: Any = _Node()
        Services(node, lambda: cell.server, lambda: cell.recoveries)
        self._handlers = node.handlers
        cell.server.add_listener(self._forward)

    def call(self, service: Any, path: str, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        self.timeouts.append(timeout_s)
        if self.deaf:
            raise RobotControlError(f"service {path!r} did not answer")
        with self.one_at_a_time:
            answer = self._handlers[path](service.Request(**fields), service.Response())
        if not answer.success:
            raise error_of(answer)
        return answer

    def give_up(self, session: str, reason: Callable[[], RobotControlError]) -> None:
        self.given_up[session] = reason()

    def add_listener(self, listener: Listener) -> None:
        self._source.add(listener)

    def remove_listener(self, listener: Listener) -> None:
        self._source.remove(listener)

    def _forward(self, event: ServerEvent) -> None:
        if not self.losing:
            self._source.receive(event_of(event_message(event, time_message(event.time_ns))))


class CellClient(Client):
    """Args:
    cell: the workcell; only this object may step it.
    """

    def __init__(self, cell: LockstepCell) -> None:
        self.cell = cell
        backend: Any = ServicesOfCell(cell)
        self.services: ServicesOfCell = backend
        super().__init__(backend=backend)

    def open(self, *parts: str, lease_s: float = 0.0, read_only: bool = False, deadline_s: float = 0.0) -> Session:
        request = SessionRequest(name="", parts=parts, lease_s=lease_s, read_only=read_only, deadline_s=deadline_s)
        return Session(self.backend, request)

    def step(self, ticks: int = 1) -> int:
        with self.services.one_at_a_time:
            return self.cell.step(ticks)


def names(events: Iterable[Any]) -> list[str]:
    """User's names of events, of those that have one."""
    return [e.name for e in events if e.name]
