"""Who is starved and who hangs, from what the system says of threads; and real processes, stopped and running."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.server_patience import ServerPatience, ThreadSeen, read_thread, read_threads

NATIVE, OTHER = 71, 72
SERVER = 70


class Machine:
    """A server's process as the system shows it, on a clock of the test's own."""

    def __init__(self, *, starved_s: float = 3.0) -> None:
        self.channel = Channel.private()
        self.memory = self.channel.memory
        self.memory.server_pid, self.memory.server_epoch, self.memory.server_native_thread = SERVER, 1, NATIVE
        self.now = 1000.0
        self.threads = {NATIVE: ThreadSeen("S", 0), OTHER: ThreadSeen("S", 0)}
        self.asked = 0
        self.patience = ServerPatience(
            self.channel,
            native_s=0.2,
            python_s=2.0,
            starved_s=starved_s,
            thread=self._thread,
            threads=lambda pid: self.threads,
            clock=lambda: self.now,
        )

    def _thread(self, pid: int, thread: int) -> ThreadSeen | None:
        assert pid == SERVER
        self.asked += 1
        return self.threads.get(thread)

    def passes(
        self, seconds: float, *, native: bool = False, python: bool = False, waits: float = 0.0
    ) -> ServerPatience:
        """Time passes; a heartbeat beats or not; the other thread waits for a processor for this share of it."""
        for _ in range(round(seconds / 0.02)):
            self.now += 0.02
            self.memory.server_native_beat += native
            self.memory.server_python_beat += python
            other = self.threads[OTHER]
            self.threads[OTHER] = other._replace(waited_ns=other.waited_ns + int(waits * 0.02e9))
            self.patience.look()
        return self.patience

    def native_is(self, state: str) -> None:
        self.threads[NATIVE] = ThreadSeen(state, 0)


def test_S29_a_server_that_beats_is_not_asked_about() -> None:
    machine = Machine()
    patience = machine.passes(5.0, native=True, python=True)
    assert not patience.native_starved and not patience.python_starved and not machine.asked
    assert patience.looked_s == machine.now


@pytest.mark.parametrize("state, starved", [("R", True), ("D", True), ("S", False), ("T", False), ("t", False)])
def test_S29_a_silent_thread_that_is_runnable_is_starved_and_one_that_sleeps_or_is_stopped_hangs(
    state: str, starved: bool
) -> None:
    machine = Machine()
    machine.passes(0.1, native=True, python=True)
    machine.native_is(state)
    assert machine.passes(0.18, python=True).native_starved == starved
    assert machine.passes(0.04, native=True, python=True).native_starved is False


def test_S29_who_is_stopped_while_it_is_starved_hangs() -> None:
    machine = Machine()
    machine.passes(0.1, native=True, python=True)
    machine.native_is("R")
    assert machine.passes(1.0).native_starved
    machine.native_is("T")
    assert not machine.passes(0.02).native_starved


def test_S29_a_thread_or_process_that_is_gone_or_hidden_is_not_waited_for() -> None:
    machine = Machine()
    machine.passes(0.1, native=True, python=True)
    machine.threads.clear()
    machine.threads[OTHER] = ThreadSeen("S", 0)
    assert not machine.passes(1.0).native_starved


@pytest.mark.parametrize("waits, starved", [(0.8, True), (0.1, False), (0.0, False)])
def test_S29_pythons_silence_is_the_machines_if_its_threads_wait_for_a_processor(waits: float, starved: bool) -> None:
    machine = Machine()
    machine.passes(0.1, native=True, python=True)
    assert machine.passes(2.5, native=True, waits=waits).python_starved == starved
    assert not machine.passes(0.2, native=True, python=True, waits=waits).python_starved


def test_S29_it_is_warned_before_the_bound_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    machine.passes(0.1, native=True, python=True)
    machine.native_is("R")
    with caplog.at_level(logging.WARNING):
        assert machine.passes(0.18).warning == "" and not caplog.records
        patience = machine.passes(0.1)
        assert patience.warning.startswith("the control server gets no processor time: no heartbeat for 0.")
        assert "its sessions end after 3 s" in patience.warning
        machine.passes(1.0)
        assert len(caplog.records) == 1, "once, not at each look"
        machine.passes(0.1, native=True, python=True)
    assert (patience.tolerated, patience.warning) == (1, "") and 1.2 < patience.longest_s < 1.4


def test_S29_another_server_is_judged_anew() -> None:
    machine = Machine()
    machine.passes(0.1, native=True, python=True)
    machine.native_is("R")
    assert machine.passes(1.0).native_starved
    machine.memory.server_epoch += 1
    assert not machine.passes(0.02).native_starved


def test_S29_a_server_in_this_process_is_not_looked_at() -> None:
    machine = Machine()
    machine.memory.server_pid = os.getpid()
    machine.native_is("R")
    assert not machine.passes(3.0).native_starved and not machine.asked


# --- the system's own words ----------------------------------------------------------------------


@pytest.fixture
def busy() -> Iterator[subprocess.Popen]:
    made = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield made
    made.kill()
    made.wait()


def becomes(pid: int, states: str) -> None:
    deadline = time.monotonic() + 60.0
    while (seen := read_thread(pid, pid)) is None or seen.state not in states:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_S29_a_process_that_is_really_stopped_hangs_and_one_that_could_run_is_starved(busy: subprocess.Popen) -> None:
    machine = Machine()
    machine.memory.server_pid = machine.memory.server_native_thread = busy.pid
    machine.patience._thread, machine.patience._threads = read_thread, read_threads
    becomes(busy.pid, "R")
    machine.passes(0.02)
    assert machine.passes(0.5).native_starved, "it would beat if it had a processor"
    busy.send_signal(signal.SIGSTOP)
    becomes(busy.pid, "T")
    assert not machine.passes(0.02).native_starved
    busy.send_signal(signal.SIGCONT)
    becomes(busy.pid, "R")
    assert machine.passes(0.02).native_starved
    busy.kill()
    busy.wait()
    assert not machine.passes(0.02).native_starved


def test_the_system_shows_this_thread_and_how_long_it_waited() -> None:
    seen = read_threads(os.getpid())[os.getpid()]
    assert seen.state in "RS" and seen.waited_ns >= 0
    assert read_thread(os.getpid(), 2**22 + 1) is None and read_threads(2**22 + 1) == {}
