"""The queue of a controller's thread: it cannot grow."""

from __future__ import annotations

import threading

from robot_rt_control.controllers.tasks import Tasks


class Work:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.tasks = Tasks("test", lambda task: task())

    def slow(self) -> None:
        self.begun.set()
        assert self.go_on.wait(60.0)
        self.done.append("slow")

    def first(self) -> None:
        self.done.append("first")

    def second(self) -> None:
        self.done.append("second")


def test_what_waits_already_is_not_added_again_and_the_order_stays():
    work = Work()
    work.tasks.add(work.slow)
    assert work.begun.wait(60.0)
    for _ in range(10_000):
        work.tasks.add(work.first)
        work.tasks.add(work.second)
        work.tasks.add(work.slow)  # it is done already: once more
    assert not work.tasks.is_idle
    work.go_on.set()
    work.tasks.wait_until_idle()
    assert work.done == ["slow", "first", "second", "slow"]
    work.tasks.add(work.first)
    work.tasks.end()
    assert work.done[4:] == ["first"]
    work.tasks.add(work.second)
    assert work.done[5:] == []
