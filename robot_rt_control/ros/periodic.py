"""Calls at a rate, outside of rclpy's executor."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable


class Periodic:
    """Calls a function at a rate, in a thread of its own, until it is stopped.

    For each callback, rclpy's executor lists everything that it waits for, and passes the callback to another thread.
    At 100 Hz this takes more processor time than a simulation with its control loop. This thread only sleeps.

    Args:
        function: called without arguments, in this thread.
        period_s: between two calls; a change takes effect at once.
        on_error: called with the traceback of each exception of `function`; the calls continue.
    """

    def __init__(self, function: Callable[[], object], period_s: float, on_error: Callable[[str], object]) -> None:
        self._function, self._period_s, self._on_error = function, period_s, on_error
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="periodic", daemon=True)
        self._thread.start()

    @property
    def period_s(self) -> float:
        """[s] between two calls."""
        return self._period_s

    @period_s.setter
    def period_s(self, period_s: float) -> None:
        with self._changed:
            self._period_s = period_s
            self._changed.notify()

    def stop(self) -> None:
        """Stop, and wait for a call that is running."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        last = time.monotonic()
        while True:
            with self._changed:
                while not self._stopped and (pause := last + self._period_s - time.monotonic()) > 0.0:
                    self._changed.wait(pause)
                if self._stopped:
                    return
                # Calls that a busy machine has missed are left out.
                last = max(last + self._period_s, time.monotonic() - self._period_s)
            try:
                self._function()
            except Exception:  # it must not end the thread, nor the node
                self._on_error(traceback.format_exc())
