"""The topics introspection_data/names and introspection_data/values, as ros2_control's controller_manager has them."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile

from robot_rt_control.ros.missing_messages import how_to_get
from robot_rt_control.ros.periodic import Periodic
from robot_rt_control.server.core.introspection import Introspection


class IntrospectionTopics:
    """Publishes all state variables of a tick at a rate, in a thread of its own, while there is a subscriber.

    Without the package pal_statistics_msgs there are no topics, and one line in the log says so.

    Args:
        node: the control server's.
        introspection: what is published.
        stamp: a tick's start [ns] → builtin_interfaces/Time.
        rate: [Hz]; 0: nothing is published.
    """

    def __init__(self, node: Any, introspection: Introspection, stamp: Callable[[int], Any], rate: float) -> None:
        self._node, self._introspection, self._stamp = node, introspection, stamp
        self._publishers: tuple[Any, ...] = ()
        self._periodic: Periodic | None = None
        self._version: int | None = None
        self._tick = 0
        try:
            from pal_statistics_msgs.msg import StatisticsNames, StatisticsValues
        except ImportError as error:
            node.get_logger().info(
                f"no introspection topics: the package pal_statistics_msgs cannot be imported ({error}). "
                + how_to_get(["pal_statistics_msgs"])
            )
            return
        self._names_type, self._values_type = StatisticsNames, StatisticsValues
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._names = node.create_publisher(StatisticsNames, "~/introspection_data/names", latched)
        self._values = node.create_publisher(StatisticsValues, "~/introspection_data/values", 100)
        self._publishers = (self._names, self._values)
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """[Hz]; 0: nothing is published."""
        if rate <= 0.0 or not self._publishers:
            self._stop()
        elif self._periodic is None:
            self._periodic = Periodic(self.publish, 1.0 / rate, self._node.callback_failed)
        else:
            self._periodic.period_s = 1.0 / rate

    def _stop(self) -> None:
        if self._periodic is not None:
            self._periodic.stop()
            self._periodic = None

    def close(self) -> None:
        """End, and remove the topics."""
        self._stop()
        self._node.remove(*self._publishers)
        self._publishers = ()

    def publish(self) -> None:
        """Publish the last tick, unless it was published already; before it the names, if they have changed."""
        if not any(publisher.get_subscription_count() for publisher in self._publishers):
            return
        look = self._introspection.look()
        if look is None or look.tick == self._tick:
            return
        self._tick = look.tick
        stamp = self._stamp(look.time_ns)
        if look.version != self._version:
            names = self._names_type(names=list(look.names), names_version=look.version)
            names.header.stamp = stamp
            self._names.publish(names)
            self._version = look.version
        values = self._values_type(values=array.array("d", look.values.tobytes()), names_version=look.version)
        values.header.stamp = stamp
        self._values.publish(values)
