"""Processes that code of users leaves behind: found and ended, whatever group and session they have made themselves."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE_S = 5.0
_LOOK_S = 0.01


def adopt() -> None:
    """From now on, a process below this one whose parent ends becomes a child of this one, not of init."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> set[int]:
    """Process ids of this process's children, also of those that have ended and were not waited for."""
    own, found = os.getpid(), set()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                # The name of a program may contain spaces and brackets.
                if int(file.read().rpartition(b")")[2].split()[1]) == own:
                    found.add(int(name))
    return found


def end_children(keep: Collection[int] = ()) -> bool:
    """Kill this process's children, and wait for those that have ended. Returns whether none is left.

    Their own children come to this process as they end: call it again when a child has ended (SIGCHLD).

    Args:
        keep: these are left alone.
    """
    found = children().difference(keep)
    for pid in found:
        with suppress(ProcessLookupError, PermissionError):  # another user's, by a program with the right to become it
            os.kill(pid, signal.SIGKILL)
    for pid in found:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return not found


def end_all_children(keep: Collection[int] = ()) -> None:
    """End them, and all that comes to this process meanwhile; for some seconds at most."""
    deadline = time.monotonic() + _PATIENCE_S
    while not end_children(keep) and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
