"""Processes that end with their parent, however that ends."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def end_with_parent(number: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn` of subprocess.Popen: the kernel sends the new process a signal when its parent ends.

    The parent is the thread that starts it; it should be the main thread, or one that lives as long.

    Args:
        number: the signal.
    """
    parent = os.getpid()
    return lambda: end_with(parent, number)


def end_with(parent: int, number: signal.Signals) -> None:
    """For a new process: as `end_with_parent`, called by itself, where its parent has other threads at the fork.

    Args:
        parent: process id.
        number: the signal.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # it has ended already
        os._exit(1)
