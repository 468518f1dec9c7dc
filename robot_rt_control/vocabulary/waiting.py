"""Patient waiting: a line at intervals names what is awaited; only a long time-out is an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from robot_rt_control.vocabulary import defaults


class Waiting:
    """One wait for a component that starts up.

    Args:
        say: called with the lines that name what is awaited.
        timeout_s: the wait ends after this time from now.
        every_s: interval between two lines; the first one follows after this time.
        clock: [s] the wall clock; monotonic.
    """

    def __init__(
        self,
        say: Callable[[str], object],
        timeout_s: float = defaults.STARTUP_S,
        *,
        every_s: float = defaults.STARTUP_REPORT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._every_s, self._clock = say, every_s, clock
        self._begin = clock()
        self._next = self._begin + every_s
        self._end = self._begin + timeout_s

    def goes_on(self, awaited: str) -> bool:
        """Whether to continue waiting; at intervals, report "still waiting for {awaited} (20 s)"."""
        now = self._clock()
        if now >= self._next:
            self._next = now + self._every_s
            self._say(f"still waiting for {awaited} ({now - self._begin:.0f} s)")
        return now < self._end


@contextmanager
def told(
    say: Callable[[str], object], doing: str, *, every_s: float = defaults.STARTUP_REPORT_S
) -> Iterator[None]:
    """While the block runs, report at intervals what it does and for how long: "still compiling … (20 s)".

    Args:
        say: called with the lines, in a thread of its own.
        doing: such as "compiling the tick loop".
    """
    begin, done = time.monotonic(), threading.Event()

    def tell() -> None:
        while not done.wait(every_s):
            say(f"still {doing} ({time.monotonic() - begin:.0f} s)")

    thread = threading.Thread(target=tell, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
