"""Wake-up calls between threads and processes: from Python, and from compiled code without the GIL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numba
import numpy as np
import pytest

from robot_rt_control.memory import wake
from robot_rt_control.memory.atomics import load_acquire_i4


@numba.njit(nogil=True)
def _compiled_ring(address):
    return wake.ring(address)


@numba.njit(nogil=True)
def _compiled_wait(address, seen, deadline):
    return wake.wait_until(address, seen, deadline)


@numba.njit(nogil=True)
def _word(address):
    return load_acquire_i4(address)


@pytest.mark.parametrize("ring", [wake.ring, _compiled_ring])
def test_who_waits_is_woken(ring: Callable[[int], int]) -> None:
    word = np.zeros(16, np.int32)
    address = word.ctypes.data
    ring(address)  # nobody waits: nothing happens
    woken: list[bool] = []
    threads = [threading.Thread(target=lambda: woken.append(wake.wait(address, 0, 120.0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    begin = time.monotonic()
    while len(woken) < 2 and time.monotonic() - begin < 60.0:
        time.sleep(0.005)
        ring(address)
    for thread in threads:
        thread.join()
    assert woken == [True, True]
    assert _word(address) == 0


def test_a_wait_ends_at_once_where_the_word_has_changed_and_else_with_its_time() -> None:
    word = np.array([5] + [0] * 15, np.int32)
    address = word.ctypes.data
    assert wake.wait(address, 4, 30.0)
    begin = time.monotonic()
    assert not wake.wait(address, 5, 0.03)
    assert time.monotonic() - begin >= 0.03
    word[0] = -1
    assert wake.wait(address, 5, 30.0) and not wake.wait(address, -1, 0.001)


def test_a_bad_address_is_an_error() -> None:
    with pytest.raises(OSError):
        wake.wait(3, 0, 0.01)


def test_an_unknown_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake, "_FUTEX", -1)
    with pytest.raises(OSError, match="no futex number is known for .*; add it in memory/wake.py"):
        wake.wait(0, 0, 0.01)


@pytest.mark.parametrize("wait_until", [wake.wait_until, _compiled_wait])
def test_waiting_until_a_time_ends_then_or_when_it_is_rung(wait_until: Callable[[int, int, int], int]) -> None:
    word = np.array([7] + [0] * 15, np.int32)
    address = word.ctypes.data
    wait_until(address, 7, 0)  # long ago: at once
    deadline = time.monotonic_ns() + 30_000_000
    wait_until(address, 7, deadline)
    assert time.monotonic_ns() >= deadline - 1000
    begin = time.monotonic()
    wait_until(address, 6, time.monotonic_ns() + 120_000_000_000)  # the word is another one: at once
    assert time.monotonic() - begin < 60.0
    ended = threading.Event()

    def sleeper() -> None:
        wait_until(address, 7, time.monotonic_ns() + 120_000_000_000)
        ended.set()

    thread = threading.Thread(target=sleeper)
    thread.start()
    while not ended.wait(0.005) and time.monotonic() - begin < 60.0:
        wake.ring(address)
    thread.join()
    assert time.monotonic() - begin < 60.0


def test_a_compiled_wait_neither_turns_nor_holds_the_interpreter() -> None:
    word = np.zeros(16, np.int32)
    _compiled_wait(word.ctypes.data, 0, 0)
    used: list[float] = []

    def sleeper() -> None:
        before = time.thread_time()
        _compiled_wait(word.ctypes.data, 0, time.monotonic_ns() + 300_000_000)
        used.append(time.thread_time() - before)

    thread = threading.Thread(target=sleeper)
    thread.start()
    done = 0
    while thread.is_alive():
        done += 1
    assert done > 100, "the interpreter was free meanwhile"
    assert used[0] < 0.05, "it slept"
