from __future__ import annotations

import errno
import os
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from robot_rt_control.memory.channel import Channel
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.server.profiler.profilers import Profilers
from robot_rt_control.server.profiler.queue_writer import Motion, MotionQueue
from robot_rt_control.vocabulary.errors import ChannelError

LIMITS = PlanLimits(
    names=("a",),
    lower=np.full(1, -3.0),
    upper=np.full(1, 3.0),
    velocity=np.ones(1),
    acceleration=np.full(1, 4.0),
    jerk=np.full(1, 40.0),
)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_each_process_fills_its_own_queue_and_its_death_concerns_its_group_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    channel = Channel.create(f"profilers_{os.getpid()}", workcell=1, period_ns=10**6)
    profilers = Profilers(channel)
    try:
        plan = point_to_point(np.zeros(1), np.ones(1), LIMITS, 20.0)
        for queue in (0, 1, 2):
            place = MotionQueue(number=queue, offset=queue * 10_000, entries=200, size=8000)
            profilers.start(
                Motion(queue=place, plans=(plan,), n_points=20_001, period=0.001), f"action 'go{queue}'"
            )
        first, second, third = channel.memory.motion_queues[:3]
        assert first["head"] == second["head"] == 199, "they are full at once"
        first["tail"] = 100
        second["tail"] = 50
        wait_until(lambda: first["head"] == 299 and second["head"] == 249)
        os.kill(profilers.pids[0], signal.SIGKILL)
        wait_until(lambda: first["failed"] == 1)
        said = "the profiler of action 'go0' was ended by SIGKILL: the group stops on its path"
        wait_until(lambda: said in caplog.text)  # the loop comes first
        second["tail"] = 120
        wait_until(lambda: second["head"] == 319)
        assert second["failed"] == 0
        profilers.stop(1)
        assert set(profilers.pids) == {2} and second["failed"] == 0
        profilers.close()
        assert profilers.pids == {} and third["failed"] == 1, "simulated time does not wait for set points of nobody"
    finally:
        profilers.close()
        channel.close()


def test_a_queue_is_kept_filled_while_its_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Channel.create(f"starting_{os.getpid()}", workcell=1, period_ns=10**6)
    profilers = Profilers(channel)
    start = subprocess.Popen

    def silent(_: Any, **options: Any) -> Any:
        return start(["sleep", "600"], **options)  # it never says that it is ready

    monkeypatch.setattr(subprocess, "Popen", silent)
    try:
        plan = point_to_point(np.zeros(1), np.ones(1), LIMITS, 20.0)
        place = MotionQueue(number=0, offset=0, entries=200, size=8000)
        profilers.start(Motion(queue=place, plans=(plan,), n_points=20_001, period=0.001), "action 'go'")
        header = channel.memory.motion_queues[0]
        header["tail"] = 150
        wait_until(lambda: header["head"] == 349)
        header["tail"] = 300
        wait_until(lambda: header["head"] == 499)
        profilers.stop(0)
        header["tail"] = 400
        time.sleep(0.2)
        assert header["head"] == 499 and header["failed"] == 0
    finally:
        profilers.close()
        channel.close()


def test_a_queue_without_shared_memory_is_refused_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a full /dev/shm, to write where there is no memory would end the process by SIGBUS."""
    channel = Channel.create(f"full_{os.getpid()}", workcell=1, period_ns=10**6)
    profilers = Profilers(channel)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    try:
        plan = point_to_point(np.zeros(1), np.ones(1), LIMITS, 20.0)
        place = MotionQueue(number=0, offset=0, entries=200, size=8000)
        header = channel.memory.motion_queues[0]
        header["head"] = header["failed"] = 7
        with pytest.raises(ChannelError, match=r"8000 bytes more; got .*No space left"):
            profilers.start(Motion(queue=place, plans=(plan,), n_points=20_001, period=0.001), "action 'go'")
        assert profilers.pids == {} and header["head"] == header["failed"] == 7
    finally:
        profilers.close()
        channel.close()
