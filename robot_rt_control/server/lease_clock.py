"""The time that leases count: while the control server itself stands still, it misses nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable

_LOOK_S = 0.05
"""Shorter steps wait for the next one: simulated time comes in small jumps, of which none is to be lost."""
_LONGEST_STEP_S = 0.25
"""A longer time between two looks counts as this: requests that came in this time are still to be read."""


class LeaseClock:
    """[s] The wall clock without the time in which nobody looked; with simulated time, the slower of the two.

    It goes on as long as somebody looks often, as `ServerCore.poll` does. From any thread.

    Args:
        wall: monotonic [s].
        simulated: simulated time [s]; None: the workcell lives on the wall clock.
    """

    def __init__(self, wall: Callable[[], float], simulated: Callable[[], float] | None = None) -> None:
        self._wall, self._simulated = wall, simulated
        self._lock = threading.Lock()
        self._looked = self._now = wall()
        self._stamp = simulated() if simulated is not None else 0.0

    def __call__(self) -> float:
        with self._lock:
            wall = self._wall()
            passed = wall - self._looked
            if passed >= _LOOK_S:
                self._looked = wall
                step = min(passed, _LONGEST_STEP_S)
                if self._simulated is not None:
                    stamp = self._simulated()
                    step, self._stamp = min(step, max(stamp - self._stamp, 0.0)), stamp
                self._now += step
            return self._now
