"""Reading files that are damaged or no recordings. The rest: test/lockstep/rules/test_recordings.py."""

from pathlib import Path

import numpy as np
import pytest
from mcap.writer import Writer

from robot_rt_control.recording.columns import TIME, Column
from robot_rt_control.recording.tick_reader import TickFile, event_text
from robot_rt_control.recording.tick_writer import TickWriter, event_message
from robot_rt_control.vocabulary.errors import RobotControlError


def written(path: Path, ticks: int) -> Path:
    writer = TickWriter(path, {"parts": []}, [Column(name=TIME, integer=True), Column(name="x")])
    rows = np.arange(3 * ticks).reshape(ticks, 3)
    writer.rows(rows)
    writer.input(1, 5, "command", b"abc")
    writer.event(2, 5, "action_started", current_action="go", values=[1.5])
    writer.end(reason="stopped")
    return path


def test_inputs_and_events_come_back(tmp_path: Path) -> None:
    file = TickFile(written(tmp_path / "a.mcap", 3))
    assert [(i.tick, i.kind, i.data) for i in file.inputs()] == [(1, "command", b"abc")]
    assert [event_text(e) for e in file.events()] == ["action_started go"] and event_text(b"") == "none"
    assert list(file.events()) == [event_message(2, 5, "action_started", current_action="go", values=[1.5])]


def test_a_damaged_file_is_refused_where_it_is_damaged(tmp_path: Path) -> None:
    path = written(tmp_path / "a.mcap", 4000)
    data = bytearray(path.read_bytes())
    data[data.find(b"\x28\xb5\x2f\xfd") + 200] ^= 0xFF  # in the first compressed chunk
    path.write_bytes(data)
    with pytest.raises(RobotControlError, match=r"recording .*a\.mcap; expected a file of recorded ticks .*; got "):
        TickFile(path).arrays()


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "log.mcap"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RobotControlError, match=r"log\.mcap; expected a file of recorded ticks .*part_faulted"):
        TickFile(file)


def test_another_format_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "a.mcap").open("wb") as output:
        writer = Writer(output)
        writer.start()
        writer.add_metadata("robot_rt_control", {"format": "1"})
        writer.finish()
    with pytest.raises(RobotControlError, match=r"a\.mcap; expected format 3; got 1"):
        TickFile(tmp_path / "a.mcap")
    with (tmp_path / "b.mcap").open("wb") as output:
        writer = Writer(output)
        writer.start()
        writer.finish()
    with pytest.raises(RobotControlError, match=r"b\.mcap; expected format 3; got another file"):
        TickFile(tmp_path / "b.mcap")
