"""Distinguishes a process that hangs from one that is slow on a busy machine, by its use of time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

LOOK_S = 0.25
_LONGEST_LOOK_S = 1.0
"""A longer time between two looks counts as this: then the watcher itself stood still."""
_AT_WORK = 0.01
"""A process that uses this share of a processor is at work."""

_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


def read_work(pid: int) -> tuple[float, bool]:
    """The processor time [s] that a process has used, and whether a thread of it waits for a processor or a disk.

    A process that is gone has used nothing and waits for nothing.
    """
    try:
        used = _fields(Path(f"/proc/{pid}/stat"))
        tasks = [_fields(task / "stat") for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return 0.0, False
    return (int(used[11]) + int(used[12])) * _TICK_S, any(task[0] in ("R", "D") for task in tasks)


def _fields(stat: Path) -> list[str]:
    """Those after the name, which may contain anything: state first, user and system time at 11 and 12."""
    return stat.read_text().rpartition(")")[2].split()


class WorkWatch:
    """Watches one process: its processor time and its idle time are limited.

    Time in which it waits for its turn on a busy machine counts for neither.

    Args:
        processor_s: [s] of processor time from the last `restart` on.
        idle_s: [s] in which no thread of the process runs or wants to, from the last `restart` on.
        read: pid → processor time [s], and whether it wants to run.
        clock: [s] the wall clock; monotonic.
    """

    def __init__(
        self,
        pid: int,
        *,
        processor_s: float,
        idle_s: float,
        read: Callable[[int], tuple[float, bool]] = read_work,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pid, self._processor_s, self._idle_s = pid, processor_s, idle_s
        self._read, self._clock = read, clock
        self.restart()

    def restart(self) -> None:
        """Count from zero: the process has answered."""
        self._looked = self._clock()
        self._begun = self._used = self._read(self._pid)[0]
        self._idle = 0.0

    def look(self) -> str:
        """Call it about every LOOK_S. Returns the limit that is exceeded, in words; empty: none."""
        now = self._clock()
        passed, self._looked = now - self._looked, now
        used, wanting = self._read(self._pid)
        if not wanting and used - self._used <= _AT_WORK * passed:
            self._idle += min(passed, _LONGEST_LOOK_S)
        self._used = used
        if used - self._begun > self._processor_s:
            return f"took more than {self._processor_s:g} s of processor time"
        if self._idle > self._idle_s:
            return f"did nothing for {self._idle_s:g} s"
        return ""
