"""Segments: one living owner, stale ones replaced, one user beside the owner."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import uuid

import pytest

from robot_rt_control.memory.shared_memory import Segment, segment_path
from robot_rt_control.vocabulary.errors import ChannelError

HOLD = textwrap.dedent(
    """
    import sys, time
    from robot_rt_control.memory.shared_memory import Segment
    segment = Segment.create(sys.argv[1], 64)
    segment.buffer[:5] = b"owned"
    print("ready", flush=True)
    time.sleep(60)
    """
)


@pytest.fixture
def name():
    chosen = f"rrc_test_{uuid.uuid4().hex[:12]}"
    yield chosen
    segment_path(chosen).unlink(missing_ok=True)


@pytest.fixture
def owner(name):
    """Another process that owns the segment until it is killed."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, name], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_segment_is_private_to_its_user_and_vanishes_with_close(name):
    segment = Segment.create(name, 64)
    assert os.stat(segment_path(name)).st_mode & 0o777 == 0o600
    segment.close()
    assert not segment_path(name).exists()
    segment.close()  # a second time does nothing


def test_a_second_owner_is_refused(name, owner):
    with pytest.raises(ChannelError, match=f"segment '{name}' is owned by a running process; expected one owner"):
        Segment.create(name, 64)
    assert Segment.attach(name, 64).buffer[:5] == b"owned"


def test_what_a_killed_owner_left_behind_is_replaced(name, owner):
    attached = Segment.attach(name, 64)
    assert attached.owner_alive()
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    assert not attached.owner_alive()
    assert segment_path(name).exists()
    with pytest.raises(ChannelError, match="was left behind by a dead process"):
        Segment.attach(name, 64)
    successor = Segment.create(name, 128)
    assert bytes(successor.buffer) == bytes(128)
    assert not attached.owner_alive(), "the successor is another memory"
    successor.close()


def test_of_many_recoverers_one_wins(name, owner):
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    made, refused = [], []

    def recover():
        try:
            made.append(Segment.create(name, 64))
        except ChannelError as error:
            refused.append(error)

    threads = [threading.Thread(target=recover) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), len(refused)) == (1, 7)
    Segment.attach(name, 64).buffer[:3] = b"new"
    assert made[0].buffer[:3] == b"new", "the name leads to the winner's memory"
    made[0].close()


def test_another_size_is_refused_unless_it_has_a_tail(name):
    segment = Segment.create(name, 100)
    with pytest.raises(ChannelError, match="has another layout; expected 64 bytes; got 100"):
        Segment.attach(name, 64)
    with pytest.raises(ChannelError, match="has another layout; expected 128 bytes; got 100"):
        Segment.attach(name, 128, tail=True)
    assert len(Segment.attach(name, 64, tail=True).buffer) == 100
    segment.close()


def test_what_is_spare_has_memory_once_it_is_committed(name):
    page = os.sysconf("SC_PAGE_SIZE")
    segment = Segment.create(name, 100 * page, spare=90 * page)
    attached = Segment.attach(name, 100 * page, spare=90 * page)
    assert _memory_of(name) == 10 * page
    segment.commit(20 * page + 8, 22 * page)
    assert _memory_of(name) == 12 * page
    segment.commit(20 * page, 23 * page)
    assert _memory_of(name) == 13 * page, "what had memory keeps it"
    segment.buffer[22 * page] = 7
    assert attached.buffer[22 * page] == 7
    segment.close()


def test_memory_that_is_not_to_be_had_is_refused(name):
    whole = 1 << 42
    segment = Segment.create(name, whole, spare=whole - 4096)
    with pytest.raises(
        ChannelError, match=f"shared-memory segment '{name}': {whole - 4096} bytes more; got .*No space"
    ):
        segment.commit(4096, whole)
    segment.close()


def _memory_of(name):
    return os.stat(segment_path(name)).st_blocks * 512


def test_there_is_one_user(name):
    segment = Segment.create(name, 64)
    first, second = Segment.attach(name, 64), Segment.attach(name, 64)
    assert first.claim_user()
    assert not second.claim_user()
    first.close()
    assert second.claim_user()
    assert second.owner_alive(), "a claim does not disturb the owner's lock"
    second.close()
    segment.close()


@pytest.mark.parametrize("wrong", ["", "a/b", "../x", ".hidden"])
def test_a_wrong_name_is_refused(wrong):
    with pytest.raises(ChannelError, match="expected a plain file name"):
        Segment.create(wrong, 64)


def test_a_missing_segment_says_what_to_do(name):
    with pytest.raises(ChannelError, match="cannot be opened.*Start its owner first"):
        Segment.attach(name, 64)
