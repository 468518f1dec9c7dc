"""Periods of the loop and of the parts' data, from a ring of ticks."""

from __future__ import annotations

from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.tick_periods import LOOP, tick_periods
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.realtime.tick.recorder import record_row


def test_late_ticks_and_missing_data_are_seen(world: World) -> None:
    channel = Channel.private()  # its memory must live as long as the ring
    ring, w = TickRing(world, channel, rows=64, after=2), world.memory
    names = [part.name for part in world.workcell.parts]
    for tick in range(1, 21):
        w.tick, w.now_ns = tick, 1_000_000 * tick + (500_000 if tick == 15 else 0)
        w.parts["age"] = 0.0
        w.parts[0].age = 1 if tick in (12, 13) else 0
        record_row(w)
    found = tick_periods(ring, names, 10)
    assert list(found) == [LOOP, *names]
    assert found[LOOP] == {
        "period mean [s]": "0.001",
        "period deviation [s]": "0.0002236",
        "period maximum [s]": "0.0015",
    }
    assert found[names[0]]["ticks without new data"] == "2"
    assert found[names[0]]["data period maximum [s]"] == "0.003"
    assert found[names[1]]["ticks without new data"] == "0"
    assert found[names[1]]["data period maximum [s]"] == "0.0015"
    assert tick_periods(ring, names, 20)[LOOP] == {}, "one tick has no period"
