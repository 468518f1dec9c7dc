"""Ctrl-C and SIGTERM while something is under way: the first ends it with what it has, the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

GRACE_S = 0.35
"""[s] for which work may go on after it was cancelled, to give what it has."""
_LOOK_S = 0.02
_Result = TypeVar("_Result")


class BrokenOff(Exception):
    """Work did not end in time after it was cancelled; its thread goes on until the process ends."""


def within_grace(work: Callable[[], _Result], cancelled: threading.Event) -> _Result:
    """What `work` returns or raises, in a thread of its own: on a busy machine it may look too rarely whether it is
    cancelled.

    Raises:
        BrokenOff: it has not ended `GRACE_S` after `cancelled` was set.
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="work", daemon=True)
    thread.start()
    while not cancelled.is_set() and thread.is_alive():
        thread.join(_LOOK_S)
    thread.join(GRACE_S)
    if thread.is_alive():
        raise BrokenOff
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def cancelled_by_signals() -> Iterator[threading.Event]:
    """The event that the first signal sets."""
    cancelled = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def cancel(*_: object) -> None:
        cancelled.set()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, cancel)
    try:
        yield cancelled
    finally:
        restore()
