"""How late ticks began, from what is recorded of them."""

from __future__ import annotations

import time

import numpy as np

from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.realtime_thread import RealtimeThread
from robot_rt_control.realtime.executor.schedule import Schedule
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.recording.columns import TIME


def test_missed_deadlines_are_left_out() -> None:
    schedule = Schedule(period_ns=1000, first_tick=5, first_misses=2, first_deadline_ns=10_000)
    ticks, misses = np.array([4, 5, 6, 7]), np.array([2, 2, 2, 5])
    late = schedule.lateness(ticks, np.array([9000, 10_010, 14_500, 15_003]), misses)
    assert np.allclose(late, [np.nan, 10e-9, 3500e-9, 3e-9], rtol=0, atol=1e-15, equal_nan=True)


def test_it_is_the_lateness_that_the_loop_itself_has_measured(world: World) -> None:
    channel = Channel.private()
    ring = TickRing(world, channel, rows=4000, after=2)
    options = {"priority": 0, "cpu": -1, "lock": False, "native_silence_s": 9.0, "python_silence_s": 9.0}
    thread = RealtimeThread(world.memory, channel, period_ns=1_000_000, **options)  # type: ignore[arg-type]
    before = thread.schedule
    assert before is None
    thread.start()
    deadline = time.monotonic() + 60.0
    while ring.last < 300 and time.monotonic() < deadline:
        time.sleep(0.01)
    thread.stop()
    rows, schedule = ring.take(1, ring.last), thread.schedule
    assert schedule is not None and len(rows) >= 300
    late = schedule.lateness(rows[:, 0], rows[:, ring.word(TIME)], rows[:, ring.word("deadline_misses")])
    assert round(late.max() * 1e9) == int(channel.memory.timing.max_lateness_ns)
    assert (late >= 0).all()
