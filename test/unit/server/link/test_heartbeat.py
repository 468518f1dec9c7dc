"""Two heartbeats: the native one needs no GIL."""

import ctypes
import time

from robot_rt_control.memory.channel import Channel
from robot_rt_control.server.link import heartbeat
from robot_rt_control.server.link.heartbeat import Heartbeats


def test_both_beat_until_they_are_stopped() -> None:
    channel = Channel.private()
    heartbeat.prepare()
    beats = Heartbeats(channel)
    beats.start()
    deadline = time.monotonic() + 60.0
    memory = channel.memory
    while (memory.server_native_beat < 10 or memory.server_python_beat < 3) and time.monotonic() < deadline:
        time.sleep(0.01)
    beats.stop()
    last = int(memory.server_native_beat), int(memory.server_python_beat)
    assert last[0] >= 10
    assert last[1] >= 3
    time.sleep(0.15)
    assert last == (memory.server_native_beat, memory.server_python_beat)


def test_the_native_one_goes_on_while_python_hangs() -> None:
    channel = Channel.private()
    heartbeat.prepare()
    beats = Heartbeats(channel)
    beats.start()
    try:
        while channel.memory.server_python_beat < 1:
            time.sleep(0.01)
        sleep = ctypes.PyDLL(None).usleep  # unlike CDLL, it keeps the GIL
        before = int(channel.memory.server_native_beat), int(channel.memory.server_python_beat)
        sleep(400_000)
        after = int(channel.memory.server_native_beat), int(channel.memory.server_python_beat)
    finally:
        beats.stop()
    assert after[1] - before[1] <= 1
    assert after[0] - before[0] >= 10


def test_stopping_what_never_started_is_harmless() -> None:
    Heartbeats(Channel.private()).stop()
