"""Active states and governing strategies as texts in RViz, beside the tool or sensor that each session holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from visualization_msgs.msg import Marker, MarkerArray

from robot_rt_control.server.programs.program_states import SessionState

HEIGHT = 0.03
"""Letter height [m]."""
BESIDE = 0.15
"""From the origin of the part's frame to the text, along its x axis [m]."""


def state_text(state: SessionState) -> str:
    """The session's program, and a line for each active action with what governs its degrees of freedom."""
    lines = [state.program] if state.program else []
    for action in state.active:
        governing = [f"{axis}: {name}" for (of, axis), (name, _) in state.strategies.items() if of == action]
        lines.append(action + (f"  ({', '.join(governing)})" if governing else ""))
    return "\n".join(lines)


class StateMarkers:
    """Publishes `~/state_markers`: one text for each session with an active action. Latched, and whole each time.

    Args:
        frames: part → its frame in robot_description; a session without such a part is shown in `world`.
        parts_of: session → its parts.
    """

    def __init__(self, node: Node, frames: Mapping[str, str], parts_of: Callable[[str], Sequence[str]]) -> None:
        self._node, self._frames, self._parts_of = node, frames, parts_of
        self._markers: dict[str, Any] = {}
        profile = QoSProfile(
            depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
        )
        self._publisher = node.create_publisher(MarkerArray, "~/state_markers", profile)

    def close(self) -> None:
        """Remove all markers, and end."""
        self._markers.clear()
        self._publisher.publish(self.message())
        self._node.destroy_publisher(self._publisher)

    def publish(self, state: SessionState) -> None:
        """Show a session's new state. One thread at a time."""
        if state.active:
            self._markers[state.session] = self._marker(state)
        elif self._markers.pop(state.session, None) is None:
            return
        self._publisher.publish(self.message())

    def message(self) -> Any:
        """visualization_msgs/MarkerArray: first everything older goes."""
        return MarkerArray(markers=[Marker(action=Marker.DELETEALL), *self._markers.values()])

    def _marker(self, state: SessionState) -> Any:
        frame = next((self._frames[p] for p in self._parts_of(state.session) if p in self._frames), "")
        marker = Marker(ns=state.session, type=Marker.TEXT_VIEW_FACING, text=state_text(state))
        marker.header.frame_id = frame or "world"
        marker.frame_locked = True  # it follows its frame; so no time stamp
        marker.pose.position.x = BESIDE if frame else 0.0
        marker.scale.z = HEIGHT
        marker.color.r, marker.color.g, marker.color.b, marker.color.a = 0.1, 0.1, 0.1, 1.0
        return marker
