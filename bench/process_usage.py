"""Memory and processor time of a process and all that it started, as the system counts them."""

from __future__ import annotations

import os
import re
from pathlib import Path


def with_descendants(pid: int) -> list[int]:
    """The process, and all that live of those that it started."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue  # it has ended
        found.append(one)
    return found


def pss_bytes(pid: int) -> int:
    """Proportional set size: pages that several processes share count in parts.

    Raises:
        OSError: the process has ended, or is somebody else's.
    """
    (kilobytes,) = re.findall(r"^Pss:\s+(\d+) kB$", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return 1024 * int(kilobytes)


def processor_seconds(pid: int) -> float:
    """Processor time of all its threads, since its start.

    Raises:
        OSError: the process has ended.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
