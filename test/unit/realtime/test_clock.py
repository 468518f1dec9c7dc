"""Clock, sleep and wake-up calls: from Python, and from compiled code without the GIL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numba
import numpy as np
import pytest

from robot_rt_control.program.atomics import load_acquire_i4
from robot_rt_control.realtime import clock


@numba.njit(nogil=True)
def _compiled_now():
    return clock.now_ns()


@numba.njit(nogil=True)
def _compiled_sleep(deadline):
    return clock.sleep_until(deadline)


@numba.njit(nogil=True)
def _compiled_ring(address):
    return clock.ring(address)


@numba.njit(nogil=True)
def _word(address):
    return load_acquire_i4(address)


@pytest.mark.parametrize("now", [clock.now_ns, _compiled_now])
def test_now_is_the_monotonic_clock(now: Callable[[], int]) -> None:
    before = time.monotonic_ns()
    found = now()
    assert before <= found <= time.monotonic_ns()


@pytest.mark.parametrize("sleep", [clock.sleep_until, _compiled_sleep])
def test_sleep_ends_behind_the_deadline(sleep: Callable[[int], int]) -> None:
    sleep(0)  # long ago: at once
    for pause in (0, 1_000_000, 20_000_000):
        deadline = time.monotonic_ns() + pause
        sleep(deadline)
        assert time.monotonic_ns() >= deadline - 1000


def test_compiled_sleep_leaves_the_interpreter_to_others() -> None:
    thread = threading.Thread(target=_compiled_sleep, args=(time.monotonic_ns() + 200_000_000,))
    _compiled_sleep(0)
    thread.start()
    done, begin = 0, time.monotonic()
    while thread.is_alive():
        done += 1
    assert done > 100 and time.monotonic() - begin >= 0.1


@pytest.mark.parametrize("ring", [clock.ring, _compiled_ring])
def test_who_waits_is_woken(ring: Callable[[int], int]) -> None:
    word = np.zeros(16, np.int32)
    address = word.ctypes.data
    ring(address)  # nobody waits: nothing happens
    woken: list[bool] = []
    threads = [threading.Thread(target=lambda: woken.append(clock.wait(address, 0, 30.0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    begin = time.monotonic()
    while len(woken) < 2 and time.monotonic() - begin < 20.0:
        time.sleep(0.005)
        ring(address)
    for thread in threads:
        thread.join()
    assert woken == [True, True]
    assert _word(address) == 0


def test_a_wait_ends_at_once_where_the_word_has_changed_and_else_with_its_time() -> None:
    word = np.array([5] + [0] * 15, np.int32)
    address = word.ctypes.data
    assert clock.wait(address, 4, 30.0)
    begin = time.monotonic()
    assert not clock.wait(address, 5, 0.03)
    assert time.monotonic() - begin >= 0.03
    word[0] = -1
    assert clock.wait(address, 5, 30.0) and not clock.wait(address, -1, 0.001)


def test_a_bad_address_is_an_error() -> None:
    with pytest.raises(OSError):
        clock.wait(3, 0, 0.01)


def test_an_unknown_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_FUTEX", -1)
    with pytest.raises(OSError, match="no futex number is known for .*; add it in realtime/clock.py"):
        clock.wait(0, 0, 0.01)
