"""Events that do not arrive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from robot_rt_control.testing.lockstep_client import LockstepClient


@contextmanager
def losing(client: LockstepClient) -> Iterator[None]:
    """Nothing of what the server tells arrives meanwhile; the next event, afterwards, shows the gap."""
    backend: Any = client.backend
    backend._source.receive = lambda event: None
    try:
        yield
    finally:
        del backend._source.receive
    with client.watch():
        client.step(2)
