"""The profilers of all motion groups: one process each, so that one that dies or hangs concerns its group alone."""

from __future__ import annotations

import logging
import os
import pickle
import select
import signal
import subprocess
import threading
from contextlib import suppress

from robot_rt_control.memory.channel import Channel
from robot_rt_control.server.preparer.process import PYTHON, environment
from robot_rt_control.server.profiler.queue_writer import Motion, QueueWriter, set_up

_log = logging.getLogger(__name__)
_PAUSE_S = 0.05
"""[s] between two looks at a queue until its process fills it."""


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
        """Set up a queue that nobody uses, fill it, and keep it filled from now on: by a process, and by a thread until
        that is up.

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
            [*PYTHON, "robot_rt_control.server.profiler", str(descriptor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[descriptor],
            env=environment(),
        )
        with self._lock:
            self._processes[number] = process
        threading.Thread(
            target=self._watch, args=(motion, writer, process, label), name=f"profiler {number}", daemon=True
        ).start()

    def _watch(self, motion: Motion, writer: QueueWriter, process: subprocess.Popen[bytes], label: str) -> None:
        """Hand the motion over; if the process ends by itself, its group stops."""
        assert process.stdin is not None and process.stdout is not None
        number = motion.queue.number
        with suppress(OSError):  # it has ended already
            self._hand_over(motion, writer, process, process.stdin.fileno(), process.stdout.fileno())
        code = process.wait()
        process.stdin.close()
        process.stdout.close()
        with self._lock:
            if self._processes.get(number) is not process:
                return
            del self._processes[number]
            self._channel.memory.motion_queues[number]["failed"] = 1
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        _log.error("the profiler of %s ended %s: the group stops on its path", label, how)

    def _hand_over(
        self, motion: Motion, writer: QueueWriter, process: subprocess.Popen[bytes], to: int, answers: int
    ) -> None:
        """Give a process its motion, and fill its queue until it says that it can; it begins when it is told to."""
        left = memoryview(pickle.dumps(motion))
        os.set_blocking(to, False)
        while True:
            readable, writable, _ = select.select([answers], [to] if left else [], [], _PAUSE_S)
            if readable:
                break
            if writable:
                left = left[os.write(to, left) :]
            with self._lock:
                if self._processes.get(motion.queue.number) is process:  # else the queue may be another group's
                    writer.fill()
        os.write(to, b"\n")

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
