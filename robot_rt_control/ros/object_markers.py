"""The topic objects: what simulators have beside robots, for RViz and browsers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from visualization_msgs.msg import Marker, MarkerArray

from robot_rt_control.drawing.shape import Shape
from robot_rt_control.ros.marker_messages import marker_message
from robot_rt_control.ros.periodic import Periodic

PERIOD_S = 0.1
"""[s] between two messages, at least."""


class ObjectMarkers:
    """Publishes `objects` in a thread of its own, while there is a subscriber and something has moved. Latched, and
    whole each time; each simulated device has a namespace of its own, so several nodes may publish.

    Args:
        node: of the executor or of a driver.
        look: the shapes, as they are now; called only while there is a subscriber. The set of them never changes.
        period_s: between two messages; None: only `publish` publishes.
    """

    def __init__(self, node: Any, look: Callable[[], Sequence[Shape]], period_s: float | None = PERIOD_S) -> None:
        self._node, self._look = node, look
        self._sent: Sequence[Shape] = ()
        profile = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._publisher = node.create_publisher(MarkerArray, "objects", profile)
        self._periodic = None if period_s is None else Periodic(self.publish, period_s, node.callback_failed)

    def close(self) -> None:
        """Remove the objects, and end."""
        if self._periodic is not None:
            self._periodic.stop()
        if self._sent:
            gone = [Marker(ns=shape.namespace, id=i, action=Marker.DELETE) for i, shape in enumerate(self._sent)]
            self._publisher.publish(MarkerArray(markers=gone))
        self._node.remove(self._publisher)

    def publish(self) -> None:
        """Publish the objects, if one has moved and somebody listens."""
        if not self._publisher.get_subscription_count():
            return
        shapes = self._look()
        if shapes != self._sent:
            self._sent = shapes
            self._publisher.publish(MarkerArray(markers=[marker_message(i, each) for i, each in enumerate(shapes)]))
