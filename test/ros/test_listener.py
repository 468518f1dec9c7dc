"""Simulated time and other topics, taken by a thread of the node's own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.clock_type import ClockType
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Int32

from robot_rt_control.ros.listener import take_all
from robot_rt_control.ros.listening_node import ListeningNode
from robot_rt_control.testing.ros_domain import claim_domain

PATIENCE_S = 60.0
DOMAIN = claim_domain("listener")


@pytest.fixture
def context() -> Iterator[Context]:
    found = Context()
    found.init(args=[], domain_id=DOMAIN)
    yield found
    found.try_shutdown()


@pytest.fixture
def sender(context: Context) -> Node:
    return rclpy.create_node("sender", context=context)


def wait_for(happens: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def sent(publisher: Any, data: int = 0) -> bool:
    publisher.publish(Int32(data=data))
    return False


def listening(context: Context, simulated: bool = False) -> ListeningNode:
    words = ["--ros-args", "-p", f"use_sim_time:={str(simulated).lower()}"]
    return ListeningNode("node", context=context, cli_args=words, use_global_arguments=False)


def listeners() -> int:
    return sum(thread.name == "listener" for thread in threading.enumerate())


def test_simulated_time_goes_on_though_nobody_spins_the_node(context: Context, sender: Node) -> None:
    node = listening(context, simulated=True)
    clock = sender.create_publisher(Clock, "/clock", 10)
    message = Clock()

    def shown(second: int) -> bool:
        message.clock.sec = second
        clock.publish(message)
        return bool(node.get_clock().now() == Time(seconds=second, clock_type=ClockType.ROS_TIME))

    wait_for(lambda: shown(5))
    wait_for(lambda: shown(7))
    node.destroy_node()
    assert listeners() == 0


def test_S31_a_time_before_0_on_clock_is_ignored(
    context: Context, sender: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = listening(context, simulated=True)
    logger, warnings, failures = node.get_logger(), list[str](), list[str]()
    monkeypatch.setattr(logger, "warning", lambda text, **_: warnings.append(text))
    monkeypatch.setattr(logger, "error", failures.append)
    clock, forged, right = sender.create_publisher(Clock, "/clock", 10), Clock(), Clock()
    forged.clock.sec, forged.clock.nanosec, right.clock.sec = -(2**31), 2**32 - 1, 5

    def sent_until(message: Clock, seen: Callable[[], object]) -> bool:
        clock.publish(message)  # a reader keeps the last one only
        return bool(seen())

    wait_for(lambda: sent_until(forged, lambda: warnings))
    wait_for(lambda: sent_until(right, lambda: node.get_clock().now().nanoseconds == 5 * 10**9))
    assert warnings[0] == "a time on /clock was ignored; expected 0 or later; got -2147483648 s" and not failures
    node.destroy_node()


@pytest.mark.parametrize("simulated", [False, True])
def test_I22_a_node_keeps_the_clock_that_it_was_started_with(context: Context, simulated: bool) -> None:
    node = listening(context, simulated)
    clock: Any = node.get_clock()
    before = clock.ros_time_is_active
    assert before is simulated
    other = Parameter("use_sim_time", value=not simulated)
    reason = "parameter 'use_sim_time' is fixed while a node runs; start it with -p use_sim_time:=…"
    for result in (*node.set_parameters([other]), node.set_parameters_atomically([other])):
        assert (result.successful, result.reason) == (False, reason)
    assert clock.ros_time_is_active is before
    assert node.set_parameters([Parameter("use_sim_time", value=simulated)])[0].successful
    node.destroy_node()


def test_one_thread_calls_all_callbacks_and_the_executor_none(context: Context, sender: Node) -> None:
    node = listening(context)
    threads: list[str] = []
    for name in ("a", "b"):
        node.listen(Int32, name, lambda _: threads.append(threading.current_thread().name), 10)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    spinning = threading.Thread(target=executor.spin)
    spinning.start()
    publishers = [sender.create_publisher(Int32, name, 10) for name in ("a", "b")]
    wait_for(lambda: any(sent(p) for p in publishers) or len(threads) > 10)
    assert set(threads) == {"listener"} and listeners() == 1
    executor.shutdown()
    spinning.join(PATIENCE_S)
    node.destroy_node()


def test_a_callback_that_fails_is_reported_and_calls_continue(
    context: Context, sender: Node, capfd: pytest.CaptureFixture[str]
) -> None:
    node = listening(context)
    got: list[int] = []

    def take(message: Int32) -> None:
        got.append(message.data)
        if len(got) == 1:
            raise ValueError("once")

    subscription = node.listen(Int32, "a", take, 10)
    publisher = sender.create_publisher(Int32, "a", 10)
    wait_for(lambda: sent(publisher, 3) or len(got) > 3)
    assert set(got) == {3}
    node.destroy_subscription(subscription)
    others: list[Any] = []
    node.listen(Int32, "b", others.append, 10)
    publisher_b = sender.create_publisher(Int32, "b", 10)
    wait_for(lambda: sent(publisher_b) or others)
    before = len(got)
    wait_for(lambda: sent(publisher) or sent(publisher_b) or len(others) > 10)
    assert len(got) == before
    node.destroy_node()
    assert "a callback failed" in (text := capfd.readouterr().err) and "ValueError: once" in text


def test_a_subscription_that_was_destroyed_meanwhile_is_no_error_of_a_callback(context: Context) -> None:
    node = listening(context)
    subscription = node.listen(Int32, "a", print, 10)
    assert take_all(subscription) == []
    node.destroy_subscription(subscription)
    with pytest.raises(InvalidHandle):  # which the thread ignores
        take_all(subscription)
    node.destroy_node()


def test_a_flood_of_messages_costs_no_more_than_a_hundred_in_a_second(context: Context, sender: Node) -> None:
    node = listening(context)
    times: list[float] = []
    begin = time.monotonic()
    node.listen(Int32, "a", lambda _: times.append(time.monotonic()), 1)
    publisher = sender.create_publisher(Int32, "a", 1)
    wait_for(lambda: sent(publisher) or len(times) > 30)
    assert times[-1] - begin > 0.01 * (len(times) - 1)
    node.destroy_node()


def test_the_thread_ends_with_the_context_and_a_callback_may_destroy_its_node(context: Context, sender: Node) -> None:
    node = listening(context)
    node.listen(Int32, "a", lambda _: node.destroy_node(), 1)
    publisher = sender.create_publisher(Int32, "a", 1)
    wait_for(lambda: sent(publisher) or not listeners())
    left = listening(context)
    left.listen(Int32, "a", print, 1)
    assert listeners() == 1
    context.shutdown()
    wait_for(lambda: not listeners())
