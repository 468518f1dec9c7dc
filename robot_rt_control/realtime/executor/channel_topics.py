"""Channels as ordinary ROS topics: `<part>/<channel>` of io and sensor parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from robot_rt_control.model.workcell.workcell import Workcell


@dataclass
class _Topic:
    """One channel: the place of its number, and its publisher."""

    part: int
    field: str
    """Field of the part's record: inputs or outputs."""
    index: int
    is_digital: bool
    publisher: Any
    last: float = math.nan


class ChannelTopics:
    """Publishers for all inputs, outputs (as they are read back) and values of a workcell."""

    def __init__(self, node: Any, workcell: Workcell) -> None:
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from std_msgs.msg import Bool, Float64

        self._bool, self._float = Bool, Float64
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._topics: list[_Topic] = []
        for part in workcell.parts:
            for field, channels in (("inputs", part.inputs), ("outputs", part.outputs)):
                for index, channel in enumerate(channels):
                    digital = channel.is_digital
                    message, qos = (Bool, latched) if digital else (Float64, 10)
                    publisher = node.create_publisher(message, f"{part.name}/{channel.name}", qos)
                    self._topics.append(_Topic(part.index, field, index, digital, publisher))

    @property
    def publishers(self) -> list[Any]:
        return [topic.publisher for topic in self._topics]

    def publish(self, snapshot: np.record) -> None:
        """Publish what one snapshot holds; digital channels that have changed since the last one."""
        for topic in self._topics:
            if not topic.is_digital and not topic.publisher.get_subscription_count():
                continue
            value = float(snapshot.parts[topic.part].measured[topic.field][topic.index])
            if not topic.is_digital:
                topic.publisher.publish(self._float(data=value))
            elif not math.isnan(value) and value != topic.last:
                topic.publisher.publish(self._bool(data=value != 0.0))
                topic.last = value
