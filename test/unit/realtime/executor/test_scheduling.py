"""What the real-time thread asks of the operating system, and what it says where that is refused."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest

from robot_rt_control.realtime.executor import scheduling
from robot_rt_control.realtime.executor.scheduling import lock_memory, make_realtime


def test_nothing_asked_nothing_said() -> None:
    found = make_realtime(priority=0, cpu=-1, lock=False)
    assert (found.description, found.warnings) == ("SCHED_OTHER, any cpu", ())


def test_what_is_granted_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda pid, policy, p: calls.append((policy, p.sched_priority)))
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cpus: calls.append(tuple(cpus)))
    monkeypatch.setattr(scheduling, "lock_memory", lambda warnings: "memory locked")
    found = make_realtime(priority=80, cpu=3, lock=True)
    assert found.description == "SCHED_FIFO 80, cpu 3, memory locked"
    assert found.warnings == ()
    assert calls == [(os.SCHED_FIFO, 80), (3,)]


def test_what_is_refused_is_a_warning_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    def no_such_cpu(*_: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setattr(os, "sched_setaffinity", no_such_cpu)
    found = make_realtime(priority=80, cpu=999, lock=False)
    assert found.description == "SCHED_OTHER, any cpu"
    first, second = found.warnings
    assert first.startswith("The real-time thread runs without SCHED_FIFO (Operation not permitted): expect wake-ups")
    assert "ulimit -r 98" in first and "realtime_priority to 0" in first
    assert second.startswith("The real-time thread could not be bound to cpu 999 (Invalid argument): choose one of [")


class _Libc:
    def __init__(self, result: int) -> None:
        self.result, self.flags = result, 0

    def mlockall(self, flags: int) -> int:
        self.flags = flags
        ctypes.set_errno(12)
        return self.result


@pytest.mark.parametrize(("result", "words"), [(0, "memory locked"), (-1, "memory not locked")])
def test_memory_is_locked_as_it_is_touched(monkeypatch: pytest.MonkeyPatch, result: int, words: str) -> None:
    libc = _Libc(result)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: libc)
    warnings: list[str] = []
    assert lock_memory(warnings) == words
    assert libc.flags == 1 | 2 | 4  # current, future, on fault
    assert len(warnings) == (result != 0)
    if warnings:
        assert warnings[0].startswith("Memory is not locked (Cannot allocate memory): a page that was swapped out")
