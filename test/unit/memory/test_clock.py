"""Clock and sleep: from Python, and from compiled code without the GIL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numba
import pytest

from robot_rt_control.memory import clock


@numba.njit(nogil=True)
def _compiled_now():
    return clock.now_ns()


@numba.njit(nogil=True)
def _compiled_sleep(deadline):
    return clock.sleep_until(deadline)


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
