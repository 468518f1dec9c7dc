"""The topic markers: when it is published; without DDS."""

from __future__ import annotations

from typing import Any

from rclpy.qos import DurabilityPolicy
from visualization_msgs.msg import Marker, MarkerArray

from robot_rt_control.drawing.shape import RED, Shape, ShapeKind
from robot_rt_control.server.markers.scene import Picture
from robot_rt_control.server.node.scene_markers import SceneMarkers


class Publisher:
    def __init__(self, kind: Any, topic: str, qos: Any) -> None:
        self.kind, self.topic, self.qos, self.subscribers = kind, topic, qos, 0
        self.sent: list[list[str]] = []

    def get_subscription_count(self) -> int:
        return self.subscribers

    def publish(self, message: Any) -> None:
        first, *rest = message.markers
        assert first.action == Marker.DELETEALL, "what is not there any more disappears"
        self.sent.append([marker.ns for marker in rest])


class Node:
    """In place of the control server's."""

    def __init__(self) -> None:
        self.publishers: list[Publisher] = []

    def create_publisher(self, kind: Any, topic: str, qos: Any) -> Publisher:
        self.publishers.append(Publisher(kind, topic, qos))
        return self.publishers[-1]

    def remove(self, publisher: Publisher) -> None:
        self.publishers.remove(publisher)


class Pictures:
    """In place of ScenePictures: one more tick at each look."""

    def __init__(self) -> None:
        self.looks, self.tick, self.pace, self.forgotten, self.gone = 0, 0, 1, 0, False

    def look(self) -> Picture | None:
        self.looks += 1
        self.tick += self.pace
        return None if self.gone else Picture(tick=self.tick, shapes=(line("path"),))

    def forget(self) -> None:
        self.forgotten += 1


def line(namespace: str) -> Shape:
    points = ((0.0, 0.0, 0.0), (1.0, 2.0, 3.0))
    return Shape(namespace=namespace, frame="world", kind=ShapeKind.LINES, points=points, size=0.01, color=RED)


def test_nothing_is_looked_at_without_a_subscriber_and_each_tick_is_published_once() -> None:
    node, pictures = Node(), Pictures()
    unlooked: Any = pictures
    topic = SceneMarkers(node, unlooked, None)
    (publisher,) = node.publishers
    assert (publisher.kind, publisher.topic) == (MarkerArray, "~/markers")
    assert publisher.qos.durability == DurabilityPolicy.TRANSIENT_LOCAL and publisher.qos.depth == 1
    topic.publish()
    assert (pictures.looks, pictures.forgotten, publisher.sent) == (0, 1, [])
    publisher.subscribers = 1
    for pace in (1, 1, 0):
        pictures.pace = pace
        topic.publish()
    assert publisher.sent == [["path"]] * 2, "in the end time stands still"
    pictures.gone = True
    for _ in range(2):
        topic.publish()
    assert publisher.sent[2:] == [[]], "no executor: all goes, once"
    topic.close()
    assert publisher.sent[3:] == [[]] and node.publishers == []
