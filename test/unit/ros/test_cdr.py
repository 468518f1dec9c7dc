"""Serialized messages are read as rclpy reads them, whatever they have; damaged ones are refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CompressedImage, JointState
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray, MeshFile, UVCoordinate

from robot_rt_control.ros.cdr import JointStates, Reader, markers_of

NUMBER = st.floats(allow_nan=False, width=32)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9)
POINT = st.builds(Point, x=NUMBER, y=NUMBER, z=NUMBER)
COLOR = st.builds(ColorRGBA, r=NUMBER, g=NUMBER, b=NUMBER, a=NUMBER)
HEADER = st.builds(Header, stamp=st.builds(Time, sec=st.integers(0, 99)), frame_id=TEXT)
BYTES = st.binary(max_size=9)
MARKER = st.builds(
    Marker,
    header=HEADER,
    ns=TEXT,
    id=st.integers(-(2**31), 2**31 - 1),
    type=st.integers(0, 12),
    action=st.integers(0, 3),
    pose=st.builds(Pose, position=POINT, orientation=st.builds(Quaternion, x=NUMBER, y=NUMBER, z=NUMBER, w=NUMBER)),
    scale=st.builds(Vector3, x=NUMBER, y=NUMBER, z=NUMBER),
    color=COLOR,
    lifetime=st.builds(Duration, sec=st.integers(0, 99)),
    frame_locked=st.booleans(),
    points=st.lists(POINT, max_size=4),
    colors=st.lists(COLOR, max_size=3),
    texture_resource=TEXT,
    texture=st.builds(CompressedImage, header=HEADER, format=TEXT, data=BYTES),
    uv_coordinates=st.lists(st.builds(UVCoordinate, u=NUMBER, v=NUMBER), max_size=3),
    text=TEXT,
    mesh_resource=TEXT,
    mesh_file=st.builds(MeshFile, filename=TEXT, data=BYTES),
    mesh_use_embedded_materials=st.booleans(),
)


@given(st.lists(MARKER, max_size=4))
def test_markers_are_read_as_rclpy_reads_them(markers: list[Any]) -> None:
    message = serialize_message(MarkerArray(markers=markers))
    found = markers_of(message, most=9)
    assert len(found) == len(markers) and len(markers_of(message, most=1)) == min(len(markers), 1)
    for read, sent in zip(found, markers, strict=True):
        at, turned, scale, color = sent.pose.position, sent.pose.orientation, sent.scale, sent.color
        assert (read.frame, read.namespace, read.number) == (sent.header.frame_id, sent.ns, sent.id)
        assert (read.type, read.action, read.text, read.mesh) == (sent.type, sent.action, sent.text, sent.mesh_resource)
        assert read.position == (at.x, at.y, at.z) and read.scale == (scale.x, scale.y, scale.z)
        assert read.orientation == (turned.x, turned.y, turned.z, turned.w)
        assert read.color == (color.r, color.g, color.b, color.a)
        assert list(read.points) == [x for p in sent.points for x in (p.x, p.y, p.z)]
        assert list(read.colors) == [x for c in sent.colors for x in (c.r, c.g, c.b, c.a)]


@given(st.lists(st.tuples(HEADER, st.lists(TEXT, max_size=4, unique=True), st.lists(NUMBER, max_size=5)), max_size=4))
def test_joint_states_are_read_as_rclpy_reads_them(messages: list[tuple[Any, list[str], list[float]]]) -> None:
    reader = JointStates()
    for header, names, positions in messages:
        for turn in range(2):  # the second time, the names are known
            shifted = [x + turn for x in positions]
            message = JointState(header=header, name=names, position=shifted, velocity=positions)
            assert reader.positions(serialize_message(message)) == dict(zip(names, shifted, strict=False))
            assert reader.names == names


@given(st.lists(MARKER, min_size=1, max_size=2), st.data())
def test_a_damaged_message_is_refused_or_read_within_its_bounds(markers: list[Any], data: Any) -> None:
    message = bytearray(serialize_message(MarkerArray(markers=markers)))
    for _ in range(3):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(message[: data.draw(st.integers(0, len(message)))])
    for read in (lambda: markers_of(cut, most=9), lambda: JointStates().positions(cut)):
        try:
            read()
        except ValueError:
            continue


@pytest.mark.parametrize("message", [b"", b"\0\1\0", b"\0\0\0\0\1\0\0\0", b"\0\1\0\0\xff\xff\xff\xff"])
def test_what_is_none_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match="a message"):
        markers_of(message, most=9)
    with pytest.raises(ValueError, match="a message"):
        JointStates().positions(message)


def test_a_length_that_the_message_does_not_have_takes_no_memory() -> None:
    reader = Reader(b"\0\1\0\0" + b"\xff" * 8)
    with pytest.raises(ValueError, match="ends too early"):
        reader.array("d", 3 * reader.count())
    assert math.isfinite(reader.at)
