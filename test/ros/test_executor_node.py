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

import numpy as np
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
from std_srvs.srv import SetBool, Trigger

from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.segment_names import channel_name
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.replay import SAME
from robot_rt_control.realtime.executor.replay import main as replay
from robot_rt_control.recording.fault_log import load_fault_log
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.testing.ros_domain import claim_domain

WORKCELL = Path(__file__).resolve().parents[2] / "config" / "arm7.yaml"
DOMAIN = claim_domain("nodes")
"""Beside whatever else runs on this machine."""
START_S = 300.0
_WARN = 30
"""rcl_interfaces/Log.WARN, which is a byte in Python."""
_ERROR = 40


BREAKING = """
from pathlib import Path
from robot_rt_control.hardware.mock_plugin import MockPlugin
class Breaking(MockPlugin):
    # Joint 1 seems to race while the file is there.
    def read(self, time_s, period_s):
        result = super().read(time_s, period_s)
        if Path(__file__).with_suffix(".race").exists():
            self.state[1] = 100.0
        return result
"""


def start_executor(namespace: str, log: Path, workcell: Path, *parameters: str) -> subprocess.Popen[bytes]:
    """An executor in simulated time, with its shared topics in its namespace too."""
    own = [w for topic in ("clock", "diagnostics") for w in ("-r", f"/{topic}:={topic}")]
    given = [w for p in (f"workcell:={workcell}", "clock:=lockstep", *parameters) for w in ("-p", p)]
    module = "robot_rt_control.realtime.executor.node"
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", module, "--ros-args", "-r", f"__ns:={namespace}", *own, *given],
            stdout=output,
            stderr=output,
            env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN), "XDG_STATE_HOME": str(log.parent)},
        )


