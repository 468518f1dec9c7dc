"""Fields of messages: grammar, values, and what is refused before anything runs."""

from __future__ import annotations

import math

import pytest
from geometry_msgs.msg import Point, Pose, PoseArray, PoseStamped
from sensor_msgs.msg import BatteryState, LaserScan, Range
from std_msgs.msg import ByteMultiArray, Float64, Int8MultiArray, String

from robot_rt_control.hardware.topics.plugin import _nested
from robot_rt_control.text.message_field import parse_field
from robot_rt_control.vocabulary.errors import HardwareError


def value(message, text: str, empty: float = math.nan) -> float:
    path = parse_field(text, "x", HardwareError)
    path.check(type(message), lambda name: _nested(name, "x"), "x")
    return path.value(message, empty)


POSES = PoseArray(poses=[Pose(position=Point(x=float(i), y=-1.0, z=0.5)) for i in (4, 2, 3)])


@pytest.mark.parametrize(
    ("message", "field", "expected"),
    [
        (Float64(data=2.5), "data", 2.5),
        (Range(range=0.25), " range ", 0.25),
        (PoseStamped(), "pose.orientation.w", 1.0),
        (PoseStamped(), "header.stamp.nanosec", 0.0),
        (BatteryState(present=True), "present", 1.0),
        (LaserScan(ranges=[3.0, 1.0, 2.0]), "ranges[0]", 3.0),
        (LaserScan(ranges=[3.0, 1.0, 2.0]), "ranges[-1]", 2.0),
        (LaserScan(ranges=[3.0, 1.0, 2.0]), "min(ranges)", 1.0),
        (LaserScan(ranges=[3.0, math.nan, 2.0]), "min( ranges )", 2.0),
        (LaserScan(ranges=[3.0, math.inf]), "min(ranges[*])", 3.0),
        (LaserScan(ranges=[3.0, math.inf]), "max(ranges)", math.inf),
        (LaserScan(ranges=[3.0, 1.0]), "mean(ranges)", 2.0),
        (LaserScan(ranges=[3.0, 1.0]), "sum(ranges)", 4.0),
        (LaserScan(ranges=[3.0, 1.0]), "count(ranges)", 2.0),
        (LaserScan(), "count(ranges)", 0.0),
        (LaserScan(), "sum(ranges)", 0.0),
        (POSES, "min(poses[*].position.x)", 2.0),
        (POSES, "poses[1].position.y", -1.0),
        (POSES, "count(poses)", 3.0),
        (Int8MultiArray(data=[1, -2]), "data[1]", -2.0),
    ],
)
def test_values(message, field, expected):
    assert value(message, field) == pytest.approx(expected)


@pytest.mark.parametrize("field", ["ranges[2]", "ranges[-3]"])
def test_an_index_beyond_the_array_is_unknown(field):
    assert math.isnan(value(LaserScan(ranges=[1.0, 2.0]), field))


def test_nothing_is_unknown_or_what_is_said():
    assert math.isnan(value(LaserScan(), "min(ranges)"))
    assert value(LaserScan(), "min(ranges)", math.inf) == math.inf
    assert value(PoseArray(), "min(poses[*].position.x)", 9.0) == 9.0


@pytest.mark.parametrize(
    ("message", "field", "text"),
    [
        (Range(), "rnge", "field 'rnge'; expected .*did you mean 'range'.*; got 'rnge'"),
        (PoseStamped(), "pose.position", "expected a path to a number; got a geometry_msgs/Point"),
        (PoseStamped(), "pose.position.x.y", "expected no field after a double"),
        (LaserScan(), "ranges", r"expected one number: an element, or a reduction such as min\(ranges\); got an array"),
        (POSES, "poses[*].position.x", "expected one number"),
        (Range(), "min(range)", "expected an array after min; got a float"),
        (Range(), "range[0]", "expected no index after float, which is not an array"),
        (String(), "data", "expected a path to a number; got a string"),
        (Range(), "median(range)", "expected .*did you mean 'mean'.*; got 'median'"),
        (Range(), "", "expected a path such as"),
        (Range(), "a..b", "expected names separated by dots"),
        (Range(), "[0]", r"expected names separated by dots, and \[indices\]"),
        (Range(), "min(a", "expected a path such as"),
    ],
)
def test_what_is_no_number_is_refused(message, field, text):
    with pytest.raises(HardwareError, match=text):
        value(message, field)


def test_bytes_are_numbers():
    assert value(ByteMultiArray(data=[b"\x05"]), "data[0]") == 5.0
