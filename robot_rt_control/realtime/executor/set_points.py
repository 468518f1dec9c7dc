"""In simulated time the loop waits for the set points of motion groups, as it waits for the simulator.

So a run does not depend on how fast the profilers' processes are. What they do while ticks run takes effect with the
next batch of ticks. On the wall clock nobody waits: there a group slows down.
"""

from __future__ import annotations

import ctypes
import math
import time
from dataclasses import dataclass

import numpy as np

from robot_rt_control.memory.atomics import fence_acquire
from robot_rt_control.memory.channel import Channel
from robot_rt_control.memory.layout import motion_dtype, offset_of, world_dtype
from robot_rt_control.memory.set_points import size_of_set_point
from robot_rt_control.motion.tracking import stopping_distance
from robot_rt_control.realtime.executor.assembly import World
from robot_rt_control.vocabulary.defaults import JERK_TIME_S

_INSTALLS = offset_of(world_dtype, "installs")
_TICKS = 256
"""Most ticks between two looks."""
_PATIENCE_S = 10.0
_PAUSE_S = 0.0005


@dataclass(frozen=True)
class _Group:
    slot: int
    queue: int
    offset: int
    entries: int
    words: int
    """Size of a set point in int64."""
    n_points: int
    stopping: float
    """[s] of path time in which it can stop."""
    time: np.ndarray
    """(1,) its path time in the world [s]."""


class SetPoints:
    """Looks after the queues of all motion groups that are defined. One thread at a time."""

    def __init__(self, world: World, channel: Channel) -> None:
        self._world, self._channel = world, channel
        self._count = ctypes.c_int64.from_address(world.address + _INSTALLS)  # a record takes microseconds for a field
        memory = world.memory
        memory.queues_latched = 1
        self._headers: np.ndarray = channel.memory.motion_queues
        self._heads, self._failures = memory.queue_heads, memory.queue_failures
        self._installs = -1
        self._groups: list[_Group] = []

    def wait(self, ticks: int) -> int:
        """Wait until no group will run short of set points in the next ticks. Returns how many ticks may run, at most
        `ticks`.

        A profiler that is silent for long is not awaited any longer.
        """
        if self._count.value != self._installs:
            self._installs, self._groups = self._count.value, self._found()
        if self._groups:
            ticks = min(ticks, _TICKS)
            if self._channel.feed is not None:
                self._channel.feed()
        self._latch()
        if self._channel.feed is not None:
            return ticks
        deadline = time.monotonic() + _PATIENCE_S
        while any(self._is_short(group, ticks) for group in self._groups) and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            self._latch()
        return ticks

    def _latch(self) -> None:
        """Show the tick the queues as they are now, also those of groups that come with the next tables."""
        self._heads[:] = self._headers["head"]
        self._failures[:] = self._headers["failed"]
        fence_acquire()  # the set points that these heads promise are there

    def _found(self) -> list[_Group]:
        world = self._world.memory
        tables = world.tables[int(world.active_tables)]
        found = []
        for slot in slots_with_queues(tables):
            a = tables.actions[slot]
            rate = float(a["braking_rate"])
            first = (int(a["state_offset"]) + offset_of(motion_dtype, "elapsed")) // 8
            found.append(
                _Group(
                    slot=int(slot),
                    queue=int(a["queue"]),
                    offset=int(a["queue_offset"]) // 8,
                    entries=int(a["queue_entries"]),
                    words=set_point_words(world, a),
                    n_points=int(a["n_points"]),
                    stopping=stopping_distance(1.0, rate, rate / JERK_TIME_S),
                    time=world.state_arena[first : first + 1],
                )
            )
        return found

    def _is_short(self, group: _Group, ticks: int) -> bool:
        memory = self._channel.memory
        if self._failures[group.queue]:
            return False
        head, run = int(self._heads[group.queue]), int(memory.motion_queues[group.queue]["run"])
        newest = -1
        if head > 0:
            first = group.offset + (head - 1) % group.entries * group.words
            stamps = memory.set_points[first : first + 2].view(np.int64)
            newest = int(stamps[1]) if int(stamps[0]) == run else -1
        world = self._world.memory
        begun = float(group.time[0]) if world.actions_runtime["active"][group.slot] else 0.0
        needed = math.ceil((begun + group.stopping) / float(world.period)) + ticks + 2
        return newest < min(needed, group.n_points - 1)


def slots_with_queues(tables: np.record) -> np.ndarray:
    """The slots of the motion groups whose set points come from outside the loop."""
    actions = tables.actions[: int(tables.n_actions)]
    return np.flatnonzero((actions["identity"] != 0) & (actions["group"] != 0) & (actions["queue"] >= 0))


def set_point_words(world: np.record, action: np.record) -> int:
    """Size of a set point of a group in int64."""
    return size_of_set_point(sum(int(world.parts["dof"][p]) for p in action.parts[: int(action.n_parts)])) // 8
