"""Reading logs of the last ticks."""

import csv
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.memory.joint_modes import pack_modes
from robot_rt_control.recording.columns import TIME, Column
from robot_rt_control.recording.fault_log import FaultLog, load_fault_log, log_path
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import RobotControlError

ABOUT = {
    "workcell": "cell",
    "period": 0.001,
    "kind": "part_faulted",
    "reason": "the measured position left its range (a)",
    "part": "arm",
    "joint": "a",
    "tick": 12,
    "action": "go",
    "status": 0,
    "parts": [{"name": "arm", "kind": "arm", "joints": ["a", "b"], "units": ["rad", "m"], "joint_states": ["a", "b"]}],
    "actions": {"7": "go"},
}


def write(file: Path) -> Path:
    quantities = ("position", "velocity", "effort", "commanded_position", "commanded_velocity", "commanded_effort")
    columns = [Column(name=TIME, integer=True)]
    columns += [Column(name=f"arm.{name}", width=2, scalar=False) for name in quantities]
    columns += [Column(name=f"arm.{name}", integer=True) for name in ("state", "fault", "action")]
    columns.append(Column(name="arm.mode", integer=True, modes_of=2))
    joints = np.arange(8.0).reshape(4, 2).view(np.int64)
    modes = [pack_modes([CommandMode(m) for m in row]) for row in ((1, 1), (1, 3), (1, 1), (2, 2))]
    rest = np.array([[1, 1, 2, 2], [0, 0, 3, 3], [7, 7, 0, 0], modes]).T
    ticks = np.arange(10, 14)[:, np.newaxis]
    writer = TickWriter(file, ABOUT, columns)
    writer.rows(np.hstack([ticks, ticks * 1_000_000, *[joints] * len(quantities), rest]))
    writer.end(reason="part_faulted")
    return file


@pytest.fixture
def log(tmp_path: Path) -> FaultLog:
    return load_fault_log(write(tmp_path / "log.mcap"))


def test_a_log_says_what_happened_and_what_changed(log: FaultLog) -> None:
    assert log.title() == "part faulted 'arm', action 'go' in tick 12: the measured position left its range (a)"
    assert list(log.changes()) == [
        (11, "arm: mode of b position -> effort"),
        (12, "arm: action go -> -"),
        (12, "arm: state enabled -> faulted"),
        (12, "arm: fault none -> the measured position left its range"),
        (12, "arm: mode of b effort -> position"),
        (13, "arm: mode position -> velocity"),
    ]
    assert log.seconds.tolist() == pytest.approx([-0.002, -0.001, 0.0, 0.001])
    text = log.text()
    assert "4 ticks of 1 ms: 10 to 13" in text
    assert "b [m]: position 5, commanded position 5" in text


def test_a_log_becomes_a_table(log: FaultLog, tmp_path: Path) -> None:
    with log.write_csv(tmp_path / "log.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0][:4] == ["tick", "time_ns", "arm.position.a", "arm.position.b"]
    assert [row[2:4] for row in rows[1:]] == [[f"{2.0 * i}", f"{2.0 * i + 1}"] for i in range(4)]


def test_paths_have_numbers_and_none_is_empty() -> None:
    assert log_path("/a/cell", 7) == "/a/cell_007.mcap"
    assert log_path("/a/cell", 0) == log_path("", 7) == ""


def test_a_recorded_session_is_no_log(tmp_path: Path) -> None:
    writer = TickWriter(tmp_path / "a.mcap", {"parts": []}, [Column(name=TIME, integer=True)])
    writer.end(reason="stopped")
    with pytest.raises(RobotControlError, match=r"a\.mcap; expected a log of the last ticks; got a recorded session"):
        load_fault_log(tmp_path / "a.mcap")
