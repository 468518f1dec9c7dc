"""Rule L13 of docs/semantics/limits.md: the last ticks before a fault."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.recording.fault_log import load_fault_log, promised_log
from robot_rt_control.recording.sink import Sink
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode, FaultReason, OperationalState
from robot_rt_control.vocabulary.errors import SessionError


def test_L13_a_fault_names_a_file_with_the_ticks_before_and_after_it(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.6), Action("bad", "writer", kind=1))
    session.start("a")
    live = cell.part("left")
    seen = {}
    for _ in range(1500):
        tick = cell.step()
        seen[tick] = (live.position[:2].copy(), live.commanded_velocity[:2].copy())
        if live.position[0] > 0.8:
            session.start("bad")
        if cell.kinds("part_faulted"):
            break
    (fault,) = cell.kinds("part_faulted")
    log = load_fault_log(fault.file)
    assert log.title() == f"part faulted 'left', action 'bad' in tick {fault.tick}: {fault.reason}"
    assert log.ticks.tolist() == list(range(fault.tick - 999, fault.tick + 1)), "1000 ticks, the faulty one the last"
    for i, tick in enumerate(log.ticks.tolist()):
        if tick in seen:
            assert (log["left.position"][i] == seen[tick][0]).all()
            assert (log["left.commanded_velocity"][i] == seen[tick][1]).all()
    assert log["left.fault"].tolist() == [0] * 999 + [FaultReason.NON_FINITE_COMMAND]
    assert log["left.state"].tolist() == [OperationalState.ENABLED] * 999 + [OperationalState.FAULTED]
    assert set(log["left.mode"].ravel().tolist()) == {CommandMode.POSITION}
    assert {log.action_name(i) for i in log["left.action"].tolist()} == {"a", "-"}
    cell.step(300)
    complete = load_fault_log(fault.file)
    assert complete.ticks.tolist() == list(range(fault.tick - 999, fault.tick + 101)), "and how it braked"
    speed = complete["left.commanded_velocity"][complete.ticks >= fault.tick, 0]
    assert (np.diff(speed) < 0.0).all()
    assert f"tick {fault.tick}: left: action a -> -" in complete.text()


def test_L13_what_happens_while_a_log_goes_on_is_in_the_same_file(cell: LockstepCell) -> None:
    session = cell.session("left", "right")
    session.add(Action("x", "writer", parts="left", kind=1), Action("y", "writer", parts="right", kind=2))
    session.start("x")
    cell.step(60)
    session.start("y")
    cell.step(101)
    cell.server.protective_stop(True)
    cell.step()
    left, right = cell.kinds("part_faulted")
    assert left.file == right.file and left.file.endswith("_001.mcap")
    log = load_fault_log(left.file)
    assert (log["right.fault"][log.ticks == right.tick] == FaultReason.NON_FINITE_COMMAND).all()
    (stop,) = cell.kinds("protective_stop")
    assert stop.file.endswith("_002.mcap")
    assert load_fault_log(stop.file).title() == f"protective stop in tick {stop.tick}"


def test_L13_a_failed_action_carries_it_too_and_the_messages_name_it(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("bad", "probe", speed=0.1, fail_in=4, fail_at=50))
    session.start("bad")
    cell.step(60)
    (failed,) = cell.kinds("action_failed")
    (ended,) = cell.kinds("session_ended")
    assert failed.file == ended.file and load_fault_log(failed.file).about["action"] == "bad"
    with pytest.raises(SessionError) as error:
        cell.server.session(session.id)
    assert f"The last ticks before it are in {failed.file}. Open a new session" in str(error.value)


def test_L13_a_part_and_a_refusal_name_the_file_until_the_fault_is_cleared(cell: LockstepCell) -> None:
    session = cell.session("left")
    session.add(Action("bad", "writer", kind=1))
    session.start("bad")
    cell.step()
    (fault,) = cell.kinds("part_faulted")
    status = cell.executor.part_status()[0]
    assert (status.fault, status.fault_file) == ("the action wrote a command that is not finite", fault.file)
    assert cell.server.fault_file("left") == fault.file
    cell.server.set_motion(["left"], "clear_faults")
    cell.step()
    assert cell.executor.part_status()[0].fault_file == "" == cell.server.fault_file("left")


def test_L13_only_so_many_files_are_kept(cell: LockstepCell) -> None:
    for _ in range(cell.workcell.fault_log.files + 3):
        cell.server.protective_stop(True)
        cell.step()
        cell.server.protective_stop(False)
        cell.step(102)
    files = [Path(e.file) for e in cell.kinds("protective_stop")]
    assert [file.exists() for file in files] == [False] * 3 + [True] * cell.workcell.fault_log.files
    assert sorted(os.listdir(files[0].parent)) == sorted(file.name for file in files[3:])


def test_L13_more_logs_than_can_wait_are_not_promised(cell: LockstepCell) -> None:
    recorder = cell.executor.recorder
    recorder.serve = lambda *, finish=False: []  # type: ignore[method-assign]  # the disk is slow
    for _ in range(10):
        cell.server.protective_stop(True)
        cell.step()
        cell.server.protective_stop(False)
        cell.step(102)
    assert [bool(e.file) for e in cell.kinds("protective_stop")] == [True] * 8 + [False] * 2
    del recorder.serve
    cell.executor.write_logs()
    ticks = [load_fault_log(e.file).about["tick"] for e in cell.kinds("protective_stop") if e.file]
    assert ticks == [e.tick for e in cell.kinds("protective_stop")][:8]
    assert (np.diff(load_fault_log(cell.kinds("protective_stop")[7].file).ticks) == 1).all()


def test_L13_no_event_names_a_file_that_cannot_be_written(cell: LockstepCell, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = cell.executor.recorder

    def stop() -> str:
        cell.server.protective_stop(True)
        cell.step()
        (event,) = cell.kinds("protective_stop")[-1:]
        cell.server.protective_stop(False)
        cell.step(102)
        return event.file

    first = stop()
    assert Path(first).stat().st_mode & 0o777 == 0o600

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    # The room for the next log is held already, so this one is named and written.
    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(Sink, "__init__", lambda self, path, reserve=0: real(self, path, reserve))
    second = stop()
    assert Path(second).exists() and load_fault_log(second).about["kind"] == "protective_stop"
    monkeypatch.setattr(Sink, "__init__", full)
    assert stop() == stop() == "", "there is no room for a third"
    assert cell.executor.part_status()[0].fault_file == ""
    monkeypatch.undo()
    recorder._next_try = 0.0
    cell.step()
    last = stop()
    assert Path(last).exists() and last.endswith("_005.mcap"), "there is room again"


def test_L13_a_log_that_could_not_be_written_is_tried_again_and_disturbs_no_later_one(
    cell: LockstepCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    recorder = cell.executor.recorder
    monkeypatch.setattr(Sink, "__init__", full)
    cell.server.protective_stop(True)
    cell.step()
    cell.executor.write_logs()
    assert recorder.path(1) == "" and cell.executor.part_status()[0].fault_file == ""
    cell.step(200)
    cell.executor.write_logs()  # with the ticks after it: in vain again
    assert recorder.path(1) == "" and not list(Path(recorder.prefix).parent.glob("*.mcap"))
    monkeypatch.undo()
    recorder._next_try = 0.0
    cell.server.protective_stop(False)
    cell.step()
    cell.server.protective_stop(True)
    cell.step(200)
    assert Path(cell.kinds("protective_stop")[-1].file).exists() and recorder.path(2)


def real(sink: Sink, path: Path, reserve: int) -> None:
    """A file without a reserve, as if what was held had become free for it."""
    sink.failure, sink._position, sink._reserve = None, 0, tempfile.TemporaryFile()  # noqa: SIM115
    sink._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def test_L13_a_folder_that_cannot_be_written_is_named_by_no_event(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    options = ExecutorOptions(clock="lockstep", real_time_factor=-1.0, fault_folder=tmp_path / "file" / "faults")
    workcell = load_workcell(Path(__file__).parent / "workcell.yaml")
    core = Executor(workcell, options, channel_name=None, image_name=lambda device: device)
    try:
        assert core.recorder.path(1) == "" == promised_log(bytes(core.channel.memory.fault_files), 1)
    finally:
        core.cleanup()
