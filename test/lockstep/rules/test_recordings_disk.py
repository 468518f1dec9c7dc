"""Rules H2 to H4, H8 and H9 of docs/semantics: recordings on disks that are slow or full, files that were cut off,
and those that give way."""

from __future__ import annotations

import errno
import os
import resource
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

from robot_rt_control.client.actions import Action, Reaction
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.model.workcell.workcell_schema import Recordings
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.realtime.executor.session_recorder import SessionRecorder
from robot_rt_control.recording.inputs import InputKind
from robot_rt_control.recording.sink import Sink
from robot_rt_control.recording.tick_reader import TickFile, event_text
from robot_rt_control.recording.tick_writer import TickWriter
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import RobotControlError


def wait(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_H2_on_the_wall_clock_a_slow_disk_loses_ticks_and_says_how_many(
    cell: LockstepCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = cell.executor
    recorder = SessionRecorder(
        core.world, core.channel, core.ring, lockstep=False, epoch_ns=1000, about=lambda: {"clock": "realtime"}
    )
    write, stuck, free = Sink._put, threading.Event(), threading.Event()

    def slow(sink: Sink, data: memoryview) -> int:
        stuck.set()
        assert free.wait(60.0)
        return write(sink, data)

    first = cell.tick + 1
    recorder.start(tmp_path / "a.mcap")
    monkeypatch.setattr(Sink, "_put", slow)
    while not stuck.is_set():  # until a first chunk is full
        cell.step(20)
        time.sleep(0.02)
    cell.step(5000)  # the loop goes on: more ticks than the ring holds
    free.set()
    wait(lambda: recorder._next > cell.tick)
    cell.step(20)
    recorder.stop()
    file = TickFile(tmp_path / "a.mcap")
    ticks, end = file.arrays()["tick"], file.end()
    assert ticks[0] == first and ticks[-1] == cell.tick and (np.diff(ticks) > 0).all()
    assert end["lost_ticks"] == cell.tick - first + 1 - len(ticks) > 2000
    assert [gap for gap in np.diff(ticks).tolist() if gap > 1] == [end["lost_ticks"] + 1], "in one place"
    assert any(b"ticks_lost" in event for event in file.events())
    with (tmp_path / "a.mcap").open("rb") as stream:
        (message,) = [m for _, _, m in make_reader(stream).iter_messages("/ticks") if m.sequence == first]
    assert message.log_time == first * 1_000_000 + 1000


def test_H2_beside_the_wall_clock_loop_each_tick_is_there_or_counted(workcell: Workcell, tmp_path: Path) -> None:
    path, options = tmp_path / "a.mcap", ExecutorOptions(priority=0, lock_memory=False, fault_folder=tmp_path)
    executor = Executor(workcell, replace(options, record=path), channel_name=None, image_name=str)
    executor.configure(lambda _: None)
    before = time.time()
    executor.activate(lambda _: None)
    try:
        wait(lambda: executor.world.memory.tick > 1500)
        tick = executor.protective_stop(True)
        wait(lambda: executor.world.memory.tick > tick + 1)
        assert executor.record(False) == path
    finally:
        executor.deactivate()
        executor.cleanup()
    file = TickFile(path)
    arrays, end = file.arrays(), file.end()
    ticks, times = arrays["tick"], arrays["time_ns"]
    assert ticks[0] == 1 and len(ticks) + end["lost_ticks"] == ticks[-1] >= 1500
    assert arrays["protective_stop"][-1] == 1.0 and (np.diff(times) > 0).all()
    assert before - 1.0 < (times[0] + file.about["epoch_ns"]) * 1e-9 < time.time()
    assert {"internal"} == {given.kind for given in file.inputs()}


def test_H2_what_was_overwritten_in_the_rings_is_counted_and_told(
    cell: LockstepCell, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """More commands and events than their rings hold come between two looks of the recorder's thread."""
    core = cell.executor
    recorder = SessionRecorder(
        core.world, core.channel, core.ring, lockstep=False, epoch_ns=0, about=lambda: {"clock": "realtime"}
    )
    recorder._run = lambda: None  # type: ignore[method-assign]  # the thread gets no processor time
    session = cell.session("left")
    fired = [Reaction("speed > 0", event=f"e{i}") for i in range(6)]
    session.add(Action("a", "probe", speed=0.1, reactions=fired))
    memory, path = core.channel.memory, tmp_path / "a.mcap"
    recorder.start(path)
    commands, events = int(memory.commands.tail), int(memory.events.head)
    for _ in range(1200):
        session.start("a")
        cell.step()
    core.world.memory.events_lost += 3  # for want of room in the ring
    for _ in range(1001):
        recorder.note(InputKind.INTERNAL, lambda: b"x")
    with caplog.at_level("WARNING"):
        recorder.stop()
    commands, events = int(memory.commands.tail) - commands, int(memory.events.head) - events
    file = TickFile(path)
    end, inputs = file.end(), list(file.inputs())
    kinds = [event_text(event).split()[0] for event in file.events()]
    kept = sum(given.kind == "command" for given in inputs)
    told = [f"{what}_lost" for what in ("commands", "events", "inputs")]
    # One that the server writes may take this many places before it shows in the ring's head.
    safe = capacities.COMMAND_RING_ENTRIES - capacities.UPDATES_OF_COMMAND - 1
    assert commands == 1200 and end["lost_commands"] == commands - kept == 1200 - safe
    assert events > 8192 and end["lost_events"] == events + 3 - (len(kinds) - 3) == events + 3 - 8191
    assert sum(given.kind == "internal" for given in inputs) == 1000 and end["lost_inputs"] == 1
    assert end["lost_ticks"] == 0 and sorted(k for k in kinds if k.endswith("_lost")) == told
    assert inputs[-1].tick == cell.tick, "the newest are there"
    assert f"lost: {1200 - safe} commands, {end['lost_events']} events, 1 inputs" in caplog.text


def test_H2_a_recording_begins_with_the_commands_and_events_of_its_first_tick(
    cell: LockstepCell, tmp_path: Path
) -> None:
    session = cell.session("left")
    session.add(Action("a", "probe", speed=0.1))
    cell.step(5)
    path = cell.executor.record(True, tmp_path / "a.mcap")
    assert path is not None
    session.start("a")
    cell.step()
    cell.executor.record(False)
    file = TickFile(path)
    (given,) = file.inputs()
    assert (given.kind, given.tick) == ("command", cell.tick)
    assert "command_done" in [event_text(event).split()[0] for event in file.events()]


def test_H3_on_a_full_disk_the_recording_ends_whole_and_the_loop_goes_on(
    cell: LockstepCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk with room for 100 kB; what the reserve gives back counts."""
    write = Sink._put

    def full(sink: Sink, data: memoryview) -> int:
        if sink.tell() > 100_000 and not sink._reserve.closed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(sink, data[:1000])  # in pieces, as a disk with little room does

    monkeypatch.setattr(Sink, "_put", full)
    path = cell.executor.record(True, tmp_path / "a.mcap")
    first = cell.tick + 1
    cell.step(3000)
    assert cell.executor.session_recorder.path is None, "it has ended by itself"
    assert "No space left on device" in caplog.text and str(path) in caplog.text
    file = TickFile(tmp_path / "a.mcap")
    ticks = file.arrays()["tick"]
    assert ticks.tolist() == list(range(first, first + len(ticks))) and 100 < len(ticks) < 3000
    assert "No space left on device" in file.end()["reason"]
    with (tmp_path / "a.mcap").open("rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None and summary.statistics is not None and summary.statistics.message_count > len(ticks)
    assert cell.executor.record(True, tmp_path / "b.mcap") == tmp_path / "b.mcap", "and another one can begin"


def test_H3_without_any_room_the_file_ends_with_its_last_whole_record(
    cell: LockstepCell, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The operating system's own limit of a file's size, which no reserve can help."""
    path = cell.executor.record(True, tmp_path / "a.mcap")
    assert path is not None
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        cell.step(3000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert cell.executor.session_recorder.path is None and "it has no index: [Errno 27] File too large" in caplog.text
    ticks = TickFile(path).arrays()["tick"]
    assert len(ticks) > 100 and (np.diff(ticks) == 1).all() and path.stat().st_size <= 100_000


def test_H4_a_file_that_was_cut_off_is_read_as_far_as_it_goes(cell: LockstepCell, tmp_path: Path) -> None:
    path = cell.executor.record(True, tmp_path / "a.mcap")
    assert path is not None
    first = cell.tick + 1
    cell.step(1500)
    data = path.read_bytes()  # what is left if the process dies now
    cut = tmp_path / "cut.mcap"
    lengths = []
    for size in np.linspace(len(data) / 3, len(data), 12).astype(int).tolist():
        cut.write_bytes(data[:size])
        file = TickFile(cut)
        ticks = file.arrays()["tick"]
        assert ticks.tolist() == list(range(first, first + len(ticks))) and file.end() == {}
        lengths.append(len(ticks))
    assert lengths == sorted(lengths) and lengths[-1] > 1000 > lengths[0] > 0


@pytest.mark.parametrize("problem", ["not a folder", "no room"])
def test_H8_a_recording_that_cannot_begin_is_reported_and_the_workcell_comes_up(
    problem: str, workcell: Workcell, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / ("file" if problem == "not a folder" else "folder")
    if problem == "no room":

        def full(*_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "posix_fallocate", full)
    for path in (folder / "a.mcap", folder):
        options = ExecutorOptions(clock="lockstep", real_time_factor=-1.0, fault_folder=tmp_path, record=path)
        executor = Executor(workcell, options, channel_name=None, image_name=str)
        executor.configure(lambda _: None)
        executor.activate(lambda _: None)
        try:
            executor.step(10)
            assert executor.session_recorder.path is None
            assert [p.operational_state for p in executor.part_status()] == ["enabled"] * len(workcell.parts)
        finally:
            executor.deactivate()
            executor.cleanup()
        assert f"nothing is recorded: recording to {path}" in caplog.text
        assert ("No space left on device" if problem == "no room" else "File exists") in caplog.text
    assert not list(tmp_path.glob("**/*.mcap")), "nothing is left of it"


def test_H8_what_cannot_begin_on_demand_is_refused(cell: LockstepCell, tmp_path: Path) -> None:
    (tmp_path / "a.mcap").touch()
    with pytest.raises(RobotControlError, match="recording to .*a.mcap; got .*File exists"):
        cell.executor.record(True, tmp_path / "a.mcap")
    cell.step(10)
    with pytest.raises(RobotControlError, match="File exists"):
        LockstepCell(cell.workcell, record=tmp_path / "a.mcap")
    assert (tmp_path / "a.mcap").stat().st_size == 0, "it belongs to somebody else"


def test_H3_whatever_fails_while_a_tick_is_recorded_time_goes_on(
    cell: LockstepCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = cell.executor.record(True, tmp_path / "a.mcap")
    assert path is not None
    cell.step(60)

    def fail(*_: object) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr(TickWriter, "rows", fail)
    tick = cell.step(60)
    assert tick == cell.tick and cell.executor.session_recorder.path is None
    assert "recording failed unexpectedly" in caplog.text and "ValueError: a mistake" in caplog.text
    assert TickFile(path).end()["reason"] == "it failed unexpectedly"


def test_H9_older_recordings_in_a_folder_give_way_and_one_ends_at_the_bound(
    cell: LockstepCell, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    object.__setattr__(cell.workcell, "recordings", Recordings(files=2, gigabytes=0.0005))
    (tmp_path / "other.mcap").write_bytes(bytes(10**6))
    paths: list[Path] = []
    for _ in range(3):
        paths.append(cell.executor.record(True, tmp_path) or tmp_path)
        cell.step(60)
        cell.executor.record(False)
    assert len(set(paths)) == 3, "also within one second"
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "other.mcap", *paths[1:]])
    paths.append(cell.executor.record(True, tmp_path) or tmp_path)
    for _ in range(100):
        cell.step(200)
        if cell.executor.session_recorder.path is None:
            break
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "other.mcap", paths[-1]])
    assert "it has all the 0.0005 GB that recordings of this workcell may have" in caplog.text
    size = paths[-1].stat().st_size
    assert 500_000 <= size < 1_500_000 and "0.0005 GB" in TickFile(paths[-1]).end()["reason"]
    named = cell.executor.record(True, tmp_path / "named.mcap")
    cell.step(9000)
    assert named is not None and cell.executor.record(False) == named and named.stat().st_size > 500_000


def test_H9_what_is_written_stays_if_the_clock_was_set_back_since_older_files(
    cell: LockstepCell, tmp_path: Path
) -> None:
    object.__setattr__(cell.workcell, "recordings", Recordings(files=1, gigabytes=1.0))
    ahead = time.time() + 7200.0
    for _ in range(2):
        path = cell.executor.record(True, tmp_path)
        assert path is not None
        cell.step(60)
        assert cell.executor.record(False) == path and os.listdir(tmp_path) == [path.name]
        os.utime(path, (ahead, ahead))


def test_H10_files_of_runs_are_for_their_user_alone(cell: LockstepCell, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = cell.executor.record(True, tmp_path / "a" / "recording.mcap")
        cell.step(20)
        cell.executor.record(False)
        saved = cell.executor.save_last_ticks()
    finally:
        os.umask(before)
    assert path is not None
    modes = [file.stat().st_mode & 0o777 for file in (path, path.parent, saved)]
    assert modes == [0o600, 0o700, 0o600]