class Cell:
    """An executor in the namespace /cell, another one in /other, and a node that watches."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "executor.log"
        (folder / "breaking.py").write_text(BREAKING)
        self.race = folder / "breaking.race"
        self.file = folder / "cell.yaml"
        text = WORKCELL.read_text().replace("urdf: ", f"urdf: {WORKCELL.parent}/")
        self.file.write_text(text.replace("    mock: ", '    "breaking.py:Breaking": '))
        self.process = start_executor("/cell", self.log, self.file, "hardware:=breaking.py:Breaking")
        self.recorded = folder / "other.mcap"
        self.other = start_executor("/other", folder / "other.log", WORKCELL, f"record:={self.recorded}")
        self.context = Context()
        self.context.init(args=[], domain_id=DOMAIN)
        self.node = rclpy.create_node("observer", context=self.context, namespace="/cell")
        self.spinner = SingleThreadedExecutor(context=self.context)
        self.spinner.add_node(self.node)
        self.reports: list[dict[str, Any]] = []
        self.joints: list[float] = []
        self.stamps: list[int] = []
        """Of all joint states [ns]."""
        self.clocks: list[Any] = []
        self.lines: list[tuple[int, str]] = []
        self.node.create_subscription(DiagnosticArray, "/cell/diagnostics", self._report, 10)
        self.node.create_subscription(JointState, "joint_states", self._take_joints, 100)
        self.node.create_subscription(Clock, "/cell/clock", self.clocks.append, 10)
        self.other_clocks: list[Any] = []
        self.node.create_subscription(Clock, "/other/clock", self.other_clocks.append, 10)
        latched = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(Log, "/rosout", self._take_line, latched)
        self.parameters = AsyncParameterClient(self.node, "realtime_executor")

    def _take_joints(self, message: JointState) -> None:
        self.joints.append(time.monotonic())
        self.stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)

    def _report(self, message: DiagnosticArray) -> None:
        self.reports.append({s.name: s for s in message.status})

    def _take_line(self, message: Log) -> None:
        if message.name.startswith("cell."):
            self.lines.append((int(message.level), message.msg))

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

    def call(self, service: Any, name: str, **fields: Any) -> tuple[bool, str]:
        client: Any = self.node.create_client(service, name)
        self.wait(client.service_is_ready)
        answer = self.ask(client.call_async(service.Request(**fields)))
        self.node.destroy_client(client)
        return answer.success, answer.message

    def status(self, what: str) -> DiagnosticStatus | None:
        return self.reports[-1].get(f"/cell/realtime_executor: {what}") if self.reports else None

    def close(self) -> None:
        for process in (self.process, self.other):
            process.send_signal(signal.SIGINT)
        try:
            for process in (self.process, self.other):
                process.wait(60.0)
        finally:
            for process in (self.process, self.other):
                if process.poll() is None:
                    process.kill()
                    process.wait()
            self.spinner.shutdown()
            self.node.destroy_node()
            self.context.try_shutdown()


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    made = Cell(tmp_path_factory.mktemp("cell"))
    try:
        made.wait(lambda: made.reports and made.joints and made.other_clocks, START_S)
        yield made
    finally:
        made.close()
    assert (made.process.returncode, made.other.returncode) == (0, 0), made.log.read_text()


def test_diagnostics_tell_of_loop_parts_and_server(cell: Cell) -> None:
    cell.wait(lambda: len(cell.reports) > 1)
    names = {name.removeprefix("/cell/realtime_executor: ") for name in cell.reports[-1]}
    expected = {"loop", "control server", "protective stop"} | {f"part {p.name}" for p in load_workcell(WORKCELL).parts}
    assert names == expected, "and nothing of the other workcell"
    loop, part, server = cell.status("loop"), cell.status("part arm"), cell.status("control server")
    assert loop is not None and part is not None and server is not None
    assert {"deadline misses", "period mean [s]"} <= {value.key for value in loop.values}
    assert "ticks without new data" in [value.key for value in part.values]
    assert (part.level, part.message, part.hardware_id) == (DiagnosticStatus.OK, "enabled", "arm")
    assert (server.level, server.message) == (DiagnosticStatus.WARN, "none has attached yet")


def test_H5_what_an_executor_recorded_while_time_went_by_runs_again(cell: Cell) -> None:
    record = "/other/realtime_executor/record"
    assert cell.call(SetBool, record, data=True)[1].endswith(f"got a recording to {cell.recorded}. Stop that one first")
    assert cell.call(SetBool, record, data=False) == (True, str(cell.recorded))
    assert cell.call(SetBool, record, data=False) == (False, "nothing is recorded")
    assert len(TickFile(cell.recorded).arrays()["tick"]) > 100
    assert replay([str(cell.recorded)]) == SAME


def test_H7_recordings_and_the_last_ticks_on_demand(cell: Cell) -> None:
    done, path = cell.call(SetBool, "realtime_executor/record", data=True)
    assert done and Path(path).parent == cell.log.parent / "robot_rt_control" / "recordings"
    first = len(cell.clocks)
    cell.wait(lambda: len(cell.clocks) > first + 5)
    assert cell.call(SetBool, "realtime_executor/record", data=False) == (True, path)
    assert (np.diff(TickFile(path).arrays()["tick"]) == 1).all()
    done, path = cell.call(Trigger, "realtime_executor/save_last_ticks")
    assert done and load_fault_log(path).title().startswith("saved on demand in tick ")


def test_the_clock_of_a_workcell_with_topics_of_its_own(cell: Cell) -> None:
    cell.wait(lambda: len(cell.clocks) > 2)
    for shared in ("/clock", "/diagnostics"):
        counts = [cell.node.count_publishers(space + shared) for space in ("", "/cell", "/other")]
        assert counts == [0, 1, 1], shared


def test_I21_I22_stamps_of_joint_states_never_go_back_and_nobody_changes_their_clock(cell: Cell) -> None:
    assert cell.set("use_sim_time", True) == (
        False,
        "parameter 'use_sim_time' is fixed while a node runs; start it with -p use_sim_time:=…",
    )
    cell.stamps.clear()
    cell.wait(lambda: len(cell.stamps) >= 300)
    assert all(a <= b for a, b in zip(cell.stamps, cell.stamps[1:], strict=False))
    assert 0 < cell.stamps[-1] - cell.stamps[0] < 10**11, "they go on"


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
    cell.wait(lambda: len(cell.joints) >= 5 and cell.joints[-1] - cell.joints[-5] < 1.0)  # 2 Hz before: 2 s


def test_an_executor_that_stood_still_says_so_and_the_other_workcell_does_not_mind(cell: Cell) -> None:
    def seconds(clocks: list[Any]) -> float:
        return clocks[-1].clock.sec + clocks[-1].clock.nanosec * 1e-9

    cell.process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    try:
        cell.wait(lambda: time.monotonic() > begin + 0.5)  # what was published before has come
        stopped, others = seconds(cell.clocks), seconds(cell.other_clocks)
        cell.wait(lambda: time.monotonic() > begin + 4.0 and seconds(cell.other_clocks) > others + 1.0)
        assert seconds(cell.clocks) == stopped, "each has a clock of its own"
    finally:
        cell.process.send_signal(signal.SIGCONT)
    stood_s = time.monotonic() - begin
    cell.wait(lambda: [text for _, text in cell.lines if text.startswith("the loop stood still for ")])
    (level, text) = next(line for line in cell.lines if line[1].startswith("the loop stood still for "))
    assert level == _WARN
    assert 3.5 < float(text.split()[-2]) < stood_s + 60.0


def test_a_server_that_comes_goes_and_is_lost_is_reported(cell: Cell) -> None:
    workcell = load_workcell(cell.file, "breaking.py:Breaking")

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


def test_a_part_fault_is_a_log_line_and_an_error_in_diagnostics(cell: Cell) -> None:
    cell.race.touch()
    cell.wait(lambda: [text for _, text in cell.lines if text.startswith("part 'arm' is faulted: ")])
    (level, text) = next(line for line in cell.lines if line[1].startswith("part 'arm' is faulted: "))
    assert level == _ERROR
    assert text.startswith("part 'arm' is faulted: the measured velocity exceeded the system limit; the last ticks: ")
    cell.wait(lambda: (s := cell.status("part arm")) is not None and s.level == DiagnosticStatus.ERROR)
    part = cell.status("part arm")
    assert part is not None and "faulted" in part.message and "the measured velocity exceeded" in part.message
