"""Pacing simulated time to the wall clock, and measuring how fast it goes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

_DEBT_S = 0.02
"""Lateness that is caught up with. More, a stall, is not: simulated time never sprints after one."""
_WINDOW_S = 1.0
_WARN_BELOW = 0.9
"""Fraction of the target below which the factor is reported."""


class Pacer:
    """Tells how long to wait until a span of simulated time is due.

    Args:
        factor: simulated seconds in a second, above 0.
        clock: [s] the wall clock; monotonic.
    """

    def __init__(self, factor: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._factor, self._clock = factor, clock
        self._due = clock()

    def pause(self, simulated_s: float) -> float:
        """[s] to wait after `simulated_s` more were simulated; 0: none, it is late."""
        now = self._clock()
        self._due = max(self._due + simulated_s / self._factor, now - _DEBT_S)
        return max(self._due - now, 0.0)


class FactorMeter:
    """The real-time factor over the last second. May be asked by any thread.

    Args:
        target: what simulated time is paced to; 0: as fast as possible.
        clock: [s] the wall clock; monotonic.
    """

    def __init__(self, target: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.target, self._clock = target, clock
        self._samples: deque[tuple[float, float]] = deque()
        self._lock = threading.Lock()

    def factor(self, simulated_s: float) -> float:
        """Simulated seconds in a second, since the newest call that is a second old, or else the first; NaN at first.

        Args:
            simulated_s: simulated time now.
        """
        with self._lock:
            now = self._clock()
            self._samples.append((now, simulated_s))
            while len(self._samples) > 2 and self._samples[1][0] <= now - _WINDOW_S:
                self._samples.popleft()
            begin, simulated = self._samples[0]
            return (simulated_s - simulated) / (now - begin) if now > begin else float("nan")

    def shortfall(self, factor: float) -> str:
        """A warning if the factor over a whole second is clearly below the target; else empty."""
        with self._lock:
            whole = self._samples[-1][0] - self._samples[0][0] >= _WINDOW_S if self._samples else False
        if self.target <= 0.0 or not whole or factor >= _WARN_BELOW * self.target:
            return ""
        return (
            f"simulated time runs at {factor:.2f} of real time, paced to {self.target:g}: "
            "the machine is too slow or too busy. Nothing is lost by it but time"
        )
