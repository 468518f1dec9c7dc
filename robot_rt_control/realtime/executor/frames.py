"""The topic tf, where tf2_msgs is installed: the frames of the arms' tools, for people and tools that watch."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from robot_rt_control.model.workcell import Workcell


class FramePublisher:
    """Publishes the transform from `world` to each arm's tool, as the loop computes it."""

    def __init__(self, publisher: Any, transform: type, message: type, tools: dict[str, int]) -> None:
        self.publisher, self._transform, self._message, self._tools = publisher, transform, message, tools

    @classmethod
    def make(cls, node: Any, workcell: Workcell) -> FramePublisher | None:
        """None where tf2_msgs is not installed, or no part has a tool."""
        tools = {p.name: p.index for p in workcell.parts if p.record.chain.n_joints}
        if not tools or importlib.util.find_spec("tf2_msgs") is None:
            return None
        from geometry_msgs.msg import TransformStamped
        from tf2_msgs.msg import TFMessage  # type: ignore[import-not-found]  # only in full ROS installations

        return cls(node.create_publisher(TFMessage, "/tf", 100), TransformStamped, TFMessage, tools)

    def publish(self, stamp: Any, snapshot: np.record) -> None:
        """Publish the frames of one snapshot; a pose that is unknown is left out."""
        transforms = []
        for name, index in self._tools.items():
            measured = snapshot.parts[index].measured
            if not np.isfinite(measured.tool_position).all():
                continue
            message = self._transform()
            message.header.stamp, message.header.frame_id = stamp, "world"
            message.child_frame_id = f"{name}_tool"
            t, r = message.transform.translation, message.transform.rotation
            t.x, t.y, t.z = (float(v) for v in measured.tool_position)
            r.x, r.y, r.z, r.w = (float(v) for v in measured.tool_orientation)
            transforms.append(message)
        self.publisher.publish(self._message(transforms=transforms))
