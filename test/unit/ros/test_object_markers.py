"""The topic objects: when it is published; without DDS."""

from __future__ import annotations

from typing import Any

from rclpy.qos import DurabilityPolicy
from visualization_msgs.msg import Marker, MarkerArray

from robot_rt_control.drawing.shape import RED, Shape, ShapeKind
from robot_rt_control.ros.object_markers import ObjectMarkers


class Publisher:
    def __init__(self) -> None:
        self.subscribers = 0
        self.sent: list[list[Any]] = []

    def get_subscription_count(self) -> int:
        return self.subscribers

    def publish(self, message: Any) -> None:
        self.sent.append(list(message.markers))


class Node:
    """In place of the executor's."""

    def __init__(self) -> None:
        self.publisher = Publisher()
        self.removed: list[Any] = []

    def create_publisher(self, kind: Any, topic: str, qos: Any) -> Publisher:
        assert (kind, topic, qos.depth) == (MarkerArray, "objects", 1)
        assert qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
        return self.publisher

    def remove(self, publisher: Publisher) -> None:
        self.removed.append(publisher)


def cube(x: float) -> Shape:
    return Shape(namespace="sim", frame="world", kind=ShapeKind.BOX, points=((x, 0.0, 0.5),), size=0.0, color=RED,
                 text="cube", edges=(0.1, 0.2, 0.3))  # fmt: skip


def test_nothing_is_looked_at_without_a_subscriber_and_only_what_moved_is_published() -> None:
    node, looks, places = Node(), 0, [0.0]

    def look() -> list[Shape]:
        nonlocal looks
        looks += 1
        return [cube(places[-1]), cube(9.0)]

    topic, sent = ObjectMarkers(node, look, None), node.publisher.sent
    topic.publish()
    assert (looks, sent) == (0, [])
    node.publisher.subscribers = 1
    for x in (0.0, 0.0, 1.0):
        places.append(x)
        topic.publish()
    assert looks == 3 and [[m.pose.position.x for m in markers] for markers in sent] == [[0.0, 9.0], [1.0, 9.0]]
    assert all(m.action == Marker.ADD and m.type == Marker.CUBE for m in sent[0])
    assert [(m.ns, m.id, m.text) for m in sent[0]] == [("sim", 0, "cube"), ("sim", 1, "cube")]
    topic.close()
    assert [(m.ns, m.id, m.action) for m in sent[2]] == [("sim", 0, Marker.DELETE), ("sim", 1, Marker.DELETE)]
    assert node.removed == [node.publisher]


def test_whom_nobody_listened_to_removes_nothing() -> None:
    node = Node()
    ObjectMarkers(node, list, None).close()
    assert node.publisher.sent == [] and node.removed == [node.publisher]
