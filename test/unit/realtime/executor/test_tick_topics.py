"""The topics of every tick: published while somebody listens, whole and in order; what was lost is missing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from robot_rt_control.memory.channel import Channel
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.realtime.executor.tick_topics import INTERVAL, TickTopics
from robot_rt_control.realtime.tick.recorder import record_row
from robot_rt_control.ros.tick_batches import MAX_ROWS, NAMES, TickBatch, TickNames, batch_of, names_of


class Bench:
    """A ring, and what is published of it."""

    def __init__(self, world: World, rows: int = 64) -> None:
        self.world, self.ring = world, TickRing(world, Channel.private(), rows=rows, after=2)
        self.sent: dict[str, list[Any]] = {}
        self.listeners = 1
        self.topics = TickTopics(self, self.ring, 0.001)
        self.names: TickNames = names_of(self.sent[f"~/{NAMES}"][0].data)

    def create_publisher(self, _kind: type, topic: str, _profile: Any) -> Any:
        sent = self.sent.setdefault(topic, [])
        return SimpleNamespace(publish=sent.append, get_subscription_count=lambda: self.listeners)

    def tick(self, first: int, last: int) -> None:
        w = self.world.memory
        for tick in range(first, last + 1):
            w.tick, w.now_ns, w.speed = tick, 1_000_000 * tick + 10 * tick * tick, tick / 1000
            record_row(w)

    def look(self) -> list[TickBatch]:
        """What is published now."""
        self.sent["~/ticks/values"].clear()
        self.topics.publish()
        return [batch_of(bytes(message.data)) for message in self.sent["~/ticks/values"]]

    def values(self, batch: TickBatch, name: str) -> list[float]:
        return list(batch.rows.view(np.float64)[:, self.names.variables[name]])


def test_each_tick_is_published_once_and_in_order(world: World) -> None:
    bench = Bench(world)
    bench.tick(1, 20)
    (first,) = bench.look()
    assert first.rows[:, 0].tolist() == list(range(1, 21)) and first.version == bench.names.version
    assert bench.look() == [], "nothing is new"
    bench.tick(21, 23)
    (second,) = bench.look()
    assert second.rows[:, 0].tolist() == [21, 22, 23]
    assert bench.values(second, "speed") == [0.021, 0.022, 0.023]
    assert np.allclose(bench.values(second, INTERVAL), [1e-3 + 1e-8 * (2 * t - 1) for t in (21, 22, 23)], rtol=1e-9)


def test_what_the_loop_has_overwritten_is_missing(world: World) -> None:
    bench = Bench(world)
    bench.tick(1, 10)
    bench.look()
    bench.tick(11, 200)
    (batch,) = bench.look()
    assert batch.rows[:, 0].tolist() == list(range(137, 201)), "as many as the ring holds"
    assert np.isnan(bench.values(batch, INTERVAL)[0]), "the tick before is not known"


def test_without_a_listener_nothing_is_read_and_one_who_comes_gets_what_follows(world: World) -> None:
    bench = Bench(world)
    bench.listeners = 0
    bench.tick(1, 30)
    read = bench.ring.take
    bench.ring.take = None  # type: ignore[method-assign,assignment]
    assert bench.look() == []
    bench.ring.take = read  # type: ignore[method-assign]
    bench.listeners = 1
    bench.tick(31, 33)
    (batch,) = bench.look()
    assert batch.rows[:, 0].tolist() == [31, 32, 33]


def test_a_loop_that_is_faster_than_the_looks_is_read_from_its_oldest_ticks_on(world: World) -> None:
    bench = Bench(world, rows=1600)
    bench.tick(1, 1500)
    assert [(int(b.rows[0, 0]), len(b.rows)) for b in bench.look()] == [(1, MAX_ROWS), (501, MAX_ROWS)]
    assert [(int(b.rows[0, 0]), len(b.rows)) for b in bench.look()] == [(1001, MAX_ROWS)]
    bench.tick(1501, 4000)
    first, second = bench.look()
    assert (first.rows[0, 0], second.rows[0, 0]) == (2401, 2901), "the others were overwritten"
    assert np.isnan(bench.values(first, INTERVAL)[0]) and not np.isnan(bench.values(second, INTERVAL)).any()


def test_columns_are_those_of_the_parts(world: World) -> None:
    bench = Bench(world)
    w, part = world.memory, world.workcell.parts[0]
    w.parts[part.index].position[:2] = 0.5, -0.25
    w.parts_runtime[part.index].state = 1
    bench.tick(1, 2)
    (batch,) = bench.look()
    assert bench.values(batch, f"{part.name}.position[1]") == [-0.25, -0.25]
    state = bench.names.variables[f"{part.name}.operational_state"]
    assert state in bench.names.integers and batch.rows[:, state].tolist() == [1, 1]
    assert set(bench.names.actions) == {part.name for part in world.workcell.parts}
    assert batch.rows[:, bench.names.actions[part.name]].tolist() == [0, 0] and batch.action_names == {}
