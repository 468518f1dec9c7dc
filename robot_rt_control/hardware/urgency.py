"""The scheduling priority of a driver process."""

from __future__ import annotations

import os

DRIVER_NICENESS = -10


def raise_urgency(niceness: int = DRIVER_NICENESS) -> str:
    """Give this thread, and those that it creates later, priority over ordinary ones.

    If a driver waits for the processor, its device's data becomes too old, and the device's parts fault. Unlike a
    real-time priority, niceness cannot starve other processes when the simulation is slower than the clock.

    Returns:
        A warning with a remedy if it is not permitted, else an empty text.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
    except OSError as error:
        return (
            f"The driver runs with ordinary priority ({error.strerror}): on a busy machine its data may grow too old. "
            f"Allow it with 'ulimit -e {20 - niceness}' (in /etc/security/limits.conf: '<user> - nice {niceness}')."
        )
    return ""
