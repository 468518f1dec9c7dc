"""The node `frame_publisher`: TF of a workcell, where robot_state_publisher is not installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import geometry_msgs.msg
import sensor_msgs.msg
import std_msgs.msg
from builtin_interfaces.msg import Time
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from robot_rt_control.frames.link_frames import LinkFrames, Transforms
from robot_rt_control.model.robot.urdf_reader import parse_urdf
from robot_rt_control.ros.lifecycle_node import AUTOSTART, NodeParameter, WorkcellNode
from robot_rt_control.ros.listener import Unspun, take_all
from robot_rt_control.ros.missing_messages import how_to_get
from robot_rt_control.ros.node_help import NodeHelp
from robot_rt_control.ros.node_process import run_node
from robot_rt_control.ros.periodic import Periodic
from robot_rt_control.vocabulary.errors import DefinitionError, RobotControlError

_PARAMETERS = (
    NodeParameter(
        name="rate",
        default=50.0,
        minimum=0.1,
        maximum=1000.0,
        description="[Hz] of /tf, at most: each joint_states is published once, and of several the last one.",
        changeable=True,
    ),
)

ABOUT = NodeHelp(
    executable="frame_publisher",
    summary="Publishes the frames of all links on /tf and /tf_static, as robot_state_publisher does, from the topics "
    "robot_description and joint_states. A workcell starts it if robot_state_publisher is not installed. It needs the "
    "package tf2_msgs.",
    parameters=(AUTOSTART, *_PARAMETERS),
    examples=("--ros-args -p rate:=20.0",),
)

_SOURCES = 64
"""Lists of joint names; beyond that a publisher is taken to change its own."""

_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)


class FramePublisherNode(WorkcellNode):
    """The node `frame_publisher`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("frame_publisher", _PARAMETERS, common=(AUTOSTART,), **options)
        self._frames: LinkFrames | None = None
        self._made: list[Any] = []
        self._periodic: Periodic | None = None
        self._stamps: dict[tuple[str, ...], Time] = {}
        self._messages: dict[tuple[str, ...], tuple[Any, Any]] = {}
        """Names of joints → links, and their message, which is filled again: making one takes ten times as long."""

    # --- life cycle -----------------------------------------------------------------------------

    def configure(self) -> None:
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError as error:
            raise RobotControlError(
                "the messages of TF",
                expected="the package tf2_msgs",
                got=str(error),
                hint=how_to_get(["tf2_msgs"]),
            ) from error
        self._message_type = TFMessage

    def activate(self) -> None:
        self._stamps.clear()
        self._moving = self.create_publisher(self._message_type, "/tf", 100)
        self._static = self.create_publisher(self._message_type, "/tf_static", _LATCHED)
        described = self.create_subscription(std_msgs.msg.String, "robot_description", self._describe, _LATCHED)
        self._joints: Any = self.create_subscription(
            sensor_msgs.msg.JointState, "joint_states", lambda _: None, 10, callback_group=Unspun()
        )
        self._made = [self._moving, self._static, described, self._joints]
        self._periodic = Periodic(self._publish, 1.0 / self.value("rate"), self.callback_failed)

    def deactivate(self) -> None:
        if self._periodic is not None:
            self._periodic.stop()
            self._periodic = None
        self.remove(*self._made)
        self._made.clear()

    def parameter_changed(self, name: str) -> None:
        if self._periodic is not None:
            self._periodic.period_s = 1.0 / self.value("rate")

    # --- frames ---------------------------------------------------------------------------------

    def _describe(self, message: std_msgs.msg.String) -> None:
        """A new robot_description replaces the last one."""
        try:
            urdf = parse_urdf(message.data.encode(), Path("robot_description"))
        except DefinitionError as error:
            self.get_logger().error(f"no frames: {error}")
            return
        frames = LinkFrames(urdf)
        self._static.publish(self._of((), frames.fixed, self.get_clock().now().to_msg()))
        self._frames = frames
        self.get_logger().info(f"{len(frames.fixed.links)} fixed and {frames.moving} moving frames of {urdf.name!r}")
        if frames.unsupported:
            self.get_logger().warning("no frames for floating and planar joints: " + ", ".join(frames.unsupported))

    def _publish(self) -> None:
        """Publish the frames of the newest joint_states; called in a thread of its own."""
        if not self._moving.get_subscription_count():
            return  # nobody sees the frames: the newest joint_states are kept for who comes
        # Several nodes may publish joint_states, each of its own joints.
        newest = {tuple(message.name): message for message in take_all(self._joints)}
        if self._frames is None:
            return
        for names, message in newest.items():
            stamp = message.header.stamp
            # Simulated time may stand still: TF takes one transform for each time.
            if self._stamps.get(names) != stamp:
                if len(self._stamps) > _SOURCES:
                    self._stamps.clear()
                    self._messages.clear()
                self._stamps[names] = stamp
                found = self._frames.at(names, message.position)
                if found.links:
                    self._moving.publish(self._of(names, found, stamp))

    def _of(self, names: tuple[str, ...], found: Transforms, stamp: Time) -> Any:
        """The message of the transforms that follow these joints."""
        links, message = self._messages.get(names, ((), None))
        if message is None or links != found.links:
            message = self._message_type()
            for parent, child in found.links:
                header = std_msgs.msg.Header(frame_id=parent)
                message.transforms.append(geometry_msgs.msg.TransformStamped(header=header, child_frame_id=child))
            self._messages[names] = found.links, message
        rows = zip(message.transforms, found.positions.tolist(), found.orientations.tolist(), strict=True)
        for filled, position, orientation in rows:
            filled.header.stamp = stamp
            p, q = filled.transform.translation, filled.transform.rotation
            p.x, p.y, p.z = position
            q.x, q.y, q.z, q.w = orientation
        return message


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until it is stopped. Returns the exit code."""
    return run_node(FramePublisherNode, argv, about=ABOUT, threads=2)


if __name__ == "__main__":
    sys.exit(main())
