"""Spinning nodes while other threads add and remove publishers and services."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor, ShutdownException


def spin(executor: MultiThreadedExecutor, on_error: Callable[[str], object]) -> None:
    """Spin until the executor or its context is shut down.

    Args:
        executor: holds the nodes.
        on_error: called with the traceback of each exception that a callback raises; the others go on.
    """
    while True:
        try:
            executor.spin()
            return
        except (ExternalShutdownException, ShutdownException):
            return
        except InvalidHandle:
            # rclpy met something that another thread has just removed. It was going to wait for it; begin anew.
            continue
        except Exception:
            on_error(traceback.format_exc())
