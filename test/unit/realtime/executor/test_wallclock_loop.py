"""The wall-clock loop: deadlines, misses, and the watch on the server's heartbeats."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from robot_rt_control.memory.atomics import address_of
from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.loop_records import loop_dtype
from robot_rt_control.realtime.executor.loops import WALLCLOCK, loops
from robot_rt_control.realtime.executor.wallclock_loop import ring_bell, watch_server

MS = 1_000_000
NATIVE, PYTHON = 200 * MS, 2000 * MS


class Watched:
    """A loop's watch, at times of the test's choosing."""

    def __init__(self, world: World) -> None:
        self.w, self.channel = world.memory, Channel.private()
        self.loop: Any = np.zeros(1, loop_dtype)[0]
        self.loop.native_silence_ns, self.loop.python_silence_ns = NATIVE, PYTHON
        self.now = 0

    def lost(self, after_ms: int, *, native: bool = False, python: bool = False) -> bool:
        """Whether the loop finds the server lost after so long, with or without a beat just before."""
        memory = self.channel.memory
        memory.server_native_beat += native
        memory.server_python_beat += python
        self.now += after_ms * MS
        self.w.server_lost = 0
        watch_server(self.w, memory, self.loop, self.now)
        return bool(self.w.server_lost)


@pytest.fixture
def watched(world: World) -> Watched:
    return Watched(world)


def test_without_a_server_none_is_lost(watched: Watched) -> None:
    assert not any(watched.lost(1000) for _ in range(10))


def test_beats_keep_a_server_alive(watched: Watched) -> None:
    watched.channel.claim_server()
    assert not watched.lost(5000), "time counts from when it is first seen"
    assert not any(watched.lost(200, native=True, python=i % 10 == 0) for i in range(100))


def test_native_silence_is_a_hang_and_is_said_once(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    assert not watched.lost(200, python=True)
    assert watched.lost(1, python=True)
    assert not any(watched.lost(300, python=True) for _ in range(5))


STARVED = 3000 * MS


def looked(watched: Watched, *, native: bool = False, python: bool = False) -> None:
    """What the non-real-time side has found at this moment."""
    watched.loop.starved_silence_ns = STARVED
    watched.loop.native_starved, watched.loop.python_starved = native, python
    watched.loop.looked_ns = watched.now


def test_S29_a_starved_server_is_waited_for_until_its_own_bound(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    for _ in range(29):
        looked(watched, native=True, python=True)
        assert not watched.lost(100)
    looked(watched, native=True, python=True)
    assert not watched.lost(100)
    assert watched.lost(1)


def test_S29_a_server_that_hangs_is_lost_as_soon_as_ever(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    watched.lost(150, python=True)
    looked(watched)
    assert not watched.lost(50, python=True)
    assert watched.lost(1, python=True), "200 ms"
    watched.channel.renew_server()
    watched.lost(1, native=True, python=True)
    for _ in range(20):
        looked(watched)
        assert not watched.lost(100, native=True)
    assert watched.lost(1, native=True), "2 s"


def test_S29_who_stops_being_starved_without_a_heartbeat_is_lost_at_once(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    for _ in range(10):
        looked(watched, native=True)
        assert not watched.lost(100, python=True)
    looked(watched)
    assert watched.lost(1, python=True)


def test_S29_while_the_executors_other_side_stands_still_nothing_is_known_and_the_long_bound_holds(
    watched: Watched,
) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    looked(watched)
    assert not any(watched.lost(100, python=True) for _ in range(10)), "it has looked before the silence only"
    looked(watched)
    assert watched.lost(1, python=True)
    watched.channel.renew_server()
    watched.lost(1, native=True, python=True)
    assert not any(watched.lost(100, python=True) for _ in range(30))
    assert watched.lost(1, python=True), "nobody is waited for for ever"


def test_S29_death_is_seen_at_once_also_while_starved(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    looked(watched, native=True, python=True)
    watched.channel.end_server(1)
    assert watched.lost(1)


def test_python_silence_is_a_hang(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    assert not any(watched.lost(100, native=True) for _ in range(20))
    assert watched.lost(1, native=True)


def test_a_server_that_leaves_or_dies_is_lost_at_once(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1, native=True, python=True)
    watched.channel.release_server()
    assert watched.lost(1, native=True, python=True)
    watched.channel.claim_server()
    assert not watched.lost(1), "the next one is watched anew"
    watched.channel.end_server(1)
    assert not watched.lost(1, native=True)
    watched.channel.end_server(2)
    assert watched.lost(1, native=True)


def test_a_server_that_was_lost_may_ask_to_be_watched_again(watched: Watched) -> None:
    watched.channel.claim_server()
    watched.lost(1)
    assert watched.lost(300)
    watched.channel.renew_server()
    assert not watched.lost(1000) and not watched.lost(200) and watched.lost(1)


def test_a_server_that_came_before_the_loop_is_watched(world: World) -> None:
    watched = Watched(world)
    watched.channel.claim_server()
    watched.channel.memory.server_native_beat = watched.channel.memory.server_python_beat = 77
    watched.now = 10**15
    assert not watched.lost(1)
    assert watched.lost(201)


# --- running -------------------------------------------------------------------------------------


def run_wallclock(world: World, channel: Channel, loop: np.record) -> None:
    loops()(WALLCLOCK, world.address, channel.address, address_of(loop))


def run(world: World, channel: Channel, *, ticks: int, period_ns: int) -> Any:
    loop: Any = np.zeros(1, loop_dtype)[0]
    loop.period_ns, loop.max_ticks = period_ns, ticks
    run_wallclock(world, channel, loop)
    return channel.memory.timing


def test_ticks_come_at_their_deadlines(world: World) -> None:
    channel = Channel.private()
    begin = time.monotonic_ns()
    timing = run(world, channel, ticks=50, period_ns=2 * MS)
    took = time.monotonic_ns() - begin
    assert timing.ticks == world.memory.tick == 50
    assert took >= 50 * 2 * MS, "never before its deadline"
    assert timing.lateness.sum() == timing.compute.sum() == 50
    assert timing.max_compute_ns > 0 and timing.max_lateness_ns >= 0
    assert begin < world.memory.now_ns <= begin + took
    assert channel.memory.loop_beat == 50 and channel.snapshot().tick == 50


def test_periods_that_are_missed_are_counted_and_not_made_up_for(world: World) -> None:
    channel = Channel.private()
    begin = time.monotonic_ns()
    timing = run(world, channel, ticks=200, period_ns=100)  # a tick takes longer
    took = time.monotonic_ns() - begin
    assert timing.ticks == 200
    assert timing.deadline_misses >= 200
    assert (timing.ticks + timing.deadline_misses) * 100 <= took + 100, "one deadline for each period, met or missed"


def test_stop_ends_the_loop_and_a_signal_does_not_bring_a_tick_forward(world: World) -> None:
    channel = Channel.private()
    loop: Any = np.zeros(1, loop_dtype)[0]
    loop.stop = 1
    run_wallclock(world, channel, loop)
    assert world.memory.tick == 0
    loop.stop, loop.period_ns, loop.max_ticks = 0, 300 * MS, 1
    thread = threading.Thread(target=run_wallclock, args=(world, channel, loop))
    previous = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        begin = time.monotonic_ns()
        thread.start()
        while thread.is_alive():
            assert thread.ident is not None
            signal.pthread_kill(thread.ident, signal.SIGUSR1)
            time.sleep(0.01)
        assert time.monotonic_ns() - begin >= 300 * MS
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, previous)
    assert world.memory.tick == 1 and world.memory.now_ns >= begin + 300 * MS


def test_the_bell_wakes_who_waits_for_events() -> None:
    channel = Channel.private()
    ring_bell(channel.memory)
    assert channel.memory.event_bell[0] == 1
    channel.memory.event_bell[0] = 2**31 - 1
    ring_bell(channel.memory)
    assert channel.memory.event_bell[0] == -(2**31), "it turns over"
