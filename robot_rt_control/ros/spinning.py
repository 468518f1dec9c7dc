"""Spinning nodes while other threads add and remove publishers and services."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable

from rclpy._rclpy_pybind11 import InvalidHandle, RCLError
from rclpy.executors import Executor, ExternalShutdownException, MultiThreadedExecutor, ShutdownException

from robot_rt_control.ros.listening_node import ListeningNode


def is_of_removed(error: Exception) -> bool:
    """Whether another thread has removed something that rclpy was about to wait for: it shall start again.

    Of an action's server or client rclpy says so by another error than of the rest.
    """
    return isinstance(error, InvalidHandle) or (isinstance(error, RCLError) and "to wait set" in str(error))


def spin(
    executor: Executor,
    on_error: Callable[[str], object],
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Spin until the executor or its context is shut down.

    Args:
        executor: holds the nodes.
        on_error: called with the traceback of each exception of a callback; the others continue.
        stopping: whether the executor is being shut down; its exceptions are then no errors.
    """
    while not stopping():
        try:
            executor.spin()
            return
        except (ExternalShutdownException, ShutdownException):
            return
        except Exception as error:  # of a callback: it must not end the node
            if not is_of_removed(error) and not stopping():
                on_error(traceback.format_exc())


class Spinner:
    """Spins nodes in a thread of its own, because only a main thread that waits in Python is woken by a signal.

    Args:
        executor: holds the nodes.
        on_error: called with the traceback of each exception of a callback; the others continue.
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
        """Start no further callback, and wait for the running ones.

        Returns:
            Whether all of them have ended in time. Otherwise nothing that they use may be destroyed.
        """
        self._stopping.set()
        deadline = time.monotonic() + timeout_s
        nodes = [node for node in self._executor.get_nodes() if isinstance(node, ListeningNode)]
        # In a thread: rclpy waits for running callbacks without limit, despite its time-out.
        closer = threading.Thread(target=self._shut_down, name="stop spinning", daemon=True)
        closer.start()
        threads = [closer] if self._thread.ident is None else [closer, self._thread]
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        served = [node.stop_requests(max(0.0, deadline - time.monotonic())) for node in nodes]
        if any(thread.is_alive() for thread in threads) or not all(served):
            return False
        self._take_last_errors()
        return True

    def _shut_down(self) -> None:
        self._executor.shutdown()
        self._executor._executor.shutdown()  # its threads: rclpy of Jazzy leaves them running

    def _take_last_errors(self) -> None:
        """Report exceptions of the last callbacks, which rclpy would print as "never retrieved".

        rclpy looks at the end of a callback only when it starts another one. What was removed at the end is no error.
        """
        for future in self._executor._futures:
            error = future.exception() if future.done() else None
            if error is not None and not isinstance(error, InvalidHandle):
                self._on_error("".join(traceback.format_exception(error)))
