"""The server's death is seen at once, and said once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.tick.server_watch import ServerWatch


@pytest.fixture
def process() -> Iterator[subprocess.Popen]:
    made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield made
    made.kill()
    made.wait()


def attach(channel: Channel, pid: int) -> None:
    """As if that process had attached."""
    channel.memory.server_pid = pid
    channel.memory.server_epoch += 1


def test_without_a_server_there_is_nothing_to_see() -> None:
    watch = ServerWatch(Channel.private())
    begin = time.monotonic()
    assert not watch.died(0.03)
    assert time.monotonic() - begin >= 0.03, "it waits instead of spinning"


def test_a_death_is_seen_at_once_and_said_once(process: subprocess.Popen) -> None:
    channel = Channel.private()
    watch = ServerWatch(channel)
    attach(channel, process.pid)
    assert not watch.died(0.01)
    process.kill()
    begin = time.monotonic()
    assert watch.died(120.0)
    assert time.monotonic() - begin < 60.0 and watch.epoch == 1
    assert not watch.died(0.01)


def test_a_server_that_is_dead_already_is_seen(process: subprocess.Popen) -> None:
    channel = Channel.private()
    watch = ServerWatch(channel)
    process.kill()
    process.wait()
    attach(channel, process.pid)
    assert watch.died(0.0)
    assert not watch.died(0.0)


def test_a_server_in_this_process_is_not_watched() -> None:
    channel = Channel.private()
    watch = ServerWatch(channel)
    channel.claim_server()
    assert channel.memory.server_pid == os.getpid() and not watch.died(0.01)


def test_the_next_server_is_watched_instead(process: subprocess.Popen) -> None:
    channel = Channel.private()
    watch = ServerWatch(channel)
    attach(channel, process.pid)
    assert not watch.died(0.0)
    attach(channel, os.getpid())
    process.kill()
    process.wait()
    assert not watch.died(0.01), "the one before it does not matter any more"
    assert watch.epoch == 2
