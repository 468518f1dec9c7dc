"""Calls ROS services from any thread except the spinning one, with clear errors."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy.node
from rclpy._rclpy_pybind11 import InvalidHandle

from robot_rt_control.ros.refusals import error_of
from robot_rt_control.ros.requests import Served
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.errors import NoAnswer, RobotControlError
from robot_rt_control.vocabulary.waiting import Waiting

_POLL_S = 1.0
_LOOK_S = 0.1
"""How often it is looked whether an answer can still come."""
_KEPT_ENDED = 256
"""Sessions whose end ends the requests that wait for an answer."""
GONE_S = 2.0
"""[s] without a server after which the answer to an earlier request is given up: the server that took it is gone."""


class Services:
    """Service clients of one node, made when first used.

    Args:
        node: is spun by another thread.
        timeout_s: for an answer; and for a server to appear once any server has been found.
        startup_s: for the first server to appear. A line in the node's log names every 10 s what is awaited.
    """

    def __init__(
        self, node: rclpy.node.Node, *, timeout_s: float, startup_s: float = defaults.STARTUP_S
    ) -> None:
        self._node, self._timeout_s, self._startup_s = node, timeout_s, startup_s
        self._found = False
        self._clients: dict[str, Any] = {}
        self._ended: dict[str, Callable[[], RobotControlError]] = {}
        self._lock = threading.Lock()
        self._group = Served()

    def _client(self, service: Any, path: str) -> Any:
        with self._lock:
            client = self._clients.get(path)
            if client is None:
                client = self._node.create_client(service, path, callback_group=self._group)
                self._clients[path] = client
            return client

    def offered(self, name: str) -> list[str]:
        """Full paths of all services of this name in the own namespace, in alphabetical order."""
        space = self._node.get_namespace().rstrip("/")
        pattern = re.compile(rf"{re.escape(space)}/[^/]+/{re.escape(name)}\Z")
        return sorted(path for path, _ in self._node.get_service_names_and_types() if pattern.match(path))

    def exists(self, service: Any, path: str, timeout_s: float = 1.0) -> bool:
        """Whether a node offers the service."""
        return bool(self._client(service, path).wait_for_service(timeout_s))

    def find(self, wait: Callable[[float], bool], server: str, timeout_s: float = math.inf) -> None:
        """Wait for a server; longer for the first one, because a workcell may take minutes to come up.

        Args:
            wait: waits at most this long [s] for the server; returns whether it is available.
            server: its name in texts.
            timeout_s: for this server at most.

        Raises:
            NoAnswer: it did not appear.
        """
        patience = min(timeout_s, self._timeout_s if self._found else self._startup_s)
        waiting = Waiting(self._node.get_logger().info, patience)
        while not wait(min(patience, _POLL_S)):
            if not waiting.goes_on(f"{server}; is the workcell up?"):
                raise NoAnswer(
                    f"{server} is not available",
                    expected=f"its node to come up within {patience:g} s",
                    hint="Bring the workcell up first: ros2 launch robot_rt_control workcell.launch.py",
                )
        self._found = True

    def give_up(self, session: str, reason: Callable[[], RobotControlError]) -> None:
        """Let a session's calls that wait for an answer raise what `reason` makes: the session cannot be reached.

        Calls with a time-out of their own are not concerned. From any thread.
        """
        self._ended[session] = reason
        while len(self._ended) > _KEPT_ENDED:
            self._ended.pop(next(iter(self._ended)))

    def call(
        self,
        service: Any,
        path: str,
        /,
        *,
        timeout_s: float | None = None,
        **fields: Any,
    ) -> Any:
        """Call and wait for the answer.

        Args:
            service: the service's generated class.
            path: of the service, relative to the node's namespace or absolute.
            timeout_s: for the answer; if it is shorter than the usual one, also for the server; None: the usual one.
            fields: of the request.

        Returns:
            The response.

        Raises:
            RobotControlError: refused, by the exception that the server raised.
            NoAnswer: no server, or no answer in time, or the server has gone since the request.
        """
        response = self.ask(service, path, timeout_s=timeout_s, **fields)
        if not response.success:
            raise error_of(response)
        return response

    def ask(self, service: Any, path: str, /, *, timeout_s: float | None = None, **fields: Any) -> Any:
        """As `call`; a refusal is an answer as well.

        Raises:
            NoAnswer: as `call`.
        """
        at_most = self._timeout_s if timeout_s is None else timeout_s
        client = self._client(service, path)
        self.find(client.wait_for_service, f"service {client.srv_name!r}", math.inf if timeout_s is None else timeout_s)
        answered = threading.Event()
        future = client.call_async(service.Request(**fields))
        future.add_done_callback(lambda _: answered.set())
        try:
            self._wait(client, answered, at_most, fields.get("session", "") if timeout_s is None else "")
        except RobotControlError:
            client.remove_pending_request(future)
            raise
        return future.result()

    def send(self, service: Any, path: str, on_answer: Callable[[], object], /, **fields: Any) -> Callable[[], bool]:
        """Send a request whose answer does not matter.

        Args:
            on_answer: called when it has come, in the spinning thread; must not wait.

        Returns:
            Whether it has come, or cannot come any more.
        """
        client, sent = self._client(service, path), time.monotonic()
        if not client.service_is_ready():
            return lambda: True
        future = client.call_async(service.Request(**fields))
        future.add_done_callback(lambda _: on_answer())

        def is_over() -> bool:
            late = time.monotonic() - sent > self._timeout_s
            if late:
                client.remove_pending_request(future)
            return late or bool(future.done())

        return is_over

    def _wait(self, client: Any, answered: threading.Event, at_most: float, session: str) -> None:
        """Wait for an answer as long as one may come. Raises RobotControlError: it will not, with the reason."""
        begin = seen = time.monotonic()
        while not answered.wait(max(min(_LOOK_S, begin + at_most - time.monotonic()), 0.0)):
            now = time.monotonic()
            if session in self._ended:
                raise self._ended[session]()
            if now - begin >= at_most:
                raise NoAnswer(
                    f"service {client.srv_name!r} did not answer within {at_most:.3g} s",
                    hint="Is its node alive, and its machine connected? It may still get the request. "
                    "In lockstep: is `step` called?",
                )
            try:
                if client.service_is_ready():
                    seen = now
            except InvalidHandle:  # this client has been closed
                seen = -math.inf
            if now - seen > GONE_S:
                raise NoAnswer(
                    f"service {client.srv_name!r} has gone before it answered",
                    hint="Its node has ended, or the network to its machine is cut",
                )
