"""Waiting with patience: from time to time it is said what is awaited; only after a generous time it is an error."""

from __future__ import annotations

import time
from collections.abc import Callable

from robot_rt_control.vocabulary import defaults


class Waiting:
    """One wait for something that comes up.

    Args:
        say: takes the lines that name what is awaited.
        timeout_s: from now on, after which it is not waited for any more.
        every_s: between two of these lines; the first one comes after this time.
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
        """Whether to wait on; says every now and then what is awaited, as "still waiting for {awaited} (20 s)"."""
        now = self._clock()
        if now >= self._next:
            self._next = now + self._every_s
            self._say(f"still waiting for {awaited} ({now - self._begin:.0f} s)")
        return now < self._end
