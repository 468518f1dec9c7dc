"""The real-time thread: ticks without the interpreter, and notices a server that is silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor import realtime_thread
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.realtime_thread import RealtimeThread
from robot_rt_control.vocabulary.enums import EventKind
from robot_rt_control.vocabulary.errors import RobotControlError


@pytest.fixture
def channel() -> Channel:
    return Channel.private()


@pytest.fixture
def make(world: World, channel: Channel) -> Iterator[Callable[..., RealtimeThread]]:
    """An ordinary thread with short silences; it ends with the test."""
    threads: list[RealtimeThread] = []

    def thread(**changes: Any) -> RealtimeThread:
        options: dict[str, Any] = {"period_ns": 1_000_000, "priority": 0, "cpu": -1, "lock": False}
        silences = {"native_silence_s": 0.3, "python_silence_s": 0.3}
        threads.append(RealtimeThread(world.memory, channel, **(options | silences | changes)))
        return threads[-1]

    yield thread
    for started in threads:
        started.stop()


def wait_until(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)


def losses(channel: Channel) -> int:
    return sum(int(kind) == EventKind.SERVER_LOST for kind in channel.take_events()["kind"])


def test_it_ticks_until_it_is_stopped(world: World, make: Callable[..., RealtimeThread]) -> None:
    thread = make()
    states = [(thread.running, thread.scheduling.description)]
    thread.start()
    states.append((thread.running, thread.scheduling.description))
    assert states == [(False, "not started"), (True, "SCHED_OTHER, any cpu")]
    wait_until(lambda: world.memory.tick >= 20)
    thread.stop()
    assert not thread.running
    tick = int(world.memory.tick)
    time.sleep(0.01)
    assert world.memory.tick == tick
    thread.stop()  # may be repeated


def test_it_does_not_need_the_interpreter(world: World, make: Callable[..., RealtimeThread]) -> None:
    thread = make()
    thread.start()
    wait_until(lambda: world.memory.tick > 0)
    before, begin = int(world.memory.tick), time.monotonic()
    sum(range(20_000_000))  # keeps the interpreter for itself, but for the switches that it grants
    took = time.monotonic() - begin
    ticked = int(world.memory.tick) - before
    assert ticked + int(thread._channel.memory.timing.deadline_misses) >= 0.5 * took * 1000


def test_what_fails_before_the_first_tick_is_an_error(
    make: Callable[..., RealtimeThread], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise ValueError("no scheduler")

    monkeypatch.setattr(realtime_thread, "make_realtime", fail)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    with pytest.raises(
        RobotControlError, match=r"the real-time thread did not start; got ValueError\('no scheduler'\)"
    ):
        make().start()


@pytest.mark.parametrize("silent", ["native", "python"])
def test_a_server_with_a_silent_heartbeat_is_lost(
    channel: Channel, make: Callable[..., RealtimeThread], silent: str
) -> None:
    beating = threading.Event()

    def beat() -> None:
        memory = channel.memory
        while not beating.wait(0.005):
            if silent != "native":
                memory.server_native_beat += 1
            if silent != "python":
                memory.server_python_beat += 1

    channel.claim_server()  # before the loop starts
    thread = threading.Thread(target=beat)
    thread.start()
    try:
        begin = time.monotonic()
        make(
            **{f"{silent}_silence_s": 0.1, "native_silence_s" if silent == "python" else "python_silence_s": 60.0}
        ).start()
        lost: list[int] = []

        def heard() -> bool:
            lost.append(losses(channel))
            return sum(lost) > 0

        wait_until(heard)
        assert time.monotonic() - begin >= 0.1
        time.sleep(0.15)
        assert losses(channel) == 0, "once"
        channel.renew_server()
        lost.clear()
        wait_until(heard)
    finally:
        beating.set()
        thread.join()


def test_a_server_that_leaves_is_lost(channel: Channel, make: Callable[..., RealtimeThread]) -> None:
    make(native_silence_s=60.0, python_silence_s=60.0).start()
    channel.claim_server()
    time.sleep(0.05)
    assert losses(channel) == 0
    channel.release_server()
    wait_until(lambda: losses(channel) == 1)
