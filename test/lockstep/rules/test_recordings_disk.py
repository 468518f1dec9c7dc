"""Rules H2 to H4 of docs/semantics.md: recordings on disks that are slow or full, and files that were cut off."""

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

from robot_rt_control.model.workcell import Workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.realtime.executor.session_recorder import SessionRecorder
from robot_rt_control.recording.sink import Sink
from robot_rt_control.recording.tick_reader import TickFile
from robot_rt_control.testing.lockstep_cell import LockstepCell


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
