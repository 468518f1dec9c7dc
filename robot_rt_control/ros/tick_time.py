"""Ticks on the ROS clock: one time for each tick, and later ticks have later times."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_LOOK_S = 0.1
_LOOKS = 3
"""Readings of both clocks, of which the closest ones count."""
_CORRECTION_NS = 50_000
"""Largest correction after _LOOK_S: below the shortest period, and as much as a clock that is slewed moves."""
_SET_NS = 10_000_000
"""A ROS clock that differs by more was set: its new time is taken as it is."""


class TickTime:
    """Converts the starts of ticks, which are times of the monotonic clock, to the ROS clock. Any thread may call it.

    Two clocks that are read one after the other are as far apart as the system lets pass between the readings. So their
    difference is kept, and corrected slowly.

    Args:
        ros_ns: reads the ROS clock [ns].
        monotonic_ns: reads the clock of the loop [ns].
    """

    def __init__(self, ros_ns: Callable[[], int], monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._ros_ns, self._monotonic_ns = ros_ns, monotonic_ns
        self._lock = threading.Lock()
        self._offset = self._difference()
        self._looked = self._monotonic_ns()
        self._tick = self._stamp = 0

    def of(self, tick_ns: int) -> int:
        """The ROS time [ns] of a tick that started at `tick_ns`.

        It is later than that of an earlier tick, unless the ROS clock was set back.
        """
        with self._lock:
            if tick_ns != self._tick:
                self._correct()
                self._tick, self._stamp = tick_ns, tick_ns + self._offset
            return self._stamp

    def _correct(self) -> None:
        now = self._monotonic_ns()
        if now - self._looked < _LOOK_S * 1e9:
            return
        self._looked = now
        missing = self._difference() - self._offset
        if abs(missing) <= _SET_NS:
            missing = min(max(missing, -_CORRECTION_NS), _CORRECTION_NS)
        self._offset += missing

    def _difference(self) -> int:
        """[ns] of the ROS clock to the monotonic one."""
        found = []
        for _ in range(_LOOKS):
            before = self._monotonic_ns()
            ros = self._ros_ns()
            after = self._monotonic_ns()
            found.append((after - before, ros - (before + after) // 2))
        return min(found)[1]
