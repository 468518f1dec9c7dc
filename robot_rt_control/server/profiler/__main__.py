"""`python -m robot_rt_control.server.profiler`: one profiler's process. Started by `Profilers`, not by hand.

It maps the channel by a descriptor that it inherits, gets its motion, says that it is ready, and fills the queue from
the next message on until another one comes, or the server hangs up. It never waits for the loop, and the loop never
for it.
"""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress

import numpy as np

from robot_rt_control.memory.layout import channel_dtype
from robot_rt_control.processes.frames import connect
from robot_rt_control.server.profiler.queue_writer import QueueWriter

_PAUSE_S = 0.02


def main(descriptor: int) -> None:
    """Fill the queue until the server hangs up."""
    server = connect(with_thread=False)
    motion = server.receive()
    memory = mmap.mmap(descriptor, channel_dtype.itemsize)
    writer = QueueWriter(np.frombuffer(memory, channel_dtype, 1)[0], motion)
    server.send({"ready": True})
    server.receive()
    while not server.speaks(0.0 if writer.fill() else _PAUSE_S):
        pass


if __name__ == "__main__":
    with suppress(ConnectionError):  # the server has gone
        main(int(sys.argv[3]))
