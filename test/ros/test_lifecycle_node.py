"""What all nodes of the package share: parameters, life cycle, spinning while entities come and go, exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor
from std_msgs.msg import String
from std_srvs.srv import Empty

from robot_rt_control.ros.lifecycle_node import AUTOSTART, NodeParameter, WorkcellNode
from robot_rt_control.ros.spinning import spin
from robot_rt_control.vocabulary.errors import RobotControlError

DOMAIN = 60 + os.getpid() % 20
"""Beside whatever else runs on this machine."""

PARAMETERS = (
    NodeParameter(name="words", default=(), description="Some words."),
    NodeParameter(name="more", default=("a", "b"), description="More words."),
    NodeParameter(name="kind", default="x", choices=("x", "y"), description="A choice."),
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
    spinner = threading.Thread(target=spin, args=(executor, errors.append))
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
    assert spinner.is_alive()
    ticks: list[int] = []
    timer = node.create_timer(0.001, lambda: ticks.append(1))
    deadline = time.monotonic() + 120.0
    while len(ticks) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(ticks) >= 5 and errors == []
    node.remove(timer)
    assert not list(node.timers)
    executor.shutdown(timeout_sec=2.0)
    spinner.join(120.0)
    assert not spinner.is_alive()
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
    spinner = threading.Thread(target=spin, args=(executor, errors.append))
    spinner.start()
    deadline = time.monotonic() + 120.0
    while (len(errors) < 3 or len(ticks) < 3) and time.monotonic() < deadline:
        time.sleep(0.01)
    executor.shutdown(timeout_sec=2.0)
    spinner.join(120.0)
    node.destroy_node()
    assert len(errors) >= 3 and len(ticks) >= 3
    assert "ValueError: a mistake" in errors[0]


PROGRAM = """
import sys, threading, time
from robot_rt_control.vocabulary.errors import RobotControlError
from robot_rt_control.ros.lifecycle_node import AUTOSTART, WorkcellNode, run_node

class Node(WorkcellNode):
    def __init__(self):
        super().__init__("node", (), common=(AUTOSTART,))
    def configure(self): print("configure", flush=True)
    def activate(self):
        print("activate", flush=True)
        {activate}
    def deactivate(self): print("deactivate", flush=True)
    def cleanup(self): print("cleanup", flush=True)

sys.exit(run_node(Node, []))
"""


def run(activate: str, number: signal.Signals | None = None) -> tuple[int, list[str]]:
    """Exit code and calls of a node whose `activate` does this, ended by a signal once it is in there."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("{activate}", activate)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.strip())
        if line == "activate\n" and number is not None:
            time.sleep(0.3)
            process.send_signal(number)
    return process.wait(300.0), lines


WHOLE = ["configure", "activate", "deactivate", "cleanup"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    assert run("pass", number) == (0, WHOLE)


def test_a_signal_while_it_activates_undoes_what_was_begun() -> None:
    assert run("time.sleep(60)", signal.SIGINT) == (0, WHOLE)


def test_it_ends_by_itself_with_an_exit_code() -> None:
    assert run("threading.Timer(0.2, self.end, (7,)).start()") == (7, WHOLE)


def test_a_refusal_is_exit_code_1() -> None:
    assert run("raise RobotControlError('no')") == (1, ["configure", "activate", "cleanup"])


def test_a_thread_that_does_not_end_does_not_keep_it() -> None:
    activate = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); self.end(3)"
    assert run(activate) == (3, WHOLE)
