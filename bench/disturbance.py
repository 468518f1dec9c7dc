"""What else runs in an executor's process: a thread that publishes with rclpy, and one that makes garbage."""

from __future__ import annotations

import importlib.util
import threading
import time
from types import TracebackType

PERIOD_S = 0.001


class Disturbance:
    """A context manager: both threads run inside of it.

    Attributes:
        description: what they do, in words.
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        with_ros = importlib.util.find_spec("rclpy") is not None
        targets = [_make_garbage, _publish] if with_ros else [_make_garbage]
        self._threads = [threading.Thread(target=t, args=(self._stop,), daemon=True) for t in targets]
        self.description = "one thread makes garbage" + (
            ", one publishes joint states with rclpy at 1 kHz" if with_ros else "; there is no rclpy to publish with"
        )

    def __enter__(self) -> Disturbance:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(10.0)


def _make_garbage(stop: threading.Event) -> None:
    """Cycles of objects: the collector gets work, and it holds the GIL."""
    while not stop.is_set():
        for _ in range(200):
            a: dict[str, object] = {"numbers": [float(i) for i in range(100)]}
            a["itself"] = a
        time.sleep(PERIOD_S)


def _publish(stop: threading.Event) -> None:
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from sensor_msgs.msg import JointState

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("bench", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    publisher = node.create_publisher(JointState, "bench_joint_states", 10)
    node.create_subscription(JointState, "bench_joint_states", lambda message: None, 10)
    names = [f"joint_{i}" for i in range(7)]
    while not stop.is_set():
        message = JointState(name=names, position=[0.0] * 7, velocity=[0.0] * 7, effort=[0.0] * 7)
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)
        executor.spin_once(timeout_sec=PERIOD_S)
    executor.shutdown()
    node.destroy_node()
    context.shutdown()
