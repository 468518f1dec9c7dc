"""Calls at a rate, in a thread of their own."""

from __future__ import annotations

import threading

from robot_rt_control.ros.periodic import Periodic

WAIT_S = 60.0


def test_it_calls_until_it_is_stopped() -> None:
    called = threading.Semaphore(0)
    periodic = Periodic(called.release, 0.001, print)
    for _ in range(5):
        assert called.acquire(timeout=WAIT_S)
    periodic.stop()
    while called.acquire(blocking=False):
        pass
    assert not called.acquire(timeout=0.05)


def test_a_new_period_takes_effect_at_once() -> None:
    called = threading.Event()
    periodic = Periodic(called.set, 3600.0, print)
    assert not called.wait(0.05)
    periodic.period_s = 0.001
    assert called.wait(WAIT_S)
    assert periodic.period_s == 0.001
    periodic.stop()


def test_it_stops_at_once_and_waits_for_a_call_that_runs() -> None:
    Periodic(print, 3600.0, print).stop()
    running, done = threading.Event(), threading.Event()

    def work() -> None:
        running.set()
        done.wait(WAIT_S)

    periodic = Periodic(work, 0.001, print)
    assert running.wait(WAIT_S)
    stopper = threading.Thread(target=periodic.stop)
    stopper.start()
    stopper.join(0.05)
    assert stopper.is_alive()
    done.set()
    stopper.join(WAIT_S)
    assert not stopper.is_alive()


def test_calls_continue_after_an_exception_and_it_is_reported() -> None:
    errors: list[str] = []
    again = threading.Event()

    def fail() -> None:
        if errors:
            again.set()
        raise ValueError("no state yet")

    periodic = Periodic(fail, 0.001, errors.append)
    assert again.wait(WAIT_S)
    periodic.stop()
    assert "ValueError: no state yet" in errors[0]
