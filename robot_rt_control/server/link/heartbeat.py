"""The control server's two heartbeats: one from Python, one from a thread that never needs the GIL.

The first stops when Python hangs, the second only when the process does; the executor watches both.
"""

from __future__ import annotations

import threading

import numpy as np

from robot_rt_control.memory.atomics import load_acquire, store_release
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.clock import now_ns, sleep_until
from robot_rt_control.memory.layout import channel_dtype, offset_of
from robot_rt_control.native.realtime_code import blocking_entry

NATIVE_PERIOD_NS = 10_000_000
PYTHON_PERIOD_S = 0.1
_NATIVE = offset_of(channel_dtype, "server_native_beat")
_PYTHON = offset_of(channel_dtype, "server_python_beat")


@blocking_entry
def beat(counter: int, stop: int, period_ns: int) -> None:
    """Count up the int64 at address `counter` until the one at `stop` is non-zero."""
    deadline = now_ns()
    while load_acquire(stop) == 0:
        store_release(counter, load_acquire(counter) + 1)
        deadline += period_ns
        sleep_until(deadline)


def prepare() -> None:
    """Compile the native heartbeat. Before attaching: from then on it may be silent for 200 ms at most."""
    words = np.ones(2, np.int64)
    beat(words.ctypes.data, words.ctypes.data + 8, NATIVE_PERIOD_NS)


class Heartbeats:
    """Both heartbeats of an attached server; they beat from `start` to `stop`."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._stop_flag = np.zeros(1, np.int64)
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._beat_native, name="native heartbeat", daemon=True),
            threading.Thread(target=self._beat_python, name="python heartbeat", daemon=True),
        ]

    def start(self) -> None:
        """Start both threads; call `prepare` first."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End both threads and wait for them: afterwards nobody touches the channel."""
        self._stopped.set()
        store_release(self._stop_flag.ctypes.data, 1)
        for thread in self._threads:
            if thread.ident is not None:  # it was started
                thread.join()

    def _beat_native(self) -> None:
        self._channel.memory.server_native_thread = threading.get_native_id()
        beat(self._channel.address + _NATIVE, self._stop_flag.ctypes.data, NATIVE_PERIOD_NS)

    def _beat_python(self) -> None:
        address = self._channel.address + _PYTHON
        while not self._stopped.is_set():
            store_release(address, load_acquire(address) + 1)
            self._stopped.wait(PYTHON_PERIOD_S)
