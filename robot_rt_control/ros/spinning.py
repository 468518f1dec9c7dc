"""Spinning nodes while other threads add and remove publishers and services."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, ShutdownException


def spin(
    executor: MultiThreadedExecutor,
    on_error: Callable[[str], object],
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Spin until the executor or its context is shut down.

    Args:
        executor: holds the nodes.
        on_error: called with the traceback of each exception that a callback raises; the others go on.
        stopping: whether the executor is being shut down: then it has lost what it waits with, and that is no error.
    """
    while not stopping():
        try:
            executor.spin()
            return
        except (ExternalShutdownException, ShutdownException):
            return
        except InvalidHandle:
            # rclpy met something that another thread has just removed. It was going to wait for it; begin anew.
            continue
        except Exception:  # of a callback: it must not end the node
            if not stopping():
                on_error(traceback.format_exc())


class Spinner:
    """Spins nodes in a thread of its own, because only a main thread that waits in Python is woken by a signal.

    Args:
        executor: holds the nodes.
        on_error: called with the traceback of each exception that a callback raises; the others go on.
    """

    def __init__(self, executor: MultiThreadedExecutor, on_error: Callable[[str], object]) -> None:
        self._executor, self._on_error = executor, on_error
        self._stopping = threading.Event()
        arguments = (executor, on_error, self._stopping.is_set)
        self._thread = threading.Thread(target=spin, args=arguments, name="spin", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, timeout_s: float) -> bool:
        """Begin no further callback, and wait for those that run.

        Returns:
            Whether all of them have ended in time. Otherwise nothing that they use may be destroyed.
        """
        self._stopping.set()
        deadline = time.monotonic() + timeout_s
        # In a thread: rclpy waits for running callbacks without an end, whatever time-out it is given.
        closer = threading.Thread(target=self._executor.shutdown, name="stop spinning", daemon=True)
        closer.start()
        threads = [closer] if self._thread.ident is None else [closer, self._thread]
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            return False
        self._take_last_errors()
        return True

    def _take_last_errors(self) -> None:
        """Report what the last callbacks raised, which rclpy would print as "never retrieved".

        It looks at a callback's end only when it begins another one. What was removed at the end is no error.
        """
        for future in self._executor._futures:
            error = future.exception() if future.done() else None
            if error is not None and not isinstance(error, InvalidHandle):
                self._on_error("".join(traceback.format_exception(error)))
