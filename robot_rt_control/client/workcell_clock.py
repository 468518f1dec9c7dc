"""The time that time-outs and sleeps of a client count."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

EXTRAPOLATED_S = 0.25
"""Until the next message of the executor's status, which come every 0.2 s, simulated time is taken to go on."""
STANDSTILL_S = 10.0
"""If simulated time stands still for longer, the wall clock counts again: every time-out ends."""


class WorkcellClock:
    """Simulated time where the workcell lives in it, else the wall clock; never goes back. From any thread.

    Args:
        wall: monotonic [s].
    """

    def __init__(self, wall: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._lock = threading.Lock()
        self._base = self._at = self._shown = wall()
        self._stamp: float | None = None
        """Simulated time when it was last reported [s]; None: the wall clock counts."""
        self._factor = 1.0

    def take(self, stamp_s: float | None, factor: float = 1.0) -> None:
        """Take in a report of the executor.

        Args:
            stamp_s: simulated time; None: the loop runs on the wall clock.
            factor: simulated time per wall-clock time; NaN: unknown, as where ticks come on request only.
        """
        with self._lock:
            wall, last = self._wall(), self._stamp
            passed = stamp_s - last if stamp_s is not None and last is not None else -1.0
            if passed == 0.0:
                return
            if passed < 0.0 or wall - self._at > STANDSTILL_S:
                self._base = self._now()
            else:
                self._base += passed
            self._stamp, self._at = stamp_s, wall
            self._factor = factor if math.isfinite(factor) else 0.0

    @property
    def simulated(self) -> bool:
        """Whether the last report was of simulated time."""
        return self._stamp is not None

    def now(self) -> float:
        """[s], from an arbitrary beginning."""
        with self._lock:
            return self._now()

    def _now(self) -> float:
        since = self._wall() - self._at
        if self._stamp is not None:
            since = self._factor * min(since, EXTRAPOLATED_S) + max(since - STANDSTILL_S, 0.0)
        self._shown = max(self._shown, self._base + since)
        return self._shown
