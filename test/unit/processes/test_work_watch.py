"""Which process hangs and which only waits for its turn, with readings of the test's own and with real processes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from robot_rt_control.processes.work_watch import WorkWatch, read_work


class Bench:
    """A process whose use of time the test decides."""

    def __init__(self, *, processor_s: float = 10.0, idle_s: float = 5.0) -> None:
        self.now, self.used, self.wanting = 100.0, 3.0, False
        self.watch = WorkWatch(
            1, processor_s=processor_s, idle_s=idle_s, read=lambda _: (self.used, self.wanting), clock=lambda: self.now
        )

    def until(self, *, share: float, wanting: bool, at_most: float = 1000.0, look: float = 0.25) -> tuple[str, float]:
        begun = self.now
        while self.now - begun < at_most:
            self.now += look
            self.used += share * look
            self.wanting = wanting
            if said := self.watch.look():
                return said, self.now - begun
        return "", self.now - begun


def test_one_that_waits_for_its_turn_is_never_ended():
    assert Bench().until(share=0.0, wanting=True) == ("", 1000.0)
    assert Bench(processor_s=1e6).until(share=0.02, wanting=False) == ("", 1000.0)


def test_only_its_own_processor_time_counts():
    said, after = Bench().until(share=1.0, wanting=True)
    assert said == "took more than 10 s of processor time" and after == pytest.approx(10.25)
    said, after = Bench().until(share=0.125, wanting=True)
    assert said == "took more than 10 s of processor time" and after == pytest.approx(80.25)


def test_one_that_does_nothing_is_ended():
    said, after = Bench().until(share=0.0, wanting=False)
    assert said == "did nothing for 5 s" and after == pytest.approx(5.25)
    assert Bench().until(share=0.001, wanting=False)[0] == "did nothing for 5 s", "a little now and then is nothing"


def test_a_watcher_that_stood_still_misses_nobody():
    bench = Bench()
    assert bench.until(share=0.0, wanting=False, look=600.0, at_most=1800.0) == ("", 1800.0)


def test_both_begin_anew_with_the_next_task():
    bench = Bench()
    for _ in range(3):
        assert bench.until(share=1.0, wanting=True, at_most=9.0)[0] == ""
        assert bench.until(share=0.0, wanting=False, at_most=4.0)[0] == ""
        bench.watch.restart()


def test_real_processes_are_read_as_they_are():
    running = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    sleeping = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    try:
        while read_work(running.pid)[0] < 0.3 or read_work(sleeping.pid)[1]:
            time.sleep(0.02)
        assert read_work(running.pid)[1]
        used = read_work(sleeping.pid)[0]
        os.kill(running.pid, signal.SIGSTOP)
        while read_work(running.pid)[1]:
            time.sleep(0.02)
        assert read_work(sleeping.pid)[0] == used
    finally:
        for process in (running, sleeping):
            process.kill()
            process.wait()
    assert read_work(running.pid) == (0.0, False)
