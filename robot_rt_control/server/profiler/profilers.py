"""The profilers of all motion groups: one process each, so that one that dies or hangs concerns its group alone."""

from __future__ import annotations

import logging
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

from robot_rt_control.memory.channel import Channel
from robot_rt_control.server.preparer.process import environment
from robot_rt_control.server.profiler.queue_writer import Motion, QueueWriter, set_up

_log = logging.getLogger(__name__)
_STARTING_S = 60.0


class Profilers:
    """Starts and ends profilers. All methods may be called from any thread.

    A channel inside this process, of a lockstep cell, cannot be mapped by another one: there `feed` fills the queues.

    Args:
        channel: to the executor.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._ready: dict[int, threading.Event] = {}
        self._writers: dict[int, QueueWriter] = {}
        self.paused: set[int] = set()
        """Queues that `feed` leaves out, for tests."""
        if channel.descriptor is None:
            channel.feed = self.feed

    @property
    def pids(self) -> dict[int, int]:
        """Queue → process id of its profiler."""
        with self._lock:
            return {queue: process.pid for queue, process in self._processes.items()}

    def start(self, motion: Motion, label: str) -> None:
        """Set up a queue that nobody uses, fill it, and keep it filled from now on.

        Args:
            label: the action, for messages.
        """
        memory, number = self._channel.memory, motion.queue.number
        set_up(memory, number)
        writer = QueueWriter(memory, motion)
        writer.fill_up()
        descriptor = self._channel.descriptor
        if descriptor is None:
            with self._lock:
                self._writers[number] = writer
            return
        process = subprocess.Popen(
            [sys.executable, "-m", "robot_rt_control.server.profiler", str(descriptor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[descriptor],
            env=environment(),
        )
        with self._lock:
            self._processes[number] = process
            ready = self._ready[number] = threading.Event()
        threading.Thread(
            target=self._watch, args=(motion, process, ready, label), name=f"profiler {number}", daemon=True
        ).start()

    def wait_ready(self) -> None:
        """Wait until all processes that were started look after their queues, or have ended; at most a minute."""
        with self._lock:
            starting = list(self._ready.values())
        deadline = time.monotonic() + _STARTING_S
        for ready in starting:
            ready.wait(max(deadline - time.monotonic(), 0.0))

    def _watch(
        self, motion: Motion, process: subprocess.Popen[bytes], ready: threading.Event, label: str
    ) -> None:
        """Hand the motion over; if the process ends by itself, its group stops."""
        assert process.stdin is not None and process.stdout is not None
        number = motion.queue.number
        with suppress(OSError):  # it has ended already
            pickle.dump(motion, process.stdin)
            process.stdin.flush()
        process.stdout.readline()
        ready.set()
        code = process.wait()
        process.stdout.close()
        with suppress(OSError):  # what it has not read
            process.stdin.close()
        with self._lock:
            if self._ready.get(number) is ready:
                del self._ready[number]
            if self._processes.get(number) is not process:
                return
            del self._processes[number]
            self._channel.memory.motion_queues[number]["failed"] = 1
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        _log.error("the profiler of %s ended %s: the group stops on its path", label, how)

    def stop(self, queue: int) -> None:
        """Nobody needs this queue any more. Does not wait."""
        with self._lock:
            self._writers.pop(queue, None)
            process = self._processes.pop(queue, None)
        if process is not None:
            process.kill()  # it keeps nothing; a stopped one would heed nothing else

    def feed(self) -> None:
        """Fill the queues of a channel inside this process."""
        with self._lock:
            for queue, writer in self._writers.items():
                if queue not in self.paused:
                    writer.fill_up()

    def close(self) -> None:
        """End all profilers, and wait for their processes: they map the channel."""
        with self._lock:
            processes, self._processes = list(self._processes.values()), {}
            self._writers.clear()
        self._channel.feed = None
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
