"""The profilers of all motion groups: one process each, so that one that dies or hangs concerns its group alone."""

from __future__ import annotations

import logging
import threading

from robot_rt_control.memory.channel import Channel
from robot_rt_control.processes.python_process import ProcessEnded, PythonProcess
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
        self._processes: dict[int, PythonProcess] = {}
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

        Raises:
            ChannelError: there is not enough shared memory; nothing has changed.
        """
        memory, number = self._channel.memory, motion.queue.number
        # Before anything is written: in a full /dev/shm a write to memory that there is not ends the process (SIGBUS).
        self._channel.commit_set_points(motion.queue.offset, motion.queue.size)
        set_up(memory, number)
        writer = QueueWriter(memory, motion)
        writer.fill_up()
        descriptor = self._channel.descriptor
        if descriptor is None:
            with self._lock:
                self._writers[number] = writer
            return
        process = PythonProcess("robot_rt_control.server.profiler", descriptor, descriptors=[descriptor])
        with self._lock:
            self._processes[number] = process
        threading.Thread(
            target=self._watch, args=(motion, writer, process, label), name=f"profiler {number}", daemon=True
        ).start()

    def _watch(self, motion: Motion, writer: QueueWriter, process: PythonProcess, label: str) -> None:
        """Fill a queue until its process says that it can, and have it begin; if it ends by itself, its group stops."""
        number = motion.queue.number
        process.send(motion)
        try:
            while process.receive(_PAUSE_S) is None:
                with self._lock:
                    if self._processes.get(number) is process:  # else the queue may be another group's
                        writer.fill()
            process.send("begin")
            while True:
                process.receive(None)
        except ProcessEnded as ended:
            how = str(ended)
        process.close(0.0)
        with self._lock:
            if self._processes.get(number) is not process:
                return
            del self._processes[number]
            self._channel.memory.motion_queues[number]["failed"] = 1
        _log.error("the profiler of %s %s: the group stops on its path", label, how)

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
        """End all profilers, and wait for their processes: they map the channel. Their groups stop on their paths."""
        with self._lock:
            for queue in (*self._processes, *self._writers):
                self._channel.memory.motion_queues[queue]["failed"] = 1  # simulated time would wait for set points
            processes, self._processes = list(self._processes.values()), {}
            self._writers.clear()
        self._channel.feed = None
        for process in processes:
            process.kill()
        for process in processes:
            process.close(0.0)
