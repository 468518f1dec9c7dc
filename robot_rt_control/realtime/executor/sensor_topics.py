"""Sensors, inputs and outputs as ordinary ROS topics.

- `<part>/range` of rangefinders: sensor_msgs/Range
- `<part>/wrench` of force-torque sensors: geometry_msgs/WrenchStamped
- `<part>/<channel>` of io and sensor parts: std_msgs/Float64, unknown: NaN
- the same of digital channels: std_msgs/Bool, when it changes, kept for who comes later; not while it is unknown
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robot_rt_control.realtime.executor.channel_topics import ChannelTopics
from robot_rt_control.vocabulary.enums import PartKind

if TYPE_CHECKING:
    from robot_rt_control.model.workcell import Workcell


class SensorTopics:
    """Publishers for all sensors of a workcell. Unknown values are published as NaN."""

    def __init__(self, node: Any, workcell: Workcell) -> None:
        from geometry_msgs.msg import WrenchStamped
        from sensor_msgs.msg import Range

        self._range, self._wrench = Range, WrenchStamped
        self._rangefinders: list[tuple[str, int, Any]] = []
        self._force_torque: list[tuple[str, int, Any]] = []
        for part in workcell.parts:
            if part.kind == PartKind.RANGEFINDER:
                publisher = node.create_publisher(Range, f"{part.name}/range", 10)
                self._rangefinders.append((part.name, part.index, publisher))
            elif part.kind == PartKind.FORCE_TORQUE_SENSOR:
                publisher = node.create_publisher(WrenchStamped, f"{part.name}/wrench", 10)
                self._force_torque.append((part.name, part.index, publisher))
        self._channels = ChannelTopics(node, workcell)

    @property
    def publishers(self) -> list[Any]:
        own = [publisher for _, _, publisher in self._rangefinders + self._force_torque]
        return own + self._channels.publishers

    def publish(self, stamp: Any, snapshot: np.record) -> None:
        """Publish what one snapshot holds."""
        for name, index, publisher in self._rangefinders:
            message = self._range(radiation_type=self._range.INFRARED, max_range=float("inf"))
            message.header.stamp, message.header.frame_id = stamp, name
            message.range = float(snapshot.parts[index].measured.distance)
            publisher.publish(message)
        for name, index, publisher in self._force_torque:
            message = self._wrench()
            message.header.stamp, message.header.frame_id = stamp, name
            force, torque = message.wrench.force, message.wrench.torque
            values = (float(v) for v in snapshot.parts[index].measured.wrench)
            force.x, force.y, force.z, torque.x, torque.y, torque.z = values
            publisher.publish(message)
        self._channels.publish(snapshot)
