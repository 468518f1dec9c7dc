"""Serialized messages, read without making objects of them: rclpy makes some hundred for a marker array.

Of the format (XCDR version 1, little-endian) only what these messages need. Whoever publishes may send anything, so
every mistake is a ValueError.
"""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass, field
from typing import Any

_HEADER = 4
"""[bytes] before the first field: the format."""
_LITTLE_ENDIAN = 1
_SIZES = {"B": 1, "i": 4, "I": 4, "f": 4, "d": 8}
"""[bytes] of numbers, as `struct` names them. Each begins at a multiple of its size."""
_COUNT, _MARKER = struct.Struct("<I"), struct.Struct("<iii")
_POSE = struct.Struct("<10d4f2IB")
"""A marker's pose, scale, color, lifetime and frame_locked."""


class Reader:
    """Takes fields one after the other.

    Args:
        message: as rclpy takes it with `raw`.

    Raises:
        ValueError: it is of another format, or ends too early; by all methods.
    """

    def __init__(self, message: bytes) -> None:
        if len(message) < _HEADER or message[1] != _LITTLE_ENDIAN:
            raise ValueError("a message of another format")
        self._bytes = message
        self.at = _HEADER

    def numbers(self, kind: str, count: int = 1) -> tuple[float, ...]:
        """Args: kind: as of `struct`: i, I, f, d, B."""
        return struct.unpack_from(f"<{count}{kind}", self._bytes, self._step(kind, count))

    def array(self, kind: str, count: int) -> array[float]:
        """As `numbers`, for many."""
        start = self._step(kind, count)
        found: array[float] = array(kind)
        found.frombytes(self._bytes[start : self.at])
        return found

    def count(self) -> int:
        """The length of what follows."""
        return int(self.block(_COUNT, 4)[0])

    def text(self) -> str:
        n = self.count()
        start = self._step("B", n)
        return self._bytes[start : max(self.at - 1, start)].decode(errors="replace")

    def skip(self, kind: str, count: int) -> None:
        self._step(kind, count)

    def skip_text(self) -> None:
        self._step("B", self.count())

    def block(self, fields: struct.Struct, size: int) -> tuple[Any, ...]:
        """Fields between which nothing is left out; the first one has this size [bytes]."""
        start = self.at + -(self.at - _HEADER) % size
        self.at = start + fields.size
        if self.at > len(self._bytes):
            raise ValueError("a message that ends too early")
        return fields.unpack_from(self._bytes, start)

    def _step(self, kind: str, count: int) -> int:
        """Where such numbers begin; the next field is behind them."""
        if count == 0:
            return self.at
        size = _SIZES[kind]
        start = self.at + -(self.at - _HEADER) % size
        self.at = start + size * count
        if self.at > len(self._bytes):
            raise ValueError("a message that ends too early")
        return start


@dataclass(kw_only=True, slots=True)
class PlainMarker:
    """What is read of a visualization_msgs/Marker."""

    frame: str
    namespace: str
    number: int
    type: int
    action: int
    position: tuple[float, ...]
    orientation: tuple[float, ...]
    """x y z w"""
    scale: tuple[float, ...]
    color: tuple[float, ...]
    points: array[float]
    """(3 n) x y z of one after the other [m]."""
    colors: array[float]
    """(4 n)"""
    text: str
    mesh: str


def markers_of(message: bytes, *, most: int) -> list[PlainMarker]:
    """The first markers of a visualization_msgs/MarkerArray, at most `most`. Raises ValueError."""
    reader = Reader(message)
    return [_marker(reader) for _ in range(min(reader.count(), most))]


def _marker(reader: Reader) -> PlainMarker:
    reader.skip("I", 2)
    frame, namespace = reader.text(), reader.text()
    number, type, action = reader.block(_MARKER, 4)
    pose = reader.block(_POSE, 8)
    points = reader.array("d", 3 * reader.count())
    colors = reader.array("f", 4 * reader.count())
    reader.skip_text()  # texture_resource
    reader.skip("I", 2)
    reader.skip_text()  # texture's frame and format
    reader.skip_text()
    reader.skip("B", reader.count())
    reader.skip("f", 2 * reader.count())  # uv_coordinates
    text, mesh = reader.text(), reader.text()
    reader.skip_text()  # mesh_file
    reader.skip("B", reader.count())
    reader.skip("B", 1)  # mesh_use_embedded_materials
    return PlainMarker(
        frame=frame, namespace=namespace, number=number, type=type, action=action, position=pose[:3],
        orientation=pose[3:7], scale=pose[7:10], color=pose[10:14], points=points, colors=colors, text=text, mesh=mesh,
    )  # fmt: skip


def bytes_of(message: bytes) -> bytes:
    """The data of a std_msgs/UInt8MultiArray without dimensions. Raises ValueError."""
    reader = Reader(message)
    if reader.count():
        raise ValueError("an array with dimensions")
    reader.skip("I", 1)
    return reader.array("B", reader.count()).tobytes()


@dataclass
class JointStates:
    """Reads sensor_msgs/JointState: names only if they are others than those of the message before."""

    names: list[str] = field(default_factory=list)
    _before: bytes = b""
    """From the stamp to the names' end, of the last message."""

    def positions(self, message: bytes) -> dict[str, float]:
        """Position of each joint that has one. Raises ValueError."""
        reader = Reader(message)
        reader.skip("I", 2)
        end = reader.at + len(self._before)
        if self._before and message[reader.at : end] == self._before:
            reader.at = end
        else:
            begin = reader.at
            reader.text()
            self.names = [reader.text() for _ in range(_bounded(reader.count(), message))]
            self._before = message[begin : reader.at]
        return dict(zip(self.names, reader.numbers("d", reader.count()), strict=False))


def _bounded(count: int, message: bytes) -> int:
    if count > len(message):
        raise ValueError("a message that ends too early")
    return count
