"""ROS domains for tests and benchmarks, so that those that run on one machine at the same time do not meet."""

from __future__ import annotations

import fcntl
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

_claimed: list[IO[str]] = []


@cache
def claim_domain(purpose: str) -> int:
    """A ROS domain that no other test or benchmark on this machine uses, held until this process ends.

    Args:
        purpose: in this process, the same purpose has the same domain.

    Raises:
        RuntimeError: all are in use.
    """
    for domain in range(1, 100):  # above 101, DDS's ports would meet those that the system hands out
        file = open(Path(tempfile.gettempdir()) / f"robot_rt_control_test_domain_{domain}.lock", "a")  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
        else:
            _claimed.append(file)
            return domain
    raise RuntimeError("all ROS domains from 1 to 99 are in use by other tests on this machine")
