"""How urgent a driver process is to the operating system."""

from __future__ import annotations

import os

DRIVER_NICENESS = -10


def raise_urgency(niceness: int = DRIVER_NICENESS) -> str:
    """Let this thread, and those that it makes from now on, go before ordinary ones. Call it before any are made.

    A driver that waits for its turn lets its device's data grow old, which faults the parts behind it. Unlike a
    real-time priority, niceness cannot starve other processes when the simulation is slower than the clock.

    Returns:
        A warning with what to do where it is not permitted, else an empty text.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
    except OSError as error:
        return (
            f"The driver runs with ordinary priority ({error.strerror}): on a busy machine its data may grow too old. "
            f"Allow it with 'ulimit -e {20 - niceness}' (in /etc/security/limits.conf: '<user> - nice {niceness}')."
        )
    return ""
