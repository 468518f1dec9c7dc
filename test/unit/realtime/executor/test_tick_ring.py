"""The ring of the last ticks as others see it."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.tick_ring import COMMANDS_TAKEN, TickRing
from robot_rt_control.realtime.tick.recorder import record_row
from robot_rt_control.recording.columns import TIME, split_rows


def test_ticks_are_found_also_across_the_rings_end_until_they_are_overwritten(world: World) -> None:
    channel = Channel.private()
    ring, w = TickRing(world, channel, rows=16, after=2), world.memory
    assert ring.last == 0 and len(ring.take(1, 0)) == 0
    for tick in range(1, 41):
        w.tick = tick
        channel.memory.commands.tail = 3 * tick
        w.parts[0].position[:2] = tick, -tick
        record_row(w)
    assert ring.last == 40
    rows = ring.take(1, 40)
    assert rows[:, 0].tolist() == list(range(25, 41)), "as many as it holds"
    assert rows[:, ring.word(COMMANDS_TAKEN)].tolist() == [3 * t for t in range(25, 41)]
    part = world.workcell.parts[0].name
    assert split_rows(rows[:, 1:], ring.columns)[f"{part}.position"][0, :2].tolist() == [25.0, -25.0]
    assert ring.take(30, 34)[:, 0].tolist() == [30, 31, 32, 33, 34]
    ring._rows[36 % 16, 0] = -1  # the loop is writing it
    assert (np.diff(ring.take(25, 40)[:, 0]) == 1).sum() == 13 and 36 not in ring.take(25, 40)[:, 0]


def test_some_words_are_those_of_the_whole_rows(world: World) -> None:
    channel = Channel.private()
    ring, w = TickRing(world, channel, rows=16, after=2), world.memory
    for tick in range(1, 41):
        w.tick, w.now_ns = tick, 1000 * tick
        record_row(w)
    words = [ring.word(TIME), ring.word("speed")]
    # The oldest row that the ring holds is the next that the loop writes.
    assert ring.take_words(1, 40, words)[:, 0].tolist() == [1000 * tick for tick in range(26, 41)]
    assert (ring.take_words(30, 40, words) == ring.take(30, 40)[:, words]).all()
    assert ring.take_words(41, 40, words).shape == (0, 2)


def test_ring_and_channel_live_as_long_as_the_loop_may_use_them(world: World) -> None:
    ring = TickRing(world, Channel.private(), rows=16, after=2)
    seen, channel = weakref.ref(ring), weakref.ref(ring._world.kept[-1])
    rows = ring.take(1, 0)
    del ring
    gc.collect()
    assert seen() is not None and isinstance(channel(), Channel) and rows.shape[0] == 0
