"""The clients and publishers of skills made of ROS, kept so that a second visit finds its server at once."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from action_msgs.srv import CancelGoal
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control.blueprint.graph import orders
from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.vocabulary.errors import DefinitionError

_KEPT = 32
"""Clients and publishers; the longest unused gives way."""
_ORPHANS_S = 10.0
"""[s] for the servers of goals that nobody follows to be found."""


class Connections:
    """Connections of one node. Used in the executor's thread."""

    def __init__(self, node: ListeningNode) -> None:
        self._node, self._group = node, ReentrantCallbackGroup()
        self._kept: OrderedDict[tuple[str, str, str, bool], tuple[Any, Callable[[], object]]] = OrderedDict()

    def close(self) -> None:
        """Give everything back."""
        while self._kept:
            self._kept.popitem()[1][1]()

    def full_name(self, name: str) -> str:
        """A name with the node's namespace."""
        return str(self._node.resolve_topic_name(name))

    def action_client(self, type: Any, name: str) -> Any:
        """Raises DefinitionError: it is no name."""

        def make() -> tuple[Any, Callable[[], object]]:
            client = GoalClient(self._node, type, name, callback_group=self._group)
            return client, client.destroy

        return self._one("action", type, name, False, make)

    def service_client(self, type: Any, name: str) -> Any:
        """Raises DefinitionError: it is no name."""

        def make() -> tuple[Any, Callable[[], object]]:
            client: Any = self._node.create_client(type, name, callback_group=self._group)
            return client, lambda: self._node.destroy_client(client)

        return self._one("service", type, name, False, make)

    def publisher(self, type: Any, name: str, *, latched: bool) -> Any:
        """Raises DefinitionError: it is no name."""

        def make() -> tuple[Any, Callable[[], object]]:
            publisher = self._node.create_publisher(type, name, _profile(latched=latched, reliable=True))
            return publisher, lambda: self._node.destroy_publisher(publisher)

        return self._one("publisher", type, name, latched, make)

    def _one(
        self, what: str, type: Any, name: str, latched: bool, make: Callable[[], tuple[Any, Callable[[], object]]]
    ) -> Any:
        key = what, f"{type.__module__}.{type.__name__}", name, latched
        if key not in self._kept:
            self._kept[key] = _named(name, make)
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)[1][1]()
        return self._kept[key][0]

    def subscribe(
        self, type: Any, name: str, take: Callable[[Any], None], *, latched: bool, reliable: bool = False
    ) -> Any:
        """A subscription, see `ListeningNode.listen`. Raises DefinitionError: it is no name."""
        profile = _profile(latched=latched, reliable=latched or reliable)
        return _named(name, lambda: self._node.listen(type, name, take, profile))

    def unsubscribe(self, subscription: Any) -> None:
        self._node.destroy_subscription(subscription)

    def cancel_goals(
        self, records: Iterable[orders.Record], done: Callable[[], object] = lambda: None
    ) -> None:
        """Cancel goals that nobody follows, such as those in the logs of interrupted runs, in a thread of its own.

        Args:
            done: called in that thread once it is done, also if a server did not answer.
        """
        goals = [record for record in records if record["what"] == "goal"]

        def cancel() -> None:
            with contextlib.suppress(InvalidHandle):  # the node has ended
                self._cancel_goals(goals)
            done()

        threading.Thread(target=cancel, name="orphans", daemon=True).start()

    def _cancel_goals(self, goals: list[Mapping[str, Any]]) -> None:
        until = time.monotonic() + _ORPHANS_S
        log = self._node.get_logger()
        for server in dict.fromkeys(goal["server"] for goal in goals):
            service = f"{server}/_action/cancel_goal"
            client: Any = self._node.create_client(CancelGoal, service, callback_group=self._group)
            try:
                if not client.wait_for_service(max(until - time.monotonic(), 0.1)):
                    continue  # a server that is gone has no goals
                for goal in (goal for goal in goals if goal["server"] == server):
                    request = CancelGoal.Request()
                    request.goal_info.goal_id.uuid = list(bytes.fromhex(goal["goal"]))
                    answer = client.call_async(request)
                    while not answer.done() and time.monotonic() < until:
                        time.sleep(0.01)
                    if answer.done() and answer.result() is not None and answer.result().goals_canceling:
                        log.warning(f"goal {goal['goal']} of {server} was still running, and is cancelled")
            finally:
                self._node.destroy_client(client)


def _profile(*, latched: bool, reliable: bool) -> QoSProfile:
    return QoSProfile(
        depth=10,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _named(name: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (ValueError, RuntimeError, TypeError) as error:  # rclpy's InvalidHandle, InvalidTopicNameException …
        raise DefinitionError(f"name {name!r}", got=str(error)) from None
    except Exception as error:
        if type(error).__module__.startswith("rclpy"):
            raise DefinitionError(f"name {name!r}", got=str(error)) from None
        raise
