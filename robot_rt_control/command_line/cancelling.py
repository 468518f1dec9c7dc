"""Ctrl-C and SIGTERM while something is under way: the first ends it with what it has, the second at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
