from __future__ import annotations

import threading
from typing import Any

import pytest

from robot_rt_control.client.callback_queue import CallbackQueue, close_all
from robot_rt_control.client.event import Event


def _event(tick: int) -> Event:
    return Event(kind="reaction_fired", tick=tick)


def _queue(callback: Any, capacity: int, **reports: Any) -> CallbackQueue:
    """A queue whose overflow and failure are errors unless the test takes them."""

    def unexpected(*what: object) -> None:
        raise AssertionError(what)

    queue: CallbackQueue = CallbackQueue(
        callback, capacity=capacity, name="x", **({"on_overflow": unexpected, "on_failure": unexpected} | reports)
    )
    queue.start_thread()
    return queue


def test_events_arrive_in_order_in_one_thread_of_their_own():
    seen: list[tuple[int, str]] = []
    queue = _queue(lambda e: seen.append((e.tick, threading.current_thread().name)), 50)
    for tick in range(20):
        queue.put(_event(tick))
    queue.close()
    assert [tick for tick, _ in seen] == list(range(20))
    assert {name for _, name in seen} == {"callback x"}


def test_a_slow_callback_delays_no_other_and_each_row_of_losses_is_reported_once():
    overflows: list[tuple[int, int]] = []
    seen: list[tuple[int, int]] = []
    release, begun, quick = threading.Event(), threading.Event(), threading.Event()

    def wait(event: Event) -> None:
        begun.set()
        release.wait(60)
        seen.append((event.tick, event.missed))

    slow = _queue(wait, 2, on_overflow=lambda e, n: overflows.append((e.tick, n)))
    other = _queue(lambda e: quick.set(), 2)
    slow.put(_event(0))
    assert begun.wait(60)
    for tick in range(1, 10):
        slow.put(_event(tick))
    other.put(_event(0))
    assert quick.wait(60), "the quick callback waited for the slow one"
    assert slow.overflowed == 7 and overflows == [(3, 1)]
    release.set()
    other.close()
    slow.close()
    assert seen == [(0, 0), (1, 0), (2, 0)]


def test_the_next_event_says_how_many_were_missed():
    seen: list[tuple[int, int]] = []
    overflows: list[tuple[int, int]] = []
    turn = threading.Semaphore(0)

    def step(event: Event) -> None:
        turn.acquire()
        seen.append((event.tick, event.missed))
        done.set()

    done = threading.Event()
    queue = _queue(step, 1, on_overflow=lambda e, n: overflows.append((e.tick, n)))
    queue.put(_event(0))
    turn.release()
    assert done.wait(60)
    done.clear()
    queue.put(_event(1))
    while queue._waiting:
        pass  # until the callback has taken it
    for tick in (2, 3, 4):
        queue.put(_event(tick))  # one waits, two are lost
    turn.release()
    assert done.wait(60)
    while queue._waiting:
        pass
    queue.put(_event(5))
    queue.put(_event(6))
    for _ in range(3):
        turn.release()
    queue.close()
    assert seen == [(0, 0), (1, 0), (2, 0), (5, 2)]
    assert overflows == [(3, 1), (6, 3)] and queue.overflowed == 3


def test_a_failing_callback_goes_on_with_the_next_event(caplog: pytest.LogCaptureFixture):
    seen: list[int] = []
    failures: list[tuple[int, str]] = []

    def callback(event: Event) -> None:
        if event.tick == 1:
            raise RuntimeError("my mistake")
        seen.append(event.tick)

    queue = _queue(callback, 10, on_failure=lambda event, error: failures.append((event.tick, str(error))))
    for tick in range(3):
        queue.put(_event(tick))
    queue.close()
    assert seen == [0, 2] and failures == [(1, "my mistake")]
    assert "callback for x failed at tick 1" in caplog.text
    assert "my mistake" in caplog.text


def test_closing_does_not_wait_for_a_callback_that_hangs_and_takes_nothing_more():
    release = threading.Event()
    seen: list[int] = []

    def hang(event: Event) -> None:
        release.wait(60)
        seen.append(event.tick)

    stuck = [_queue(hang, 5) for _ in range(3)]
    for queue in stuck:
        queue.put(_event(0))
    close_all(stuck, timeout_s=0.05)
    for queue in stuck:
        queue.put(_event(1))
    release.set()
    close_all(stuck)
    assert seen == [0, 0, 0]


def test_without_a_thread_the_one_that_waits_calls_and_no_callback_is_called_within_itself():
    seen: list[int] = []
    failed: list[str] = []

    def callback(event: Event) -> None:
        seen.append(event.tick)
        if event.tick == 0:
            queue.put(_event(2))
            assert not queue.is_ready and queue.call_waiting() == []
        if event.tick == 1:
            raise ValueError("my mistake")

    queue: CallbackQueue = CallbackQueue(
        callback, capacity=5, name="x", on_overflow=lambda *_: None, on_failure=lambda _, e: failed.append(str(e))
    )
    queue.put(_event(0))
    queue.put(_event(1))
    assert seen == [] and queue.is_ready
    (error,) = queue.call_waiting()
    assert seen == [0, 1, 2] and isinstance(error, ValueError) and failed == ["my mistake"]
    queue.put(_event(3))
    assert not queue.is_done
    queue.close()
    assert seen[-1] == 3 and queue.is_done, "what has come is called before it ends"
