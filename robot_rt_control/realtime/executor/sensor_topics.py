"""Sensors, inputs and outputs as ordinary ROS topics.

- `<part>/range` of rangefinders: sensor_msgs/Range
- `<part>/wrench` of force-torque sensors: geometry_msgs/WrenchStamped
- `<part>/<channel>` of io and sensor parts: std_msgs/Float64, unknown: NaN
- the same of digital channels: std_msgs/Bool, when it changes, latched; not while it is unknown

A message's frame is a link of robot_description; it is empty if the workcell file does not place the sensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_rt_control.realtime.executor.channel_topics import ChannelTopics
from robot_rt_control.vocabulary.part_kinds import PART_KINDS

if TYPE_CHECKING:
    from robot_rt_control.model.workcell.part_description import PartDescription
    from robot_rt_control.model.workcell.workcell import Workcell


def range_message(part: PartDescription, measured: np.record) -> Any:
    """sensor_msgs/Range without header: a distance [m] along x of its frame."""
    from sensor_msgs.msg import Range

    low, high = part.range or (0.0, math.inf)
    return Range(
        radiation_type=Range.INFRARED,
        field_of_view=part.field_of_view,
        min_range=low,
        max_range=high,
        range=float(measured.distance),
    )


def wrench_message(part: PartDescription, measured: np.record) -> Any:
    """geometry_msgs/WrenchStamped without header: force [N] and torque [Nm] along its frame's axes."""
    from geometry_msgs.msg import WrenchStamped

    message = WrenchStamped()
    force, torque = message.wrench.force, message.wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = (float(v) for v in measured.wrench)
    return message


MESSAGES: dict[str, Callable[[PartDescription, np.record], Any]] = {"range": range_message, "wrench": wrench_message}
"""Topic of a kind → what makes its message."""


class SensorTopics:
    """Publishers for all sensors of a workcell. Unknown values are published as NaN. No message is made for nobody."""

    def __init__(self, node: Any, workcell: Workcell) -> None:
        frames = workcell.frame_names()
        self._sensors: list[tuple[PartDescription, str, Callable[[PartDescription, np.record], Any], Any]] = []
        for part in workcell.parts:
            topic = PART_KINDS[part.kind].topic
            if topic:
                make = MESSAGES[topic]
                publisher = node.create_publisher(type(make(part, part.record)), f"{part.name}/{topic}", 10)
                self._sensors.append((part, frames.get(part.name, ""), make, publisher))
        self._channels = ChannelTopics(node, workcell)

    @property
    def publishers(self) -> list[Any]:
        return [publisher for *_, publisher in self._sensors] + self._channels.publishers

    def publish(self, stamp: Any, snapshot: np.record) -> None:
        """Publish what one snapshot holds."""
        for part, frame, make, publisher in self._sensors:
            if not publisher.get_subscription_count():
                continue
            message = make(part, snapshot.parts[part.index].measured)
            message.header.stamp, message.header.frame_id = stamp, frame
            publisher.publish(message)
        self._channels.publish(snapshot)
