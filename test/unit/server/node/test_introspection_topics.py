"""When the topics of introspection are published, without DDS."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from rclpy.qos import DurabilityPolicy

from robot_rt_control.ros.missing_messages import how_to_get
from robot_rt_control.server.core.introspection import Look
from robot_rt_control.server.node.introspection_topics import IntrospectionTopics


class Publisher:
    def __init__(self, topic: str, qos: Any) -> None:
        self.topic, self.qos, self.subscribers = topic, qos, 0
        self.sent: list[Any] = []

    def get_subscription_count(self) -> int:
        return self.subscribers

    def publish(self, message: Any) -> None:
        self.sent.append(message)


class Node:
    """In place of the control server's."""

    def __init__(self) -> None:
        self.publishers: list[Publisher] = []
        self.lines: list[str] = []
        self.failures: list[str] = []

    def create_publisher(self, _: Any, topic: str, qos: Any) -> Publisher:
        self.publishers.append(Publisher(topic, qos))
        return self.publishers[-1]

    def remove(self, *publishers: Publisher) -> None:
        for publisher in publishers:
            self.publishers.remove(publisher)

    def get_logger(self) -> Any:
        return SimpleNamespace(info=self.lines.append)

    def callback_failed(self, trace: str) -> None:
        self.failures.append(trace)


class Source:
    """In place of an Introspection: one more tick at each look, unless it stands still."""

    def __init__(self) -> None:
        self.looks, self.tick, self.version, self.pace = 0, 0, 7, 1
        self.looked = threading.Event()

    def look(self) -> Look:
        self.looks += 1
        self.tick += self.pace
        self.looked.set()
        return Look(
            tick=self.tick,
            time_ns=3_000_000_000,
            version=self.version,
            names=("a", "b"),
            values=np.array([self.tick, np.nan]),
        )


def made(node: Node, source: Source, rate: float) -> IntrospectionTopics:
    unlooked: Any = source
    return IntrospectionTopics(node, unlooked, lambda ns: Time(sec=ns // 10**9), rate)


def test_names_come_once_and_values_each_tick_while_there_is_a_subscriber() -> None:
    node, source = Node(), Source()
    topics = made(node, source, 0.0)
    names, values = node.publishers
    assert (names.topic, values.topic) == ("~/introspection_data/names", "~/introspection_data/values")
    assert names.qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
    topics.publish()
    assert source.looks == 0, "nobody subscribes: nothing is read"
    values.subscribers = 1
    for _ in range(2):
        topics.publish()
    assert [(list(m.names), m.names_version) for m in names.sent] == [(["a", "b"], 7)]
    assert [(m.values[0], m.names_version, m.header.stamp.sec) for m in values.sent] == [(1.0, 7, 3), (2.0, 7, 3)]
    assert np.isnan(values.sent[0].values[1])
    source.pace = 0
    topics.publish()
    assert len(values.sent) == 2, "time stands still"
    source.pace, source.version = 1, 8
    topics.publish()
    assert [m.names_version for m in names.sent] == [7, 8] and values.sent[-1].names_version == 8
    topics.close()
    assert node.publishers == [] and node.failures == []


def test_the_rate_can_change_and_be_0() -> None:
    node, source = Node(), Source()
    topics = made(node, source, 0.0)
    node.publishers[0].subscribers = 1
    for _ in range(2):
        source.looked.clear()
        topics.set_rate(500.0)
        assert source.looked.wait(60.0)
        topics.set_rate(400.0)
        topics.set_rate(0.0)
        looks = source.looks
        assert not [t for t in threading.enumerate() if t.name == "periodic"] and source.looks == looks
    topics.close()
    assert node.failures == []


def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pal_statistics_msgs.msg", None)
    node = Node()
    topics = made(node, Source(), 10.0)
    topics.set_rate(20.0)
    topics.close()
    assert node.publishers == [] and len(node.lines) == 1
    assert node.lines[0].startswith("no introspection topics: the package pal_statistics_msgs cannot be imported (")
    assert how_to_get(["pal_statistics_msgs"]) in node.lines[0]
