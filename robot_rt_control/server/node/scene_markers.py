"""The topic markers: goals, paths, forces, rays, limits and faults for RViz."""

from __future__ import annotations

from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from visualization_msgs.msg import MarkerArray

from robot_rt_control.ros.marker_messages import markers_message
from robot_rt_control.ros.periodic import Periodic
from robot_rt_control.server.markers.scene import ScenePictures

PERIOD_S = 0.1
"""[s] between two messages, at least."""


class SceneMarkers:
    """Publishes `~/markers` in a thread of its own, while there is a subscriber. Latched, and whole each time.

    Args:
        node: the control server's.
        pictures: what is published.
        period_s: between two messages; None: only `publish` publishes.
    """

    def __init__(self, node: Any, pictures: ScenePictures, period_s: float | None = PERIOD_S) -> None:
        self._node, self._pictures = node, pictures
        self._tick: int | None = None
        profile = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._publisher = node.create_publisher(MarkerArray, "~/markers", profile)
        self._periodic = None if period_s is None else Periodic(self.publish, period_s, node.callback_failed)

    def close(self) -> None:
        """Remove all markers, and end."""
        if self._periodic is not None:
            self._periodic.stop()
        self._publisher.publish(markers_message(()))
        self._node.remove(self._publisher)

    def publish(self) -> None:
        """Publish the last tick, unless it was published already; without an executor, once, that there is nothing."""
        if not self._publisher.get_subscription_count():
            self._pictures.forget()
            return
        picture = self._pictures.look()
        tick = None if picture is None else picture.tick
        if tick != self._tick:
            self._tick = tick
            self._publisher.publish(markers_message(() if picture is None else picture.shapes))
