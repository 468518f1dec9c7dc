"""Goals that are answered while they are still being sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
import rclpy.context
import rclpy.executors
from rclpy.action import ActionServer, GoalResponse
from rclpy.node import Node
from robot_rt_control.action import RunAction

from robot_rt_control.ros.goal_client import GoalClient
from robot_rt_control.ros.spinning import spin


class SlowlyKept(dict[Any, Any]):
    """The feedback callbacks of a client: keeping one takes until the answer to its goal is there."""

    answered = threading.Event()

    def __setitem__(self, key: Any, value: Any) -> None:
        assert self.answered.wait(60.0)
        super().__setitem__(key, value)


class Watched(GoalClient):
    def take_data(self) -> Any:
        data = super().take_data()
        if "goal" in data:
            SlowlyKept.answered.set()
        return data


@pytest.fixture
def node() -> Iterator[Node]:
    """Spun by a thread."""
    context = rclpy.context.Context()
    context.init(args=[])
    node = rclpy.create_node("goals", namespace="goal_test", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=spin, args=(executor, print), daemon=True)
    thread.start()
    yield node
    executor.shutdown()
    thread.join(60.0)
    context.try_shutdown()


def test_an_answer_that_comes_while_the_goal_is_being_sent_is_not_lost(node: Node) -> None:
    ActionServer(node, RunAction, "run", lambda goal: RunAction.Result(), goal_callback=lambda _: GoalResponse.REJECT)
    client = Watched(node, RunAction, "run")
    assert client.wait_for_server(60.0)
    client._feedback_callbacks = SlowlyKept()
    done = threading.Event()
    sent = client.send_goal_async(RunAction.Goal(), feedback_callback=lambda _: None)
    sent.add_done_callback(lambda _: done.set())
    assert done.wait(60.0)
    assert not sent.result().accepted


def test_a_thread_that_spins_may_see_it_while_it_is_made(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    add, seen = node.add_waitable, []

    def add_and_look(waitable: Any) -> None:
        add(waitable)
        seen.append(waitable.get_num_entities().num_clients)

    monkeypatch.setattr(node, "add_waitable", add_and_look)
    GoalClient(node, RunAction, "run")
    assert seen == [3]
