"""Writing the set points of a motion group into its queue in the channel (layout.motion_queue_dtype)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.atomics import address_of, load_acquire, store_release
from robot_rt_control.memory.layout import channel_dtype, motion_queue_dtype, offset_of
from robot_rt_control.memory.set_points import size_of_set_point
from robot_rt_control.motion.tracking import stopping_distance
from robot_rt_control.motion_group.plan import Plan
from robot_rt_control.vocabulary.defaults import JERK_TIME_S

_SET_POINTS = offset_of(channel_dtype, "set_points")
_MOST = 4096
"""Set points that are computed at once: a run that has ended is noticed after so many."""


@dataclass(frozen=True, kw_only=True)
class MotionQueue:
    """The place of a motion group's set points in the channel. It can be pickled."""

    number: int
    """Index of its counters in `motion_queues`."""
    offset: int
    """Byte offset of its first set point in `set_points`."""
    entries: int
    """Room."""
    size: int
    """[bytes] of all entries."""


def queue_entries(braking_rate: float, n_points: int, period: float) -> int:
    """How many set points a queue should have room for: a whole motion, or so many that the profiler may pause for more
    than a second before the group slows down."""
    stopping = stopping_distance(1.0, braking_rate, braking_rate / JERK_TIME_S)
    return min(math.ceil((1.5 * stopping + 1.5) / period), n_points + 1) + 1


@dataclass(frozen=True, kw_only=True)
class Motion:
    """What one queue is filled with. It can be pickled."""

    queue: MotionQueue
    plans: tuple[Plan, ...]
    """One for each part, in the group's order."""
    n_points: int
    period: float
    """[s] between two set points."""

    @property
    def entry_words(self) -> int:
        """Size of a set point in float64: run, number, then q, v, a of each part."""
        return entry_words(self.plans)

    def points(self, first: int, count: int) -> np.ndarray:
        """(count, 3 * joints) set points from the first one on."""
        times = (first + np.arange(count)) * self.period
        return np.hstack([array for plan in self.plans for array in plan.sample(times)])


def entry_words(plans: Sequence[Plan]) -> int:
    """As `Motion.entry_words`."""
    return size_of_set_point(sum(plan.dof for plan in plans)) // 8


class QueueWriter:
    """Fills one queue. It keeps nothing of its own: another process can go on from what the queue holds.

    Args:
        channel: record of `layout.channel_dtype`. One writer at a time.
    """

    def __init__(self, channel: np.record, motion: Motion) -> None:
        self._motion = motion
        header = channel.motion_queues[motion.queue.number]
        base = address_of(header)
        self._head, self._tail, self._run = (
            base + offset_of(motion_queue_dtype, name) for name in ("head", "tail", "run")
        )
        words, entries, first = motion.entry_words, motion.queue.entries, motion.queue.offset // 8
        self._ring = channel.set_points[first : first + words * entries].reshape(entries, words)
        self._stamps = self._ring.view(np.int64)

    def fill(self) -> bool:
        """Write what there is room for. Returns whether it wrote anything."""
        motion, entries = self._motion, len(self._ring)
        run, head = load_acquire(self._run), load_acquire(self._head)
        room = entries - 1 - (head - load_acquire(self._tail))
        number = 0
        if head > 0 and self._stamps[(head - 1) % entries, 0] == run:
            number = int(self._stamps[(head - 1) % entries, 1]) + 1
        count = min(room, motion.n_points - number, _MOST)
        if count <= 0:
            return False
        places = (head + np.arange(count)) % entries
        self._ring[places, 2:] = motion.points(number, count)
        self._stamps[places, 0] = run
        self._stamps[places, 1] = number + np.arange(count)
        if load_acquire(self._run) == run:  # else the loop has ended this run meanwhile, and wants the start again
            store_release(self._head, head + count)
        return True

    def fill_up(self) -> None:
        """Write until there is no room, or nothing left."""
        while self.fill():
            pass


def set_up(channel: np.record, queue: int) -> None:
    """Make a queue that nobody uses empty (its number; `channel`: record of `layout.channel_dtype`)."""
    header = channel.motion_queues[queue]
    for name, value in (("head", 0), ("tail", 0), ("run", 1), ("failed", 0)):
        header[name] = value
