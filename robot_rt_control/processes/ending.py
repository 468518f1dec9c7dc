"""The end of a process: brought about, and in words."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from contextlib import suppress

END_S = 5.0
"""[s] A process that is to end, and has not after this time, is killed."""


def kill(process: subprocess.Popen[bytes], *, group: bool = False) -> None:
    """Kill it, or all of its process group. Does not wait."""
    if process.returncode is None:  # it is not waited for yet, so no other process, and no other group, has its number
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)


def wait_or_kill(process: subprocess.Popen[bytes], patience: float = END_S, *, group: bool = False) -> None:
    """Wait for a process that was asked to end: it ends what users' code has started. Then kill it.

    Args:
        patience: [s] until it is killed.
        group: all of its process group is killed then, also if it has ended by itself.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):  # another thread has waited for it
            watched = os.pidfd_open(process.pid)
            look = select.poll()
            look.register(watched, select.POLLIN)
            look.poll(1e3 * patience)
            os.close(watched)
        kill(process, group=group)
        process.wait()


def how_ended(code: int) -> str:
    """By its exit code as subprocess tells it: "was ended by SIGKILL", "ended with exit code 1"."""
    return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal_name(-code)}"


def signal_name(number: int) -> str:
    """SIGKILL; a real-time signal has no name: "signal 40"."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
