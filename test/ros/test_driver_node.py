"""The driver node as a process of its own, over DDS, with the mock as its plugin."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from robot_rt_control import srv
from robot_rt_control.hardware.driver_node import HardwareDriverNode
from robot_rt_control.memory.segment_names import image_name
from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.testing.ros_domain import claim_domain
from robot_rt_control.vocabulary.errors import DefinitionError

from .policy import check_policy

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "arm7.yaml"
DOMAIN = claim_domain("nodes")
"""Beside whatever else runs on this machine."""
START_S = 300.0


@pytest.fixture
def observer() -> Iterator[tuple[rclpy.node.Node, SingleThreadedExecutor]]:
    context = Context()
    context.init(args=[], domain_id=DOMAIN)
    node = rclpy.create_node("observer", context=context, namespace="/cell")
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    yield node, executor
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started = []

    def run(*parameters: str) -> subprocess.Popen[str]:
        words = [word for p in (f"workcell:={WORKCELL}", "hardware:=mock", *parameters) for word in ("-p", p)]
        command = [sys.executable, "-m", "robot_rt_control.hardware.driver_node", "--ros-args", "-r", "__ns:=/cell"]
        environment = {**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "PYTHONUNBUFFERED": "1"}
        started.append(
            subprocess.Popen(
                [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
            )
        )
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def wait(executor: SingleThreadedExecutor, condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + START_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        executor.spin_once(timeout_sec=0.05)
    return True


def test_it_runs_its_device_as_the_policy_allows_until_it_is_told_to_stop(
    start: Callable[..., subprocess.Popen[str]], observer: tuple[Any, SingleThreadedExecutor]
) -> None:
    node, executor = observer
    messages: list[DiagnosticArray] = []
    node.create_subscription(DiagnosticArray, "/diagnostics", messages.append, 10)
    pictures = node.create_client(srv.TakePicture, "hardware_driver/take_picture")
    process = start("device:=sim")
    assert wait(executor, pictures.service_is_ready)
    image = segment_path(image_name("/cell", str(DOMAIN), "sim"))
    assert wait(executor, image.exists)

    def refusal() -> str:
        answer = pictures.call_async(srv.TakePicture.Request(name="none"))
        assert wait(executor, answer.done)
        assert not answer.result().success
        return answer.result().message

    # The device's shared memory appears before the device is open.
    assert wait(executor, lambda: refusal() != "the device is not open. Activate the driver node")
    assert refusal() == "hardware 'sim' (MockPlugin) has no camera. Only simulators have one"

    def values() -> dict[str, str]:
        return {value.key: value.value for message in messages[-1:] for value in message.status[0].values}

    assert wait(executor, lambda: int(values().get("cycles", 0)) > 100)  # the first are of a device that opens
    (status,) = messages[-1].status
    assert (status.name, status.hardware_id) == ("/cell/hardware_driver: device sim", "sim")
    assert values()["mode"] == "holding"
    assert status.message.startswith("holding")
    assert (status.level == DiagnosticStatus.OK) == ("late" not in status.message), "late cycles are not OK"
    check_policy(node, "hardware_driver", "/cell")
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=START_S)
    assert process.returncode == 0, output
    assert "device 'sim' runs on 'mock' every 1 ms" in output
    assert "device closed after" in output
    assert not image.exists()


SLOW = """
import time
from robot_rt_control.hardware.mock_plugin import MockPlugin
class Slow(MockPlugin):
    def on_configure(self):
        print("opening", flush=True)
        time.sleep(1.0)
        return super().on_configure()
"""


def test_a_stop_while_its_device_opens_closes_it(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    text = WORKCELL.read_text().replace("urdf: ", f"urdf: {WORKCELL.parent}/")
    (tmp_path / "cell.yaml").write_text(text.replace("    mock: ", '    "slow.py:Slow": '))
    process = start("device:=sim", "hardware:=slow.py:Slow", f"workcell:={tmp_path / 'cell.yaml'}")
    assert process.stdout is not None
    before = list(iter(process.stdout.readline, "opening\n"))
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=START_S)
    assert process.returncode == 0, output
    assert "device closed after" in output, "".join(before) + output
    assert not segment_path(image_name("/cell", str(DOMAIN), "sim")).exists()


@pytest.mark.parametrize(
    ("device", "text"),
    [
        ("smi", "device 'smi'; expected one of the known names; did you mean 'sim'"),
        (
            "",
            "parameter 'device'; expected a workcell with a device that needs a driver; "
            "got hardware 'mock', which the executor has built in",
        ),
    ],
)
def test_what_is_not_there_or_needs_no_driver_is_refused(device: str, text: str) -> None:
    context = Context()
    context.init(args=[], domain_id=DOMAIN)
    arguments = ["--ros-args", "-p", f"workcell:={WORKCELL}", "-p", "hardware:=mock"]
    arguments += ["-p", f"device:={device}"] if device else []
    node = HardwareDriverNode(context=context, cli_args=arguments, use_global_arguments=False)
    try:
        with pytest.raises(DefinitionError) as caught:
            node.configure()
        assert text in str(caught.value)
    finally:
        node.destroy_node()
        context.try_shutdown()
