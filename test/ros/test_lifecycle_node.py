"""What all nodes of the package share: parameters, life cycle, spinning while entities come and go, exit codes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from std_msgs.msg import String
from std_srvs.srv import Empty

from robot_rt_control.ros.lifecycle_node import AUTOSTART, NodeParameter, WorkcellNode
from robot_rt_control.ros.spinning import Spinner
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import RobotControlError

DOMAIN = claim_domain("nodes")
"""Beside whatever else runs on this machine."""

PARAMETERS = (
    NodeParameter(name="words", default=(), description="Some words."),
    NodeParameter(name="more", default=("a", "b"), description="More words."),
    NodeParameter(name="kind", default="x", choices=("x", "y"), description="A choice."),
    NodeParameter(
        name="rate", default=5.0, minimum=1.0, maximum=10.0, changeable=True, description="[Hz] It may change."
    ),
    NodeParameter(name="tone", default="a", choices=("a", "b"), changeable=True, description="It may change."),
)


@pytest.fixture
def context() -> Iterator[Context]:
    found = Context()
    found.init(args=[], domain_id=DOMAIN)
    yield found
    found.try_shutdown()


def node_with(context: Context, *parameters: str) -> WorkcellNode:
    words = [word for parameter in parameters for word in ("-p", parameter)]
    return WorkcellNode(
        "node",
        PARAMETERS,
        common=(AUTOSTART,),
        context=context,
        cli_args=["--ros-args", *words],
        use_global_arguments=False,
    )


def test_lists_of_texts_may_be_empty(context: Context) -> None:
    node = node_with(context)
    assert node.value("words") == [] and node.value("more") == ["a", "b"]
    node.destroy_node()
    node = node_with(context, 'words:=["1", "x"]', "more:=[]")
    assert node.value("words") == ["1", "x"] and node.value("more") == []
    node.destroy_node()


def test_a_node_that_is_destroyed_leaves_the_graph_though_it_is_still_referenced(context: Context) -> None:
    observer = rclpy.create_node("observer", context=context)
    node = node_with(context)

    def services() -> list[str]:
        names = [name for name, _ in observer.get_service_names_and_types() if name.startswith("/node/")]
        return [name for name in names if name != "/node/get_type_description"]  # rclpy never removes that one

    given_up = time.monotonic() + 60.0
    while "/node/change_state" not in services():
        assert time.monotonic() < given_up
    node.destroy_node()
    while services() or "node" in observer.get_node_names():
        assert time.monotonic() < given_up, services()
    observer.destroy_node()


def test_a_choice_is_checked(context: Context) -> None:
    node = node_with(context, "kind:=z")
    with pytest.raises(RobotControlError) as caught:
        node.value("kind")
    assert str(caught.value) == "parameter 'kind'; expected one of: x, y; got 'z'"
    node.destroy_node()


def test_entities_may_go_while_the_node_spins(context: Context) -> None:
    node = node_with(context)
    executor = MultiThreadedExecutor(num_threads=4, context=context)
    executor.add_node(node)
    errors: list[str] = []
    spinner = Spinner(executor, errors.append)
    spinner.start()
    for i in range(50):
        entities: list[Any] = [
            node.create_publisher(String, f"topic_{i}", 10),
            node.create_subscription(String, f"topic_{i}", lambda message: None, 10),
            node.create_timer(0.001, lambda: None),
            node.create_service(Empty, f"service_{i}", lambda request, response: response),
        ]
        time.sleep(0.002)
        node.remove(*entities)
    ticks: list[int] = []
    timer = node.create_timer(0.001, lambda: ticks.append(1))
    deadline = time.monotonic() + 120.0
    while len(ticks) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(ticks) >= 5 and errors == []
    node.remove(timer)
    assert not list(node.timers)
    assert spinner.stop(10.0)
    node.destroy_node()


def test_a_callback_that_fails_stops_nobody_else(context: Context) -> None:
    node = node_with(context)
    executor = MultiThreadedExecutor(num_threads=2, context=context)
    executor.add_node(node)
    errors: list[str] = []
    ticks: list[int] = []

    def fail() -> None:
        raise ValueError("a mistake")

    node.create_timer(0.01, fail)
    node.create_timer(0.01, lambda: ticks.append(1))
    spinner = Spinner(executor, errors.append)
    spinner.start()
    deadline = time.monotonic() + 120.0
    while (len(errors) < 3 or len(ticks) < 3) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert spinner.stop(10.0)
    node.destroy_node()
    assert len(errors) >= 3 and len(ticks) >= 3
    assert "ValueError: a mistake" in errors[0]


def test_stopping_waits_for_callbacks_and_reports_their_errors(context: Context) -> None:
    node = node_with(context)
    executor = MultiThreadedExecutor(num_threads=3, context=context)
    executor.add_node(node)
    errors: list[str] = []
    spinner = Spinner(executor, errors.append)
    entered, go_on = threading.Event(), threading.Event()

    def wait_and_fail() -> None:
        entered.set()
        go_on.wait(120.0)
        raise ValueError("a mistake at the end")

    node.create_timer(0.01, wait_and_fail)
    spinner.start()
    assert entered.wait(60.0)
    assert not spinner.stop(0.2), "a callback still runs: nothing may be destroyed"
    go_on.set()
    assert spinner.stop(10.0)
    assert len(errors) == 1 and "ValueError: a mistake at the end" in errors[0]
    node.destroy_node()


class Listening(WorkcellNode):
    """Notes what has changed."""

    changes: list[tuple[str, Any]]

    def parameter_changed(self, name: str) -> None:
        self.changes.append((name, self.value(name)))


def test_parameters_are_read_only_or_checked_and_effective_at_once(context: Context) -> None:
    node = Listening(
        "node", PARAMETERS, common=(AUTOSTART,), context=context, cli_args=[], use_global_arguments=False
    )
    node.changes = []
    observer = rclpy.create_node("observer", context=context)
    executor = MultiThreadedExecutor(num_threads=3, context=context)
    executor.add_node(node)
    executor.add_node(observer)
    spinner = Spinner(executor, print)
    spinner.start()
    client = AsyncParameterClient(observer, "node")
    assert client.wait_for_services(30.0)

    def ask(future: Any) -> Any:
        deadline = time.monotonic() + 60.0
        while not future.done():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return future.result()

    def set_(name: str, value: Any) -> tuple[bool, str]:
        (result,) = ask(client.set_parameters([Parameter(name, value=value)])).results
        return result.successful, result.reason

    for name, value in (("kind", "bogus"), ("kind", "y"), ("words", ["a"]), ("autostart", False)):
        assert set_(name, value) == (False, f"Trying to set a read-only parameter: {name}.")
    assert set_("rate", 20.0)[0] is False and set_("rate", 10)[0] is False
    assert set_("rate", math.nan) == (False, "Parameter rate out of range Min: 1.0, Max: 10.0, value: nan")
    assert set_("tone", "z") == (False, "parameter 'tone'; expected one of: a, b; got 'z'")
    assert node.changes == [] and node.value("rate") == 5.0 and node.value("kind") == "x"
    assert set_("rate", 10.0) == (True, "") and set_("tone", "b") == (True, "")
    assert node.changes == [("rate", 10.0), ("tone", "b")]
    descriptors = ask(client.describe_parameters(["kind", "rate"])).descriptors
    assert [(d.description, d.read_only) for d in descriptors] == [("A choice.", True), ("[Hz] It may change.", False)]
    assert descriptors[0].additional_constraints == "one of: x, y"
    (span,) = descriptors[1].floating_point_range
    assert (span.from_value, span.to_value) == (1.0, 10.0)
    assert spinner.stop(10.0)
    node.destroy_node()
    observer.destroy_node()
