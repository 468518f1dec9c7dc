"""The topics of every tick's values: the ring of the last ticks is read while somebody listens."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String, UInt8MultiArray

from robot_rt_control.realtime.executor.schedule import Schedule
from robot_rt_control.realtime.executor.tick_ring import TickRing
from robot_rt_control.recording.columns import TIME
from robot_rt_control.ros.tick_batches import MAX_ROWS, MAX_WORDS, NAMES, VALUES, TickBatch, TickNames

LOOK_S = 0.04
"""[s] Between two batches."""
INTERVAL, LATENESS, MISSES = "interval", "lateness", "deadline_misses"
_AT_ONCE = 2
"""Batches of a look: a loop in simulated time may be faster than anybody reads."""
_KEPT = 25
"""Batches that wait for a slow listener."""


class TickTopics:
    """The loop is not involved: the ring is its own, and copied as for recordings. Without a listener nothing is read.

    Args:
        node: the executor's.
        ring: of its loop.
        period: of the loop [s].
        schedule: when its ticks are due; None: nothing is late, because the wall clock does not drive it.
    """

    def __init__(
        self, node: Any, ring: TickRing, period: float, schedule: Callable[[], Schedule | None] = lambda: None
    ) -> None:
        self._ring, self._next, self._schedule = ring, 1, schedule
        self._known: dict[int, str] = {}
        parts = [part["name"] for part in ring.parts()]
        self._time, self._misses = ring.word(TIME), ring.word(MISSES)
        width = 1 + sum(column.width for column in ring.columns)
        self._actions = [ring.word(f"{part}.action") for part in parts]
        self._names = TickNames(
            version=random.getrandbits(32),
            period=period,
            columns=width + 2,
            variables={**ring.variables(), MISSES: ring.word(MISSES), INTERVAL: width, LATENESS: width + 1},
            actions=dict(zip(parts, self._actions, strict=True)),
            integers=frozenset((0, ring.word(MISSES), *self._actions, *(ring.word(f"{p}.state") for p in parts))),
            joints={
                name: ring.word(f"{part['name']}.position") + i
                for part in ring.parts()
                for i, name in enumerate(part["joint_states"])
            },
            faults={part: ring.word(f"{part}.fault") for part in parts},
        )
        latched = QoSProfile(
            depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
        )
        names = node.create_publisher(String, f"~/{NAMES}", latched)
        self._values = node.create_publisher(UInt8MultiArray, f"~/{VALUES}", _KEPT)
        self.publishers = (names, self._values)
        names.publish(String(data=self._names.text()))

    def publish(self) -> None:
        """Publish what is new since the last call. One thread; it never waits for the loop."""
        last = self._ring.last
        if not self._values.get_subscription_count():
            self._next = last + 1
            return
        for _ in range(_AT_ONCE):
            if self._next > last:
                return
            self._publish_next(last)

    def _publish_next(self, last: int) -> None:
        """Publish the oldest ticks that were not published yet, up to MAX_ROWS: the loop overwrites them first."""
        first = max(self._next, last - self._ring.rows + 1)
        # One row more than is sent: the interval before the first one.
        until = min(last, first + min(MAX_ROWS, MAX_WORDS // self._names.columns) - 1)
        rows = self._ring.take(first - 1, until)
        self._next = until + 1
        before, rows = rows[rows[:, 0] < first], rows[rows[:, 0] >= first]
        if not len(rows):
            return
        joined = np.concatenate([before if len(before) else rows[:1], rows])
        follow = np.diff(joined[:, 0]) == 1
        intervals = np.where(follow, np.diff(joined[:, self._time]) * 1e-9, np.nan)
        schedule, late = self._schedule(), np.full(len(rows), np.nan)
        if schedule is not None:
            late = schedule.lateness(rows[:, 0], rows[:, self._time], rows[:, self._misses])
        whole = np.concatenate([rows, np.stack([intervals, late], axis=1).view(np.int64)], axis=1)
        batch = TickBatch(version=self._names.version, rows=whole, action_names=self._action_names(rows))
        self._values.publish(UInt8MultiArray(data=batch.packed()))

    def _action_names(self, rows: np.ndarray) -> dict[int, str]:
        """Of the actions that are active in these rows."""
        active = {int(identity) for identity in np.unique(rows[:, self._actions]) if identity}
        if not active <= self._known.keys():
            # Those that ended long ago are forgotten with it.
            self._known = dict.fromkeys(active, "") | {int(i): name for i, name in self._ring.action_names().items()}
        return {identity: self._known[identity] for identity in active}
