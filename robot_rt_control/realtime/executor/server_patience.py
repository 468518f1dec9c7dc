"""Telling a control server that gets no processor time from one that hangs, so that only the latter is given up soon.

The loop itself asks nobody: it compares the age of the last heartbeats with bounds, and takes the verdict from here.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from robot_rt_control.memory.atomics import load_acquire
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import channel_dtype, offset_of

_log = logging.getLogger(__name__)

_NATIVE, _PYTHON = (offset_of(channel_dtype, f"server_{name}_beat") for name in ("native", "python"))
_NATIVE_DOUBT_S, _PYTHON_DOUBT_S = 0.05, 0.3
"""A heartbeat that is silent for longer is looked into [s], or for a quarter of its bound if that is less."""
_WAITING_SHARE = 0.5
"""Python is starved if its threads have waited for a processor for this share of the silence, all together."""
_WARN_S = 10.0
_WAITS = frozenset("RD")
"""States of a silent thread that would go on if the machine let it: runnable, or waiting for a page or a disk."""


class ThreadSeen(NamedTuple):
    """A thread of a process, as the system describes it."""

    state: str
    """One letter, as in ps: R runnable, S sleeping, D waiting for a disk, T stopped."""
    waited_ns: int
    """It has waited for a processor for this long in all; 0: the system does not count it."""


def read_thread(pid: int, thread: int) -> ThreadSeen | None:
    """Look at a thread; None: it is not there, or hidden from this user."""
    folder = Path(f"/proc/{pid}/task/{thread}")
    try:
        state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return None
    try:
        waited = int((folder / "schedstat").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        waited = 0
    return ThreadSeen(state, waited)


def read_threads(pid: int) -> dict[int, ThreadSeen]:
    """All threads of a process; empty: it is not there."""
    try:
        names = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return {}
    return {int(name): seen for name in names if (seen := read_thread(pid, int(name))) is not None}


class ServerPatience:
    """Looks at the attached server's threads as long as a heartbeat is silent. One thread looks; any may read.

    Args:
        channel: of the executor.
        native_s, python_s: silence after which a server that is not starved is lost.
        starved_s: silence after which a starved one is lost; 0: never.
        thread, threads: read a thread of a process, and all of them.
        clock: [s] monotonic, that of the loop.
    """

    def __init__(
        self,
        channel: Channel,
        *,
        native_s: float,
        python_s: float,
        starved_s: float,
        thread: Callable[[int, int], ThreadSeen | None] = read_thread,
        threads: Callable[[int], Mapping[int, ThreadSeen]] = read_threads,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._channel, self._clock = channel, clock
        self._native_s, self._python_s, self._starved_s = native_s, python_s, starved_s
        self._doubt_s = min(_NATIVE_DOUBT_S, native_s / 4), min(_PYTHON_DOUBT_S, python_s / 4)
        self._thread, self._threads = thread, threads
        self._epoch = 0
        self._native, self._python = (0, 0.0), (0, 0.0)
        """Each heartbeat's count, and when it was first seen [s]."""
        self._before: tuple[float, Mapping[int, ThreadSeen]] | None = None
        self._warned = float("-inf")
        self.looked_s = 0.0
        """When it looked last."""
        self.native_starved = self.python_starved = False
        """Whether this heartbeat is silent because the machine gives the server no processor time."""
        self.tolerated = 0
        """Silences, beyond what a server that hangs is allowed, of starved servers."""
        self.longest_s = 0.0
        """The longest one."""
        self.warning = ""
        """What is true now; empty: the server is not starved."""

    def look(self) -> None:
        """Look; call it about every 20 ms."""
        now, memory = self._clock(), self._channel.memory
        epoch, pid = int(memory.server_epoch), int(memory.server_pid)
        native, python = (load_acquire(self._channel.address + offset) for offset in (_NATIVE, _PYTHON))
        if epoch != self._epoch:
            self._epoch, self._native, self._python = epoch, (native, now), (python, now)
        if native != self._native[0]:
            self._native = native, now
        if python != self._python[0]:
            self._python, self._before = (python, now), None
        silent = now - self._native[1], now - self._python[1]
        if pid in (0, os.getpid()) or not self._channel.server_attached:
            silent = 0.0, 0.0
        seen = self._thread(pid, int(memory.server_native_thread)) if silent[0] >= self._doubt_s[0] else None
        self.native_starved = seen is not None and seen.state in _WAITS
        self.python_starved = silent[1] >= self._doubt_s[1] and (self.native_starved or self._python_waits(pid, now))
        self.looked_s = now
        self._tell(silent, now)

    def _python_waits(self, pid: int, now: float) -> bool:
        """Whether the threads of which one may hold the interpreter's lock have waited for a processor meanwhile."""
        threads = {t: s for t, s in self._threads(pid).items() if t != int(self._channel.memory.server_native_thread)}
        if self._before is None:
            self._before = now, threads
        begin, before = self._before
        waited = sum(seen.waited_ns - before[t].waited_ns for t, seen in threads.items() if t in before) * 1e-9
        return now > begin and waited >= _WAITING_SHARE * (now - begin)

    def _tell(self, silent: tuple[float, float], now: float) -> None:
        longest = max(
            silent[0] if self.native_starved and silent[0] > self._native_s else 0.0,
            silent[1] if self.python_starved and silent[1] > self._python_s else 0.0,
        )
        if not longest:
            self.warning = ""
            return
        self.tolerated += not self.warning
        self.longest_s = max(self.longest_s, longest)
        end = f"its sessions end after {self._starved_s:g} s" if self._starved_s else "simulated time waits for it"
        self.warning = f"the control server gets no processor time: no heartbeat for {longest:.2f} s; {end}"
        if now - self._warned >= _WARN_S:
            self._warned = now
            _log.warning("%s. Free the machine, or give the server a processor of its own", self.warning)
