"""What a timeline needs of the workcell's topics: every tick of the loop, and the introspection."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String, UInt8MultiArray

from robot_rt_control.editor.robot import TimelineNews
from robot_rt_control.ros.cdr import bytes_of
from robot_rt_control.ros.listener import Unspun, take_all
from robot_rt_control.ros.missing_messages import how_to_get
from robot_rt_control.ros.tick_batches import NAMES, VALUES, TickNames, batch_of, names_of

_BATCHES, _SAMPLES = 25, 20
"""Messages that wait for the next look: of a second, or two."""


class TickSubscriptions:
    """From now on, until `close`. One thread at a time; nothing waits.

    Args:
        node: of a client of the workcell.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        latched = QoSProfile(
            depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE
        )
        self._names: TickNames | None = None
        self._made: list[Any] = []
        self._tick_names = self._subscribe(String, f"realtime_executor/{NAMES}", latched)
        self._tick_values = self._subscribe(UInt8MultiArray, f"realtime_executor/{VALUES}", _BATCHES)
        self._sampled_version: int | None = None
        self._problem = ""
        try:
            from pal_statistics_msgs.msg import StatisticsNames, StatisticsValues
        except ImportError:
            self._problem = f"variables of actions are not here: {how_to_get(['pal_statistics_msgs'])}"
            self._introspected = None
        else:
            topic = "control_server/introspection_data"
            self._introspected = (
                self._subscribe(StatisticsNames, f"{topic}/names", latched),
                self._subscribe(StatisticsValues, f"{topic}/values", _SAMPLES),
            )

    def _subscribe(self, kind: Any, topic: str, profile: Any) -> Any:
        self._made.append(
            self._node.create_subscription(kind, topic, lambda _: None, profile, callback_group=Unspun())
        )
        return self._made[-1]

    def news(self) -> TimelineNews:
        """All but the events."""
        for message in take_all(self._tick_names):
            with suppress(ValueError):
                self._names = names_of(message.data)
        news = TimelineNews(names=self._names, problem=self._problem)
        batches = []
        for message in take_all(self._tick_values, raw=True):
            with suppress(ValueError):
                batches.append(batch_of(bytes_of(message)))
        news.batches = batches
        if self._introspected is not None:
            names, values = self._introspected
            for message in take_all(names):
                self._sampled_version, news.sampled = message.names_version, list(message.names)
            samples = []
            for message in take_all(values):
                found = message.values
                if message.names_version == self._sampled_version and len(found) and found[0] >= 0.0:
                    samples.append((int(found[0]), found))  # the first one is the tick
            news.samples = samples
        return news

    def close(self) -> None:
        for subscription in self._made:
            self._node.destroy_subscription(subscription)
        self._made.clear()
