"""The topic plugin: what it refuses, ages on the wall clock, and which names it listens to."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from std_msgs.msg import Bool, Float64

from robot_rt_control.hardware.info import HardwareInfo, HardwarePart
from robot_rt_control.hardware.lifecycle import HardwareLifecycle
from robot_rt_control.hardware.topics.plugin import TopicPlugin, remappings
from robot_rt_control.model.workcell.channels import Channel, numbered_channels
from robot_rt_control.testing.devices import arm
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import HardwareError

FLOAT = {"topic": "/d", "type": "std_msgs/msg/Float64", "field": "data", "max_age": 0.05}
DOOR = {"topic": "/door", "type": "std_msgs/Bool", "field": "data", "max_age": math.inf}
PARTS = (
    HardwarePart(
        name="person",
        index=0,
        kind=PartKind.SENSOR,
        inputs=(Channel(name="distance", type="float"),),
    ),
    HardwarePart(name="io", index=1, kind=PartKind.IO, inputs=(Channel(name="door"),)),
)


def values(**changes: Any) -> dict:
    return {"values": {"person": {"distance": FLOAT | changes}, "io": {"door": DOOR}}}


def made(parameters: dict, parts: tuple[HardwarePart, ...] = PARTS, **fields: Any) -> HardwareLifecycle:
    return HardwareLifecycle(TopicPlugin(), HardwareInfo(name="watch", parts=parts, parameters=parameters, **fields))


@pytest.fixture
def running() -> Iterator[HardwareLifecycle]:
    lifecycle = made(values(scale=0.01, offset=1.0))
    lifecycle.configure()
    lifecycle.activate()
    yield lifecycle
    lifecycle.shutdown()


def test_values_and_ages_on_the_wall_clock(running: HardwareLifecycle) -> None:
    plugin = running.plugin
    assert isinstance(plugin, TopicPlugin)
    assert [i.name for i in running.state_interfaces] == ["person/distance", "person/distance_age", "io/door"]
    running.read(0.0, 0.001)
    assert all(math.isnan(v) for v in running.state)
    plugin.receive("/d", Float64(data=50.0))
    plugin.receive("/door", Bool(data=True))
    running.read(0.0, 0.001)
    assert running.state[0] == pytest.approx(1.5) and 0.0 <= running.state[1] < 0.05
    assert running.state[2] == 1.0
    time.sleep(0.06)
    running.read(0.0, 0.001)
    assert math.isnan(running.state[0]) and running.state[1] > 0.06, "too old; the age stays known"
    assert running.state[2] == 1.0, "this one never gets too old"
    assert plugin.topics == ["/d", "/door"] and plugin.received("/d") == 1


def test_only_its_topics_and_types_are_received(running: HardwareLifecycle) -> None:
    plugin = running.plugin
    assert isinstance(plugin, TopicPlugin)
    with pytest.raises(HardwareError, match="topic '/dd'; expected .*'/d'"):
        plugin.receive("/dd", Float64())
    with pytest.raises(HardwareError, match="message on topic '/d'; expected Float64; got Bool"):
        plugin.receive("/d", Bool())


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"values": {"io": {"door": DOOR}}}, r"topic of person.distance; expected topic, type, field and max_age"),
        (values() | {"vals": {}}, "vals: unknown key; expected .*'values'"),
        ({"values": {**values()["values"], "persn": {}}}, "values of 'persn'; expected .*'person'"),
        (
            {"values": {"person": {"distance": FLOAT, "dist": FLOAT}, "io": {"door": DOOR}}},
            "topic of person.dist; expected .*'distance'",
        ),
        (values(type="Float64"), "distance.type; expected a message type, such as sensor_msgs/msg/Range; got"),
        (values(max_age=0), "values.person.distance.max_age; expected greater than 0; got 0"),
        (values(reliability="fast"), "person.distance.reliability; expected one of: best_effort, reliable; got 'fast'"),
        (values(field="max()"), "topic of person.distance: field"),
    ],
)
def test_wrong_parameters_are_refused_at_once(parameters: dict, text: str) -> None:
    with pytest.raises(HardwareError, match=text):
        made(parameters)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"type": "no_such_msgs/msg/Thing"}, "message type 'no_such_msgs/msg/Thing'.*Install the package"),
        ({"type": "std_msgs/msg/Flot64"}, "message type 'std_msgs/msg/Flot64'; expected .*'Float64'"),
        ({"field": "dta"}, "field 'dta'; expected .*'data'"),
        ({"type": "std_msgs/msg/String"}, "field 'data'; expected a path to a number; got a string"),
    ],
)
def test_wrong_types_and_fields_are_refused_before_anything_runs(changes: dict, text: str) -> None:
    with pytest.raises(HardwareError, match=text):
        made(values(**changes)).configure()


def test_parts_that_move_are_refused() -> None:
    with pytest.raises(HardwareError, match="part 'arm' of kind ARM on the plugin topic; expected a part that is only"):
        made({"values": {}}, (arm(),))
    lamp = HardwarePart(name="io", index=0, kind=PartKind.IO, outputs=numbered_channels("output", 1))
    with pytest.raises(HardwareError, match="expected a part that is only read.*; got 1 outputs"):
        made({"values": {}}, (lamp,))


def test_the_plugins_node_takes_the_remappings_of_the_process_but_not_its_name() -> None:
    command = ["driver", "--ros-args", "-r", "__ns:=/cell", "-r", "__node:=hardware_driver", "-p", "device:=watch"]
    assert remappings(command) == ["--ros-args", "-r", "__ns:=/cell"]
    assert remappings([*command, "--remap", "hardware_driver:/d:=/e"])[-1] == "/d:=/e"
    assert remappings(["driver"]) == []
