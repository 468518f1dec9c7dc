"""What a ROS user sees of the executor's node: parameters, /diagnostics, log lines; in simulated time, over DDS."""

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
from rcl_interfaces.msg import Log
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.segment_names import channel_name
from robot_rt_control.model.workcell import load_workcell

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "arm7.yaml"
DOMAIN = 60 + os.getpid() % 20
"""Beside whatever else runs on this machine."""
START_S = 300.0
_WARN = 30
"""rcl_interfaces/Log.WARN, which is a byte in Python."""


class Cell:
    """An executor in the namespace /cell, with its shared topics in there too, and a node that watches."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "executor.log"
        own = [w for topic in ("clock", "diagnostics") for w in ("-r", f"/{topic}:={topic}")]
        parameters = [w for p in (f"workcell:={WORKCELL}", "clock:=lockstep") for w in ("-p", p)]
        module = "robot_rt_control.realtime.executor.node"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, "--ros-args", "-r", "__ns:=/cell", *own, *parameters],
                stdout=output,
                stderr=output,
                env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
            )
        self.context = Context()
        self.context.init(args=[], domain_id=DOMAIN)
        self.node = rclpy.create_node("observer", context=self.context, namespace="/cell")
        self.spinner = SingleThreadedExecutor(context=self.context)
        self.spinner.add_node(self.node)
        self.reports: list[dict[str, Any]] = []
        self.joints: list[float] = []
        self.clocks: list[Any] = []
        self.lines: list[tuple[int, str]] = []
        self.node.create_subscription(DiagnosticArray, "/cell/diagnostics", self._report, 10)
        self.node.create_subscription(JointState, "joint_states", lambda _: self.joints.append(time.monotonic()), 100)
        self.node.create_subscription(Clock, "/cell/clock", self.clocks.append, 10)
        latched = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(Log, "/rosout", lambda m: self.lines.append((int(m.level), m.msg)), latched)
        self.parameters = AsyncParameterClient(self.node, "realtime_executor")

    def _report(self, message: DiagnosticArray) -> None:
        self.reports.append({s.name: s for s in message.status})

    def wait(self, condition: Callable[[], object], timeout_s: float = 60.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            self.spinner.spin_once(timeout_sec=0.05)

    def ask(self, future: Any) -> Any:
        self.wait(future.done)
        return future.result()

    def set(self, name: str, value: Any) -> tuple[bool, str]:
        (result,) = self.ask(self.parameters.set_parameters([Parameter(name, value=value)])).results
        return result.successful, result.reason

    def status(self, what: str) -> DiagnosticStatus | None:
        return self.reports[-1].get(f"/cell/realtime_executor: {what}") if self.reports else None

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60.0)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.spinner.shutdown()
            self.node.destroy_node()
            self.context.try_shutdown()


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    made = Cell(tmp_path_factory.mktemp("cell"))
    try:
        made.wait(lambda: made.reports and made.joints, START_S)
        yield made
    finally:
        made.close()
    assert made.process.returncode == 0, made.log.read_text()


def test_diagnostics_tell_of_loop_parts_and_server(cell: Cell) -> None:
    cell.wait(lambda: len(cell.reports) > 1)
    names = {name.removeprefix("/cell/realtime_executor: ") for name in cell.reports[-1]}
    assert names == {"loop", "control server"} | {f"part {p.name}" for p in load_workcell(WORKCELL).parts}
    loop, part, server = cell.status("loop"), cell.status("part arm"), cell.status("control server")
    assert loop is not None and part is not None and server is not None
    assert "deadline misses" in [value.key for value in loop.values]
    assert (part.level, part.message, part.hardware_id) == (DiagnosticStatus.OK, "enabled", "arm")
    assert (server.level, server.message) == (DiagnosticStatus.WARN, "none has attached yet")


def test_the_clock_of_a_workcell_with_topics_of_its_own(cell: Cell) -> None:
    cell.wait(lambda: len(cell.clocks) > 2)
    assert cell.node.count_publishers("/clock") == 0 and cell.node.count_publishers("/diagnostics") == 0


def test_parameters_are_refused_or_effective_at_once(cell: Cell) -> None:
    assert cell.set("clock", "bogus") == (False, "Trying to set a read-only parameter: clock.")
    assert cell.set("clock", "realtime")[0] is False and cell.set("workcell", "x")[0] is False
    assert cell.set("joint_state_rate", 1e6)[0] is False
    assert cell.set("joint_state_rate", 2.0) == (True, "")
    changed = time.monotonic()
    cell.wait(lambda: time.monotonic() > changed + 1.0)  # what was published before is read
    cell.joints.clear()
    begin = time.monotonic()
    cell.wait(lambda: len(cell.joints) >= 5)
    assert time.monotonic() - begin > 1.5, "100 Hz before: 0.05 s"
    assert cell.set("joint_state_rate", 100.0) == (True, "")
    cell.joints.clear()
    begin = time.monotonic()
    cell.wait(lambda: len(cell.joints) >= 20)
    assert time.monotonic() - begin < 9.0, "2 Hz before: 10 s"


def test_an_executor_that_stood_still_says_so(cell: Cell) -> None:
    cell.process.send_signal(signal.SIGSTOP)
    time.sleep(4.0)
    cell.process.send_signal(signal.SIGCONT)
    cell.wait(lambda: [text for _, text in cell.lines if text.startswith("the loop stood still for ")])
    (level, text) = next(line for line in cell.lines if line[1].startswith("the loop stood still for "))
    assert level == _WARN
    assert 3.5 < float(text.split()[-2]) < 8.0


def test_a_server_that_comes_goes_and_is_lost_is_reported(cell: Cell) -> None:
    workcell = load_workcell(WORKCELL)

    def attach() -> Channel:
        return Channel.attach(channel_name("/cell", str(DOMAIN)), workcell=workcell.digest, require_active=True)

    def said(text: str) -> bool:
        return any(line == text for _, line in cell.lines)

    channel = attach()
    cell.wait(lambda: said("a control server is attached"))
    cell.wait(lambda: (s := cell.status("control server")) is not None and s.level == DiagnosticStatus.OK)
    channel.end_server(int(channel.memory.server_epoch))
    lost = "the control server is lost: its sessions have ended; their parts are brought to safety"
    cell.wait(lambda: said(lost))
    cell.wait(lambda: (s := cell.status("control server")) is not None and s.level == DiagnosticStatus.ERROR)
    channel.renew_server()
    cell.wait(lambda: said("a control server is attached again"))
    channel.release_server()
    cell.wait(lambda: said("the control server has detached: its sessions have ended"))
