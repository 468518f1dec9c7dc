"""What sensors say in ROS messages: values, frames and ranges as the workcell file describes them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from std_msgs.msg import Bool

from robot_rt_control.memory.layout import snapshot_dtype
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.realtime.executor.sensor_topics import SensorTopics


@pytest.fixture
def config_folder() -> Path:
    """The shipped configuration."""
    return Path(__file__).resolve().parents[4] / "config"


@dataclass
class Node:
    """Keeps what is published."""

    sent: dict[str, list[Any]] = field(default_factory=dict)
    listeners: int = 1

    def create_publisher(self, kind: type, topic: str, _: Any) -> Any:
        sent = self.sent.setdefault(topic, [])

        def publish(message: Any) -> None:
            assert type(message) is kind
            sent.append(message)

        return SimpleNamespace(publish=publish, get_subscription_count=lambda: self.listeners)


def published(workcell, **measured):
    """What one snapshot leads to: topic → message. `measured`: part → field → value."""
    node, snapshot = Node(), np.zeros(1, snapshot_dtype)[0]
    for part, fields in measured.items():
        for name, value in fields.items():
            snapshot.parts[workcell.part(part).index].measured[name] = value
    topics = SensorTopics(node, workcell)
    topics.publish(Time(sec=7), snapshot)
    assert len(topics.publishers) == len(node.sent)
    return {topic: sent[0] for topic, sent in node.sent.items() if sent}


def test_a_range_has_the_frame_the_limits_and_the_beam_of_its_sensor(config_folder):
    workcell = load_workcell(config_folder / "iiwa.yaml", "mock")
    message = published(workcell, rangefinder={"distance": 0.75})["rangefinder/range"]
    assert message.range == 0.75 and message.header.stamp.sec == 7
    assert message.header.frame_id == "rangefinder_frame"
    assert (message.min_range, message.max_range) == pytest.approx((0.02, 2.0))
    assert message.field_of_view == pytest.approx(0.03) and message.radiation_type == message.INFRARED
    unknown = published(workcell, rangefinder={"distance": math.nan})["rangefinder/range"]
    assert math.isnan(unknown.range)


def test_a_wrench_is_in_its_sensors_frame(config_folder):
    workcell = load_workcell(config_folder / "iiwa.yaml", "mock")
    message = published(workcell, wrist={"wrench": (1, 2, 3, 4, 5, 6)})["wrist/wrench"]
    force, torque = message.wrench.force, message.wrench.torque
    assert (force.x, force.y, force.z, torque.x, torque.y, torque.z) == (1, 2, 3, 4, 5, 6)
    assert message.header.frame_id == "wrist_frame"


@pytest.mark.parametrize("cell", ["arm7", "bench", "contact", "iiwa", "surface"])
def test_the_frames_of_all_messages_are_in_the_robot_description(config_folder, cell):
    workcell = load_workcell(config_folder / f"{cell}.yaml", "mock")
    robot = ElementTree.fromstring(workcell.robot_description().encode())
    links = [link.attrib["name"] for link in robot.findall("link")]
    assert len(set(links)) == len(links)
    messages = [message for message in published(workcell).values() if hasattr(message, "header")]
    assert messages
    for message in messages:
        assert message.header.frame_id in links
        if hasattr(message, "max_range"):
            assert 0.0 < message.min_range < message.max_range < math.inf and message.field_of_view > 0.0


def test_a_sensor_that_is_mounted_nowhere_has_no_frame_and_no_known_limits(tmp_path):
    text = "name: cell\nparts: {eye: {kind: rangefinder, device: d}}\ndevices: {d: {mock: {}}}\n"
    (tmp_path / "cell.yaml").write_text(text)
    message = published(load_workcell(tmp_path / "cell.yaml"), eye={"distance": 0.5})["eye/range"]
    assert (message.header.frame_id, message.min_range, message.max_range) == ("", 0.0, math.inf)


def test_while_nobody_listens_only_latched_topics_are_published(config_folder):
    workcell = load_workcell(config_folder / "arm7.yaml", "mock")
    node, snapshot = Node(listeners=0), np.zeros(1, snapshot_dtype)[0]
    topics = SensorTopics(node, workcell)
    topics.publish(Time(), snapshot)
    latched = {topic for topic, sent in node.sent.items() if sent}
    assert latched and all(type(node.sent[topic][0]) is Bool for topic in latched)
    node.listeners = 1
    topics.publish(Time(), snapshot)
    assert all(len(sent) == 1 for sent in node.sent.values())
