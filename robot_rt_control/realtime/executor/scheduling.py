"""What the operating system gives the real-time thread: SCHED_FIFO, a processor of its own, memory that stays."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass

_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4


@dataclass(frozen=True, kw_only=True)
class Scheduling:
    """What was asked for and granted. `warnings` say what is missing, and what to do about it."""

    description: str
    warnings: tuple[str, ...]


def _set_priority(priority: int, warnings: list[str]) -> str:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as error:
        warnings.append(
            f"The real-time thread runs without SCHED_FIFO ({error.strerror}): expect wake-ups that are late by "
            "milliseconds. Allow it with 'ulimit -r 98' (in /etc/security/limits.conf: '<user> - rtprio 98'), "
            "or set the parameter realtime_priority to 0 to silence this."
        )
        return "SCHED_OTHER"
    return f"SCHED_FIFO {priority}"


def _set_affinity(cpu: int, warnings: list[str]) -> str:
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError as error:
        warnings.append(
            f"The real-time thread could not be bound to cpu {cpu} ({error.strerror}): choose one of "
            f"{sorted(os.sched_getaffinity(0))}, or -1 for any."
        )
        return "any cpu"
    return f"cpu {cpu}"


def lock_memory(warnings: list[str]) -> str:
    """Keep all pages of this process in memory once they are touched."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT) != 0:
        reason = os.strerror(ctypes.get_errno())
        warnings.append(
            f"Memory is not locked ({reason}): a page that was swapped out makes a tick late. Allow it with "
            "'ulimit -l unlimited' (in /etc/security/limits.conf: '<user> - memlock unlimited')."
        )
        return "memory not locked"
    return "memory locked"


def make_realtime(*, priority: int, cpu: int, lock: bool) -> Scheduling:
    """Make the calling thread a real-time thread, as far as that is permitted.

    Args:
        priority: of SCHED_FIFO, 1 to 99; 0: do not ask for it.
        cpu: the processor to run on; -1: any.
        lock: whether to lock the process's memory.
    """
    warnings: list[str] = []
    words = [_set_priority(priority, warnings) if priority > 0 else "SCHED_OTHER"]
    words.append(_set_affinity(cpu, warnings) if cpu >= 0 else "any cpu")
    if lock:
        words.append(lock_memory(warnings))
    return Scheduling(description=", ".join(words), warnings=tuple(warnings))
