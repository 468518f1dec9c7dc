"""`python -m robot_rt_control.server.profiler`: one profiler's process. Started by `Profilers`, not by hand.

It maps the channel by a descriptor that it inherits, reads its motion from its input, says that it is ready, and fills
the queue from the next byte of its input on until that ends. It never waits for the loop, and the loop never for it.
"""

from __future__ import annotations

import mmap
import pickle
import select
import sys

import numpy as np

from robot_rt_control.memory.layout import channel_dtype
from robot_rt_control.server.profiler.queue_writer import QueueWriter

_PAUSE_S = 0.02


def main(descriptor: int) -> None:
    """Fill the queue until the input ends."""
    motion = pickle.load(sys.stdin.buffer)
    memory = mmap.mmap(descriptor, channel_dtype.itemsize)
    writer = QueueWriter(np.frombuffer(memory, channel_dtype, 1)[0], motion)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if not sys.stdin.buffer.read(1):
        return
    while not select.select([sys.stdin], [], [], 0.0 if writer.fill() else _PAUSE_S)[0]:
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
