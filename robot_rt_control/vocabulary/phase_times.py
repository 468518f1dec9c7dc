"""How long each phase of a process's start took, printed if ROBOT_RT_CONTROL_TIMING=1, which `--timing` sets."""

from __future__ import annotations

import os
import time

VARIABLE = "ROBOT_RT_CONTROL_TIMING"
"""The environment variable that asks for these lines: 1."""
MARK = "timing: "
"""Begins such a line."""

_TICKS = os.sysconf("SC_CLK_TCK")
_last: tuple[float, float] | None = None


def ends(phase: str) -> None:
    """Print how long the phase took that ends here; it began with the end of the one before, or with the process.

    Called by the thread that starts the process. A line: "timing: import 0.81 s, processor time 0.78 s". The processor
    time is that of all threads, without child processes.

    Args:
        phase: a few words.
    """
    global _last
    if os.environ.get(VARIABLE) != "1":
        return
    now = time.clock_gettime(time.CLOCK_BOOTTIME), time.process_time()
    before, _last = _last or (_started(), 0.0), now
    print(f"{MARK}{phase} {now[0] - before[0]:.2f} s, processor time {now[1] - before[1]:.2f} s", flush=True)


def _started() -> float:
    """When this process was started [s] since the machine was, to a hundredth of a second."""
    with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[19]) / _TICKS
