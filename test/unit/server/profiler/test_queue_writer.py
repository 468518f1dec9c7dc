from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.memory.channel import Channel
from robot_rt_control.motion_group.limits import PlanLimits
from robot_rt_control.motion_group.point_to_point import point_to_point
from robot_rt_control.server.profiler.queue_writer import (
    Motion,
    MotionQueue,
    QueueWriter,
    entry_words,
    queue_entries,
    set_up,
)

LIMITS = PlanLimits(
    names=("a", "b"),
    lower=np.full(2, -3.0),
    upper=np.full(2, 3.0),
    velocity=np.ones(2),
    acceleration=np.full(2, 4.0),
    jerk=np.full(2, 40.0),
)


@pytest.fixture(scope="module")
def channel() -> Channel:
    return Channel.private()


def motion_of(n_points: int, entries: int = 40) -> Motion:
    plans = tuple(point_to_point(np.zeros(2), np.array(goal), LIMITS) for goal in ((0.5, -0.2), (0.1, 0.3)))
    queue = MotionQueue(number=3, offset=128 * 8, entries=entries, size=8 * entries * entry_words(plans))
    return Motion(queue=queue, plans=plans, n_points=n_points, period=0.01)


class Loop:
    """The consumer's side."""

    def __init__(self, channel: Channel, entries: int, words: int) -> None:
        self.header = channel.memory.motion_queues[3]
        self.entries = channel.memory.set_points[128 : 128 + entries * words].reshape(entries, words)

    def take(self, count: int) -> list[np.ndarray]:
        taken = []
        while count and self.header["tail"] < self.header["head"]:
            taken.append(self.entries[int(self.header["tail"]) % len(self.entries)].copy())
            self.header["tail"] += 1
            count -= 1
        return taken


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), st.integers(3, 50))
def test_all_points_come_once_in_order_however_they_are_taken(channel: Channel, takes: list[int], entries: int) -> None:
    motion = motion_of(120, entries)
    set_up(channel.memory, 3)
    writer, loop = QueueWriter(channel.memory, motion), Loop(channel, entries, motion.entry_words)
    seen: list[np.ndarray] = []
    for count in [*takes, *[50] * 200]:
        writer.fill_up()
        assert loop.header["head"] - loop.header["tail"] <= entries - 1
        seen += loop.take(count)
    assert [int(row.view(np.int64)[1]) for row in seen] == list(range(120))
    q = motion.plans[1].sample(0.01 * np.arange(120))[0]
    np.testing.assert_array_equal([row[2 + 6 : 2 + 8] for row in seen], q)


@given(st.integers(0, 30), st.booleans())
def test_a_new_run_begins_at_the_start_also_by_another_writer(channel: Channel, taken: int, other: bool) -> None:
    motion = motion_of(120)
    set_up(channel.memory, 3)
    writer, loop = QueueWriter(channel.memory, motion), Loop(channel, 40, motion.entry_words)
    writer.fill_up()
    loop.take(taken)
    loop.header["run"] += 1
    loop.header["tail"] = loop.header["head"]
    (QueueWriter(channel.memory, motion) if other else writer).fill_up()
    (first,) = loop.take(1)
    assert list(first.view(np.int64)[:2]) == [2, 0]


def test_a_queue_bridges_more_than_a_second_and_is_not_larger_than_the_motion() -> None:
    assert queue_entries(0.8, 100_000, 0.001) > 2500
    assert queue_entries(0.8, 50, 0.001) == 52
    assert queue_entries(8.0, 100_000, 0.001) < queue_entries(0.8, 100_000, 0.001)
