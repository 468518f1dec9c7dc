"""The driver of docs/drivers.md in real processes: it drives the loop, a topic stops the gantry, and it hangs."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from robot_rt_control.msg import ExecutorStatus
from std_msgs.msg import Bool, Float64

from robot_rt_control.client import Action, Client, Reaction
from robot_rt_control.demo.demo_workcell import DemoWorkcell
from robot_rt_control.memory.layout import device_image_dtype
from robot_rt_control.memory.segment_names import image_name
from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import RobotControlError

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "drivers"
DOMAIN = str(claim_domain("gantry"))
"""Beside the workcell of the other tests."""

pytestmark = pytest.mark.timeout(900)

PERSON = """
  person:
    kind: sensor
    device: watch
    values: {distance: {unit: m}}

devices:
  watch:
    topic: {values: {person: {distance: {topic: person, type: std_msgs/msg/Float64, field: data, max_age: 0.5}}}}
"""


def controller_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gantry_controller", FOLDER / "gantry_controller.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Watcher:
    """What an ordinary ROS node sees and says."""

    def __init__(self) -> None:
        self.context = Context()
        rclpy.init(args=[], context=self.context)
        self.node = Node("watcher", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.status: list[ExecutorStatus] = []
        self.held: list[bool] = []
        self.distances: list[float] = []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(ExecutorStatus, "realtime_executor/status", self.status.append, 10)
        self.node.create_subscription(Bool, "tool/held", lambda m: self.held.append(m.data), latched)
        self.node.create_subscription(Float64, "person/distance", lambda m: self.distances.append(m.data), 10)
        self.person = self.node.create_publisher(Float64, "person", 10)

    def until(self, condition: Callable[[], Any], distance: float | None = None, timeout_s: float = 300.0) -> None:
        """Spin, and say all the while how far the person is, until the condition holds."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, "it did not come"
            if distance is not None:
                self.person.publish(Float64(data=distance))
            self.executor.spin_once(timeout_sec=0.02)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def gantry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Client, Watcher]]:
    monkeypatch.setenv("ROS_DOMAIN_ID", DOMAIN)
    with controller_module().GantryController() as controller:
        text = (FOLDER / "gantry.yaml").read_text()
        assert "port: 4800" in text and "\ndevices:\n" in text and "period: 0.002" in text
        # On a busy machine the controller, a thread of these tests, may stand still for a while, and so may the
        # executor: after 50 periods without a command the driver brakes.
        text = text.replace("period: 0.002", "period: 0.02")
        text = text.replace("port: 4800", f"port: {controller.port}, timeout_s: 60.0")
        text = text.replace("gantry_driver.py", str(FOLDER / "gantry_driver.py"))
        text = text.replace("\ndevices:\n", PERSON)
        text = text.replace("  controller:\n", "  controller:\n    max_age_ticks: 300\n")
        (tmp_path / "cell.yaml").write_text(text)
        arguments = ["--workcell", str(tmp_path / "cell.yaml"), "--clock", "hardware", "--controllers", "false"]
        with DemoWorkcell(arguments, tmp_path / "workcell.log") as workcell:
            with Client("starting", timeout_s=60.0) as starting:
                workcell.wait_until_ready(starting, lambda _: None)
            watcher = Watcher()
            with Client("test") as client:
                yield client, watcher
            watcher.close()


@pytest.mark.long
def test_the_gantry_moves_grips_heeds_a_person_and_survives_a_driver_that_hangs(
    gantry: tuple[Client, Watcher],
) -> None:
    client, watcher = gantry
    watcher.until(lambda: watcher.status and watcher.distances, distance=3.0)
    assert watcher.status[-1].clock == "hardware"
    with client.session(["gantry", "tool"]) as session:
        far = Reaction("person.distance > 1.2", start="go")
        session.add(
            Action(
                "go",
                "move_joint",
                parts="gantry",
                position=[0.8, 0.5],
                velocity_scale=0.2,
                reactions=[Reaction("person.distance < 1.0", start="wait", event="near")],
            ),
            Action("wait", "stop", parts="gantry", reactions=[far]),
            Action("grip", "set_output", parts="tool", outputs="vacuum, lamp", values=[1, 1]),
        )
        session.start("go", "grip")
        watcher.until(lambda: True in watcher.held, distance=3.0)

        def active() -> str:
            return {p.name: p.active_action for p in watcher.status[-1].parts}["gantry"]

        watcher.until(lambda: active() == "wait", distance=0.5)
        watcher.until(lambda: active() == "go", distance=3.0)

    # The driver hangs: the loop ticks by itself, and faults what hangs on it.
    image = segment_path(image_name("/", DOMAIN, "controller"))
    driver = int(np.frombuffer(image.read_bytes()[: device_image_dtype.itemsize], device_image_dtype)[0]["driver_pid"])

    def states() -> dict[str, str]:
        return {p.name: p.operational_state for p in watcher.status[-1].parts}

    os.kill(driver, signal.SIGSTOP)
    try:
        watcher.until(lambda: states()["gantry"] == "faulted" and states()["tool"] == "faulted", distance=3.0)
        assert states()["person"] == "enabled"
        tick = watcher.status[-1].tick
        watcher.until(lambda: watcher.status[-1].tick > tick + 50, distance=3.0)
    finally:
        os.kill(driver, signal.SIGCONT)
    deadline = time.monotonic() + 300.0
    while True:
        try:
            client.clear_faults()
            client.enable()
        except RobotControlError:  # its first states are still on their way
            assert time.monotonic() < deadline
            continue
        break
    watcher.until(lambda: states()["gantry"] == "enabled" and states()["tool"] == "enabled", distance=3.0)
