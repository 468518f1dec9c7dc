"""The topics of streams: samples from applications to the loop, and from actions to applications."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from robot_rt_control import msg
from robot_rt_control.definitions.stream_sample import OutputSample
from robot_rt_control.server.control_server import ControlServer
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import RobotControlError

_COMPLAIN_EVERY_S = 1.0


def stream_profile() -> QoSProfile:
    """The quality of service of both topics: no sample is lost in transport."""
    return QoSProfile(depth=capacities.STREAM_ON_THE_WAY, reliability=ReliabilityPolicy.RELIABLE)


class StreamTopics:
    """Offers both topics of a node under `~/`, until `close`.

    Args:
        server: gives the control server; None: it is not configured.
    """

    def __init__(self, node: Node, server: Callable[[], ControlServer | None]) -> None:
        self._node, self._get = node, server
        self._publisher: Any = node.create_publisher(msg.StreamSample, "~/stream_output", stream_profile())
        self._subscription: Any = node.create_subscription(
            msg.StreamSample,
            "~/stream_input",
            self._take,
            stream_profile(),
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        self._unknown = 0
        self._complained = -_COMPLAIN_EVERY_S

    def close(self) -> None:
        """Take the topics back."""
        publisher, self._publisher = self._publisher, None
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(publisher)

    def _take(self, message: Any) -> None:
        """One sample of an application. What is wrong with it becomes an event; where nobody has it, a warning."""
        server = self._get()
        if server is None:
            return
        stamped = message.sequence > 0 or message.source_time != 0.0
        try:
            server.write_stream(
                message.session,
                message.action,
                message.stream,
                message.values,
                valid=message.valid,
                time=message.source_time if stamped else None,
                sequence=int(message.sequence),
                tick=int(message.tick),
                token=message.token,
            )
        except RobotControlError as error:
            self._complain(error)

    def _complain(self, error: RobotControlError) -> None:
        self._unknown += 1
        if time.monotonic() - self._complained < _COMPLAIN_EVERY_S:
            return
        self._complained = time.monotonic()
        count = f" ({self._unknown} samples)" if self._unknown > 1 else ""
        self._node.get_logger().warning(f"a sample on stream_input was refused{count}: {error}")
        self._unknown = 0

    def publish(self, sample: OutputSample) -> None:
        """In the dispatcher's thread."""
        publisher = self._publisher
        if publisher is None:
            return
        publisher.publish(
            msg.StreamSample(
                session=sample.session,
                action=sample.action,
                stream=sample.stream,
                sequence=sample.sequence,
                source_time=sample.time,
                tick=sample.tick,
                values=list(sample.values),
            )
        )
