"""The channel: one executor, one server, whole snapshots, rings that neither lose nor repeat."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import numba
import numpy as np
import pytest

from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.clock import now_ns, sleep_until
from robot_rt_control.memory.layout import CHANNEL_LAYOUT, command_dtype
from robot_rt_control.memory.shared_memory import segment_path
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.tick.events import begin_event, publish_event
from robot_rt_control.realtime.tick.record_step import record
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import EventKind
from robot_rt_control.vocabulary.errors import ChannelError

WORKCELL = 0x1234
EXECUTOR = textwrap.dedent(
    """
    import sys, time
    from robot_rt_control.memory.channel import Channel
    channel = Channel.create(sys.argv[1], workcell=0x1234, period_ns=1_000_000)
    print("ready", flush=True)
    time.sleep(60)
    """
)
SERVER = textwrap.dedent(
    """
    import sys, time
    from robot_rt_control.memory.channel import Channel
    channel = Channel.attach(sys.argv[1], workcell=0x1234)
    print("ready", flush=True)
    time.sleep(60)
    """
)


def start(program: str, name: str) -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, "-c", program, name], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def end(process: subprocess.Popen) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.fixture
def channel(name: str) -> Iterator[Channel]:
    made = Channel.create(name, workcell=WORKCELL, period_ns=1_000_000)
    yield made
    made.close()


# --- owning and attaching ------------------------------------------------------------------------


def test_a_server_finds_what_the_executor_made(name: str, channel: Channel) -> None:
    server = Channel.attach(name, workcell=WORKCELL)
    memory = server.memory
    assert (memory.executor_pid, memory.server_pid, memory.server_epoch) == (os.getpid(), os.getpid(), 1)
    assert (memory.period_ns, memory.layout, memory.workcell) == (1_000_000, CHANNEL_LAYOUT, WORKCELL)
    assert memory.epoch > 0 and server.executor_alive() and channel.server_attached
    assert os.stat(segment_path(name)).st_mode & 0o777 == 0o600
    server.close()


def test_a_second_server_is_refused_until_the_first_is_gone(name: str, channel: Channel) -> None:
    first = start(SERVER, name)
    text = f"a control server is attached to this executor already; expected one server; got process {first.pid}. "
    with pytest.raises(ChannelError, match=text):
        Channel.attach(name, workcell=WORKCELL)
    assert channel.memory.server_pid == first.pid
    end(first)
    second = Channel.attach(name, workcell=WORKCELL)
    assert (second.memory.server_pid, second.memory.server_epoch) == (os.getpid(), 2)
    with pytest.raises(ChannelError, match="attached to this executor already"):
        Channel.attach(name, workcell=WORKCELL)
    second.release_server()
    second.close()
    third = Channel.attach(name, workcell=WORKCELL)
    assert third.memory.server_epoch == 3
    third.close()


def test_the_channel_of_a_killed_executor_is_recovered(name: str) -> None:
    executor = start(EXECUTOR, name)
    with pytest.raises(ChannelError, match="owned by a running process"):
        Channel.create(name, workcell=WORKCELL, period_ns=1_000_000)
    server = Channel.attach(name, workcell=WORKCELL)
    old_epoch = int(server.memory.epoch)
    assert server.executor_alive()
    end(executor)
    assert not server.executor_alive()
    with pytest.raises(ChannelError, match="left behind by a dead process"):
        Channel.attach(name, workcell=WORKCELL)
    again = Channel.create(name, workcell=WORKCELL, period_ns=1_000_000)
    assert again.memory.epoch > old_epoch and again.memory.server_epoch == 0
    assert not server.executor_alive(), "who holds the old channel is not fooled by the new one"
    anew = Channel.attach(name, workcell=WORKCELL)
    assert anew.executor_alive()
    for side in (server, anew, again):
        side.close()


def test_without_an_executor_a_server_waits_and_gives_up(name: str) -> None:
    begin = time.monotonic()
    with pytest.raises(ChannelError, match=f"segment '{name}' cannot be opened"):
        Channel.attach(name, workcell=WORKCELL, timeout_s=0.1)
    assert time.monotonic() - begin >= 0.1


def test_a_server_that_waits_finds_an_executor_that_comes_up(name: str) -> None:
    made: list[Channel] = []
    timer = threading.Timer(0.1, lambda: made.append(Channel.create(name, workcell=WORKCELL, period_ns=1_000_000)))
    timer.start()
    server = Channel.attach(name, workcell=WORKCELL, timeout_s=120.0)
    timer.join()
    assert server.memory.server_pid == os.getpid()
    server.close()
    made[0].close()


def test_another_workcell_or_layout_is_refused(name: str, channel: Channel) -> None:
    with pytest.raises(ChannelError, match="belongs to another workcell; expected digest 77; got 1234. Give executor"):
        Channel.attach(name, workcell=0x77)
    channel.memory.layout = 5
    with pytest.raises(ChannelError, match=f"has another layout; expected {CHANNEL_LAYOUT:x}; got 5. Run the same"):
        Channel.attach(name, workcell=WORKCELL)
    channel.memory.magic = 0
    with pytest.raises(ChannelError, match="was never initialized. Restart the executor"):
        Channel.attach(name, workcell=WORKCELL)


# --- whose server --------------------------------------------------------------------------------


def test_who_is_gone_is_said_by_epoch() -> None:
    channel = Channel.private()

    def attached() -> bool:
        return channel.server_attached

    assert not attached()
    channel.claim_server()
    assert attached()
    channel.renew_server()
    assert channel.memory.server_epoch == 2
    channel.end_server(1)
    assert attached(), "that was the one before"
    channel.end_server(2)
    assert not attached()
    channel.end_server(1)
    assert not attached(), "late news do not bring it back"
    channel.claim_server()
    assert attached()
    channel.release_server()
    assert not attached()
    channel.renew_server()
    assert channel.memory.server_epoch == 3, "who has left does not renew"


# --- rings ---------------------------------------------------------------------------------------


def test_commands_come_in_order_and_a_full_ring_refuses() -> None:
    channel = Channel.private()
    row = np.zeros(1, command_dtype)[0]
    ring = channel.memory.commands
    for start_at in (0, capacities.COMMAND_RING_ENTRIES - 3, 1 << 40):
        ring.head = ring.tail = start_at
        for i in range(capacities.COMMAND_RING_ENTRIES):
            row.transaction = i
            assert channel.push_command(row)
        assert not channel.push_command(row), "it is full"
        places = np.arange(start_at, start_at + capacities.COMMAND_RING_ENTRIES) % capacities.COMMAND_RING_ENTRIES
        assert (ring.entries[places]["transaction"] == np.arange(capacities.COMMAND_RING_ENTRIES)).all()
        ring.tail += 1
        assert channel.push_command(row)


def test_events_come_once_in_order_and_lost_ones_are_counted(world: World) -> None:
    channel, w = Channel.private(), world.memory

    def emit(n: int) -> None:
        for _ in range(n):
            w.tick += 1
            if begin_event(w, channel.memory, 4, 0) >= 0:
                publish_event(channel.memory)

    assert len(channel.take_events()) == 0
    emit(5)
    assert channel.take_events()["tick"].tolist() == [1, 2, 3, 4, 5]
    assert len(channel.take_events()) == 0
    emit(capacities.EVENT_RING_ENTRIES + 3)
    events = channel.take_events()
    assert events["tick"].tolist() == list(range(6, 6 + capacities.EVENT_RING_ENTRIES))
    assert w.events_lost == 3
    emit(1)
    assert channel.take_events()["tick"].tolist() == [w.tick]


@pytest.mark.long
@pytest.mark.parametrize("flood", [EventKind.REACTION_FIRED, EventKind.STRATEGY_CHANGED])
def test_B7_firings_leave_room_for_faults(world: World, flood: EventKind) -> None:
    channel, w = Channel.private(), world.memory

    def emit(kind: EventKind, n: int) -> None:
        for _ in range(n):
            if begin_event(w, channel.memory, int(kind), 0) >= 0:
                publish_event(channel.memory)

    emit(flood, capacities.EVENT_RING_ENTRIES)
    emit(EventKind.PART_FAULTED, capacities.EVENT_RING_ENTRIES // 8)
    kinds = channel.take_events()["kind"].tolist()
    assert len(kinds) == capacities.EVENT_RING_ENTRIES
    assert kinds.count(EventKind.PART_FAULTED) == w.events_lost == capacities.EVENT_RING_ENTRIES // 8


def test_who_waits_for_events_is_woken(world: World) -> None:
    channel, w = Channel.private(), world.memory
    assert not channel.wait_for_events(0.01)
    begin_event(w, channel.memory, 4, 0)
    publish_event(channel.memory)
    assert channel.wait_for_events(10.0), "they have come already"
    channel.take_events()

    def emit() -> None:
        begin_event(w, channel.memory, 4, 0)
        publish_event(channel.memory)
        channel.ring_events()

    timer = threading.Timer(0.05, emit)
    timer.start()
    begin = time.monotonic()
    assert channel.wait_for_events(120.0)
    assert time.monotonic() - begin < 60.0
    timer.join()


def test_a_new_server_does_not_see_old_events(world: World) -> None:
    channel = Channel.private()
    begin_event(world.memory, channel.memory, 4, 0)
    publish_event(channel.memory)
    channel.claim_server()
    assert len(channel.take_events()) == 0


# --- installing ----------------------------------------------------------------------------------


def test_installation_requests_are_answered_one_by_one() -> None:
    channel = Channel.private()
    assert not channel.install_requested() and not channel.wait_for_install(0.01)
    request = channel.request_install()
    assert channel.install_requested() and channel.wait_for_install(10.0)
    assert not channel.install_answered(request)
    channel.answer_install(False, "ä" * 600)
    assert channel.install_answered(request) and not channel.install_requested()
    assert channel.memory.staging.accepted == 0
    assert len(channel.memory.staging.reason) == 511
    timer = threading.Timer(0.05, channel.request_install)
    timer.start()
    assert channel.wait_for_install(120.0)
    timer.join()
    assert not channel.install_answered(request + 1)


def test_ring_install_wakes_without_a_request() -> None:
    channel = Channel.private()
    timer = threading.Timer(0.05, channel.ring_install)
    timer.start()
    begin = time.monotonic()
    assert not channel.wait_for_install(120.0)
    assert time.monotonic() - begin < 60.0
    timer.join()


# --- snapshot ------------------------------------------------------------------------------------


@numba.njit(nogil=True)
def _write_snapshots(w, ch, stop):
    """The loop's last step, again and again, with one number in all fields."""
    n = 0
    while stop[0] == 0:
        n += 1
        w.tick = n
        w.now_ns = n
        w.time = float(n)
        w.events_lost = n
        for p in range(w.n_parts):
            w.parts[p].position[0] = float(n)
            w.parts[p].operational_state = float(n)
            w.parts_runtime[p].fault = n
        record(w, ch)
        if n % 4 == 0:
            sleep_until(now_ns() + 20_000)  # a loop that writes without any pause leaves no time for a copy
    return n


def test_a_torn_snapshot_is_never_seen(world: World) -> None:
    channel, w = Channel.private(), world.memory
    stop = np.ones(1, np.int64)
    _write_snapshots(w, channel.memory, stop)  # compiles
    stop[0] = 0
    writer = threading.Thread(target=_write_snapshots, args=(w, channel.memory, stop))
    writer.start()
    try:
        deadline, seen, reads = time.monotonic() + 60.0, 0, 0
        last = w.n_parts - 1
        while (reads <= 1000 or seen <= 1000) and time.monotonic() < deadline:
            s = channel.snapshot()
            n = int(s.tick)
            assert n >= seen
            parts = s.parts[:: max(last, 1)][:2]
            values = [s.time_ns, s.time, s.events_lost, *parts["fault"], *parts["measured"]["position"][:, 0]]
            values += [*parts["measured"]["operational_state"]]
            if n:  # the first snapshot may come before the first tick
                assert {float(v) for v in values} == {float(n)}
            reads, seen = reads + 1, n
    finally:
        stop[0] = 1
        writer.join()
    assert reads > 1000 and seen > 1000, "there was something to tear"


