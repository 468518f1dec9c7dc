from __future__ import annotations

import threading

from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.client.event import Event


def _event(tick: int) -> Event:
    return Event(kind="reaction_fired", tick=tick)


def test_events_arrive_in_order_in_one_thread_of_their_own():
    seen: list[tuple[int, str]] = []
    queue = CallbackQueue(
        lambda e: seen.append((e.tick, threading.current_thread().name)), capacity=50, on_overflow=print, name="x"
    )
    for tick in range(20):
        queue.put(_event(tick))
    queue.close()
    assert [tick for tick, _ in seen] == list(range(20))
    assert {name for _, name in seen} == {"callback x"}


def test_a_slow_callback_delays_no_other_and_its_overflow_is_reported():
    overflows: list[int] = []
    release, quick = threading.Event(), threading.Event()
    slow = CallbackQueue(lambda e: release.wait(5), capacity=2, on_overflow=overflows.append, name="slow")
    other = CallbackQueue(lambda e: quick.set(), capacity=2, on_overflow=print, name="quick")
    for tick in range(10):
        slow.put(_event(tick))
    other.put(_event(0))
    assert quick.wait(2), "the quick callback waited for the slow one"
    assert slow.overflowed >= 7 and overflows == list(range(1, slow.overflowed + 1))
    release.set()
    slow.close()
    other.close()


def test_a_failing_callback_goes_on_with_the_next_event(caplog):
    seen = []

    def callback(event: Event) -> None:
        if event.tick == 1:
            raise RuntimeError("my mistake")
        seen.append(event.tick)

    queue = CallbackQueue(callback, capacity=10, on_overflow=print, name="fragile")
    for tick in range(3):
        queue.put(_event(tick))
    queue.close()
    assert seen == [0, 2]
    assert "callback for fragile failed at tick 1" in caplog.text
    assert "my mistake" in caplog.text


def test_closing_does_not_wait_for_a_callback_that_hangs():
    release = threading.Event()
    queue = CallbackQueue(lambda e: release.wait(10), capacity=1, on_overflow=lambda n: None, name="stuck")
    queue.put(_event(0))
    queue.put(_event(1))
    queue.close(timeout_s=0.05)
    release.set()
