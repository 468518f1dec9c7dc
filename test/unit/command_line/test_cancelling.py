"""Work that is cancelled: it ends by itself, or it is left."""

import threading

import pytest

from robot_rt_control.command_line import cancelling
from robot_rt_control.command_line.cancelling import BrokenOff, within_grace


def test_what_ends_by_itself_gives_its_result_or_its_error():
    assert within_grace(lambda: 7, threading.Event()) == 7
    with pytest.raises(ZeroDivisionError):
        within_grace(lambda: 1 // 0, threading.Event())


def test_what_looks_has_time_to_end(monkeypatch):
    monkeypatch.setattr(cancelling, "GRACE_S", 600.0)
    cancelled = threading.Event()

    def work():
        cancelled.set()
        return cancelled.wait(600.0)

    assert within_grace(work, cancelled)


def test_what_does_not_look_is_left():
    cancelled, done = threading.Event(), threading.Event()

    def work():
        cancelled.set()
        done.wait(600.0)

    with pytest.raises(BrokenOff):
        within_grace(work, cancelled)
    done.set()
