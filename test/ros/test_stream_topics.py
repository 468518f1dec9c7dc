"""Samples over DDS: from an application to a control server's topics, and back; the loop is in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rclpy
import rclpy.context
import rclpy.executors
from rclpy.node import Node

from robot_rt_control.client.actions import Action
from robot_rt_control.client.backend import StreamKey
from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.client.stream import Stream
from robot_rt_control.client.stream_link import StreamLink
from robot_rt_control.definitions.stream_sample import InputSample
from robot_rt_control.server.node.stream_topics import StreamTopics
from robot_rt_control.testing.lockstep_cell import LockstepCell

_WORKCELL = Path(__file__).parents[1] / "lockstep" / "rules" / "streams.yaml"


@pytest.fixture
def nodes() -> Iterator[tuple[Node, Node]]:
    """The control server's node, and an application's, both spun by a thread."""
    context = rclpy.context.Context()
    context.init(args=[])
    made = (
        rclpy.create_node("control_server", namespace="stream_test", context=context),
        rclpy.create_node("application", namespace="stream_test", context=context),
    )
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    for node in made:
        executor.add_node(node)
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.05)

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    yield made
    stop.set()
    thread.join(5.0)
    executor.shutdown(timeout_sec=1.0)
    for node in made:
        node.destroy_node()
    context.try_shutdown()


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < deadline, "nothing came within 120 s"
        time.sleep(0.01)


def test_samples_go_to_the_action_and_its_own_come_back(nodes: tuple[Node, Node]) -> None:
    server_node, application = nodes
    with LockstepCell(_WORKCELL) as cell:
        topics = StreamTopics(server_node, lambda: cell.server)
        cell.server.add_sample_listener(topics.publish)
        session = cell.session("left")
        session.add(Action("a", "listener", parts="left"))
        session.start("a")
        cell.step()
        link = StreamLink(application, timeout_s=120.0)
        link.connect()
        got: list[Any] = []
        queue = CallbackQueue(
            got.append, capacity=100, on_overflow=lambda *_: None, on_failure=lambda *_: None, name="echo"
        )
        queue.start_thread()
        link.listen(session.id, "a", "echo", queue)
        opened = cell.server.open_stream(session.id, "a", "goal")
        key = StreamKey(session.id, "a", "goal", opened.length, opened.period, opened.token)
        stream = Stream(
            "a", "goal", length=opened.length, rates=True, period=opened.period,
            send=lambda sample: link.send(key, sample), clock=lambda: cell.tick * 0.001,
        )  # fmt: skip
        ring = cell.executor.channel.memory.streams[0]
        for k in range(3):
            before = int(ring.head)
            stream.write([float(k), -1.0])
            wait(lambda before=before: int(ring.head) > before)  # type: ignore[misc]
            tick = cell.step()
            assert session.value("a.first") == k and session.value("a.second") == -1.0
        wait(lambda: len(got) == 3)
        assert [s.values for s in got] == [(0.0, -1.0), (1.0, -1.0), (2.0, -1.0)]
        assert got[-1].tick == tick and got[-1].stream == "echo" and got[-1].session == session.id
        # What is not valid is refused with an event, and the topic continues.
        link.send(replace(key, session="s99"), stream_sample(4))
        link.send(replace(key, token=""), stream_sample(3, [5.0, 5.0]))  # of a stranger
        link.send(key, stream_sample(4, [1.0]))
        link.send(key, stream_sample(5, [7.0, 8.0]))
        wait(lambda: cell.step() > 0 and session.value("a.first") == 7.0)
        assert "wrong length; expected 2 values" in cell.kinds("stream_refused")[0].reason
        queue.close()
        topics.close()


def stream_sample(number: int, values: list[float] | None = None) -> InputSample:
    return InputSample(number, number * 1.0, [0.0, 0.0] if values is None else values, [])
