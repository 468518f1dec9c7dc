"""Work that may take long, in a thread of its own: a node's own threads are few, and renew leases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future


async def aside(node: Node, name: str, work: Callable[[], Any]) -> Any:
    """The result of `work`, which must not raise. For callbacks of services and actions; holds none of their threads.

    Args:
        name: of the thread.
    """
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        finally:
            executor = node.executor
            if executor is not None:
                executor.wake()  # it looks at `done` when it is awake

    threading.Thread(target=run, name=name, daemon=True).start()
    return await done
