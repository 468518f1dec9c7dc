"""Rules S29 and S30 of docs/semantics/sessions.md: a busy machine is told from a server or client that is gone."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from robot_rt_control.hardware.clocks import REALTIME
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.executor import Executor, ExecutorOptions
from robot_rt_control.server.lease_clock import LeaseClock
from robot_rt_control.server.sessions import SessionRegistry
from robot_rt_control.vocabulary import defaults
from robot_rt_control.vocabulary.enums import EventKind

_BOUND_S = 300.0
_FOR_EVER_S = 1e6


def until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + _BOUND_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.005)


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[Executor]:
    """On the wall clock; a server that gets no processor time is waited for for ever."""
    options = ExecutorOptions(
        clock=REALTIME,
        priority=0,
        lock_memory=False,
        fault_folder=tmp_path,
        native_silence_s=defaults.SERVER_NATIVE_SILENCE_S,
        python_silence_s=_FOR_EVER_S,
        starved_silence_s=_FOR_EVER_S,
    )
    workcell = load_workcell(Path(__file__).parent / "workcell.yaml")
    made = Executor(workcell, options, channel_name=None, image_name=lambda device: device)
    made.configure(lambda _: None)
    made.activate()
    yield made
    made.deactivate()
    made.cleanup()


@pytest.fixture
def silent_server(executor: Executor) -> Iterator[subprocess.Popen]:
    """A process that is attached, wants to run all the time, and never beats."""
    process = subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    memory = executor.channel.memory
    memory.server_pid = memory.server_native_thread = process.pid
    memory.server_epoch += 1
    yield process
    process.kill()
    process.wait()


def losses(executor: Executor) -> int:
    return sum(int(event["kind"]) == EventKind.SERVER_LOST for event in executor.channel.take_events())


def test_S29_a_server_that_could_run_is_waited_for_and_one_that_is_stopped_is_lost(
    executor: Executor, silent_server: subprocess.Popen
) -> None:
    until(lambda: executor.server_patience.native_starved)
    begin, tick = time.monotonic(), int(executor.channel.memory.loop_beat)
    while time.monotonic() < begin + 1.0 or int(executor.channel.memory.loop_beat) < tick + 500:
        assert losses(executor) == 0
        time.sleep(0.02)
    assert "gets no processor time" in executor.server_patience.warning
    silent_server.send_signal(signal.SIGSTOP)
    until(lambda: losses(executor) == 1)


def test_S29_a_server_that_dies_is_lost_also_while_it_is_waited_for(
    executor: Executor, silent_server: subprocess.Popen
) -> None:
    until(lambda: executor.server_patience.native_starved)
    silent_server.kill()
    until(lambda: losses(executor) == 1)


def test_S29_the_bounds() -> None:
    bounds = defaults.SERVER_NATIVE_SILENCE_S, defaults.SERVER_PYTHON_SILENCE_S, defaults.SERVER_STARVED_SILENCE_S
    assert bounds == (0.2, 2.0, 3.0)
    options = ExecutorOptions()
    assert (options.native_silence_s, options.python_silence_s, options.starved_silence_s) == bounds


class Stalls:
    """A server that looks every 50 ms, and now and then stands still."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sessions = SessionRegistry(["arm"], clock=lambda: self.now)
        self.sessions.lease_clock = LeaseClock(lambda: self.now)
        self.sessions.longest_stall = defaults.LEASE_STALL_S
        self.session = self.sessions.open("weld", ["arm"], 1.0, 1)

    def stands_still(self, seconds: float) -> bool:
        """Returns whether the session has ended then."""
        self.now += seconds
        return bool(self.sessions.overdue())

    def runs_until_the_end(self) -> float:
        begin = self.now
        while not self.stands_still(0.05):
            assert self.now < begin + 60.0
        return self.now - begin


def test_S30_a_server_that_stood_still_first_reads_what_came_meanwhile() -> None:
    server = Stalls()
    assert not server.stands_still(2.5), "the renewals wait to be read"
    server.sessions.renew(server.session.id)
    assert server.runs_until_the_end() == pytest.approx(1.0, abs=0.11), "none comes any more"


def test_S30_not_for_ever() -> None:
    server = Stalls()
    begin = server.now
    while not server.stands_still(0.9):
        assert server.now < begin + 60.0
    assert server.now - begin == pytest.approx(1.0 + defaults.LEASE_STALL_S, abs=0.95)


def test_S30_without_stalls_a_lease_is_as_long_as_it_says() -> None:
    assert Stalls().runs_until_the_end() == pytest.approx(1.0, abs=0.11)


def test_I17_in_simulated_time_a_lease_waits_with_it() -> None:
    server, simulated = Stalls(), [0.0]
    sessions = server.sessions
    sessions.lease_clock = LeaseClock(lambda: server.now, lambda: simulated[0])
    sessions.longest_stall, sessions.shortest_lease = math.inf, defaults.SIMULATED_LEASE_S
    sessions.end(server.session, "closed")
    server.session = sessions.open("weld", ["arm"], 1.0, 2)
    assert not any(server.stands_still(0.05) for _ in range(20_000)), "gated, or paused"
    begin = server.now
    for _ in range(10_000):
        simulated[0] += 0.01
        if server.stands_still(0.05):
            break
    assert simulated[0] == pytest.approx(10.0, abs=0.1) and server.now - begin == pytest.approx(50.0, abs=1.0)
