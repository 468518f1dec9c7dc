"""The client's end of the stream topics."""

from __future__ import annotations

import threading
import time
from typing import Any

import rclpy.node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from robot_rt_control import msg
from robot_rt_control.client.backend import StreamKey
from robot_rt_control.client.callback_queue import CallbackQueue
from robot_rt_control.definitions.stream_sample import InputSample, OutputSample
from robot_rt_control.vocabulary.errors import RobotControlError

_INPUT, _OUTPUT = "control_server/stream_input", "control_server/stream_output"
_DEPTH = 1000


class StreamLink:
    """Publishes samples, and distributes received ones. Topics are created on first use.

    Args:
        node: is spun by another thread.
        timeout_s: for the control server to be found.
    """

    def __init__(self, node: rclpy.node.Node, *, timeout_s: float) -> None:
        self._node, self._timeout_s = node, timeout_s
        self._lock = threading.Lock()
        self._publisher: Any = None
        self._subscription: Any = None
        self._queues: list[tuple[tuple[str, str, str], CallbackQueue[OutputSample]]] = []

    @staticmethod
    def _profile() -> QoSProfile:
        return QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.RELIABLE)

    def connect(self) -> None:
        """Wait until the topic is connected, so that the first sample arrives.

        Raises:
            RobotControlError: the control server takes no samples.
        """
        with self._lock:
            if self._publisher is None:
                self._publisher = self._node.create_publisher(msg.StreamSample, _INPUT, self._profile())
        deadline = time.monotonic() + self._timeout_s
        while self._publisher.get_subscription_count() == 0:
            if time.monotonic() > deadline:
                raise RobotControlError(
                    f"{_INPUT!r} has no subscriber",
                    expected=f"the control server within {self._timeout_s:g} s",
                    hint="Is the control server active, and of the same version?",
                )
            time.sleep(0.005)

    def send(self, key: StreamKey, sample: InputSample) -> None:
        """Publish a sample. From any thread."""
        self._publisher.publish(
            msg.StreamSample(
                session=key.session,
                action=key.action,
                stream=key.stream,
                token=key.token,
                sequence=sample.sequence,
                source_time=sample.source_time,
                tick=sample.tick,
                values=sample.values,
                valid=sample.valid,
            )
        )

    def listen(self, session: str, action: str, stream: str, queue: CallbackQueue[OutputSample]) -> None:
        """Put samples of a stream output into a queue from now on.

        Raises:
            RobotControlError: the control server publishes none.
        """
        with self._lock:
            self._queues.append(((session, action, stream), queue))
            if self._subscription is None:
                self._subscription = self._node.create_subscription(
                    msg.StreamSample, _OUTPUT, self._take, self._profile()
                )
        deadline = time.monotonic() + self._timeout_s
        while self._node.count_publishers(self._subscription.topic_name) == 0:
            if time.monotonic() > deadline:
                raise RobotControlError(
                    f"{_OUTPUT!r} has no publisher",
                    expected=f"the control server within {self._timeout_s:g} s",
                    hint="Is the control server active, and of the same version?",
                )
            time.sleep(0.005)

    def forget(self, session: str) -> None:
        """Stop filling the queues of a session."""
        with self._lock:
            self._queues = [(key, queue) for key, queue in self._queues if key[0] != session]

    def _take(self, message: msg.StreamSample) -> None:
        """Runs in the client's spinning thread."""
        key = (message.session, message.action, message.stream)
        with self._lock:
            queues = [queue for wanted, queue in self._queues if wanted == key]
        if not queues:
            return
        sample = OutputSample(
            session=message.session,
            action=message.action,
            stream=message.stream,
            sequence=message.sequence,
            tick=message.tick,
            time=message.source_time,
            values=tuple(message.values),
        )
        for queue in queues:
            queue.put(sample)
