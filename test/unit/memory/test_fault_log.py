"""Reading logs of the last ticks."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.memory.fault_log import FORMAT, FaultLog, load_fault_log, log_path
from robot_rt_control.vocabulary.errors import RobotControlError

ABOUT = {
    "format": FORMAT,
    "workcell": "cell",
    "period": 0.001,
    "kind": "part_faulted",
    "reason": "the measured position left its range (a)",
    "part": "arm",
    "joint": "a",
    "tick": 12,
    "action": "go",
    "status": 0,
    "parts": [{"name": "arm", "kind": "arm", "joints": ["a", "b"], "units": ["rad", "m"]}],
    "actions": {"7": "go"},
}


def write(file: Path, **about: object) -> Path:
    joints = np.arange(8.0).reshape(4, 2)
    quantities = ("position", "velocity", "effort", "commanded_position", "commanded_velocity")
    np.savez(
        file,
        about=np.array(json.dumps(ABOUT | about)),
        tick=np.arange(10, 14),
        **{f"arm.{name}": joints for name in quantities},  # type: ignore[arg-type]  # arrays by name
        **{  # type: ignore[arg-type]
            "arm.mode": np.array([[1, 1], [1, 3], [1, 1], [2, 2]]),
            "arm.state": np.array([1, 1, 2, 2]),
            "arm.fault": np.array([0, 0, 3, 3]),
            "arm.action": np.array([7, 7, 0, 0]),
        },
    )
    return file


@pytest.fixture
def log(tmp_path: Path) -> FaultLog:
    return load_fault_log(write(tmp_path / "log.npz"))


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
    assert rows[0][:3] == ["tick", "arm.position.a", "arm.position.b"]
    assert [row[:3] for row in rows[1:]] == [[str(10 + i), f"{2.0 * i}", f"{2.0 * i + 1}"] for i in range(4)]


def test_paths_have_numbers_and_none_is_empty() -> None:
    assert log_path("/a/cell", 7) == "/a/cell_007.npz"
    assert log_path("/a/cell", 0) == log_path("", 7) == ""


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "log.npz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RobotControlError, match=r"fault log .*npz; expected a log of the last ticks .*part_faulted"):
        load_fault_log(file)


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RobotControlError, match="expected format 2; got 1"):
        load_fault_log(write(tmp_path / "log.npz", format=1))
