"""What comes from outside the loop, as bytes: the inputs of a recording, from which a session is run again."""

from __future__ import annotations

import struct
from enum import StrEnum

import numpy as np

from robot_rt_control.memory.command_places import MOST_BYTES
from robot_rt_control.memory.layout import blob_dtype, command_dtype, offset_of, sample_dtype, tables_dtype

ARRAYS = ("types", "sessions", "actions", "reactions", "instructions", "streams", "axes", "strategies")
"""The arrays of `tables_dtype` of which only the first `n_…` elements are used; they follow its other fields."""
_HEAD = offset_of(tables_dtype, ARRAYS[0])
_POINTS = struct.Struct("<8q")


class InputKind(StrEnum):
    """What an input is, and its data."""

    TABLES = "tables"
    """`pack_tables`."""
    COMMAND = "command"
    """A transaction of the command ring: `pack_command`."""
    INTERNAL = "internal"
    """The executor's own command, for all parts: one byte, then what lies beside it."""
    SAMPLE = "sample"
    """A sample of a stream input: its place as int64, then `sample_dtype`."""
    POINTS = "points"
    """Set points of a motion group: `pack_points`."""
    SERVER_LOST = "server_lost"
    MISSES = "misses"
    """Missed deadlines that a test has made: int64."""
    STATE = "state"
    """A state of a mock device that a test has set: float64, then the state interface's name."""


def pack_tables(staging: np.record) -> bytes:
    """The used part of what a server has staged (`staging_dtype`)."""
    tables = staging.tables
    found = [tables.tobytes()[:_HEAD]]
    found += [tables[name][: int(tables[f"n_{name}"])].tobytes() for name in ARRAYS]
    blobs = staging.blobs[: int(staging.n_blobs)]
    found += [struct.pack("<q", len(blobs)), blobs.tobytes()]
    for blob in blobs:
        first = int(blob["offset"]) // 8
        found.append(staging.parameters[first : first + int(blob["size"]) // 8].tobytes())
    return b"".join(found)


def unpack_tables(data: bytes, staging: np.record) -> None:
    """Put what `pack_tables` gave into a staging area. Raises ValueError: it is none of these layouts."""
    tables, place = staging.tables, _HEAD
    head = np.frombuffer(data[:_HEAD].ljust(tables_dtype.itemsize, b"\0"), tables_dtype, 1)[0]
    for name in tables_dtype.names or ():
        if name not in ARRAYS:
            tables[name] = head[name]
    for name in ARRAYS:
        n = int(tables[f"n_{name}"])
        size = n * tables_dtype[name].base.itemsize
        tables[name][:n].view(np.uint8)[:] = np.frombuffer(data, np.uint8, size, place)
        place += size
    (n,) = struct.unpack_from("<q", data, place)
    staging.n_blobs = n
    blobs = np.frombuffer(data, blob_dtype, n, place + 8)
    staging.blobs[:n] = blobs
    place += 8 + n * blob_dtype.itemsize
    for blob in blobs:
        first, words = int(blob["offset"]) // 8, int(blob["size"]) // 8
        staging.parameters[first : first + words] = np.frombuffer(data, np.float64, words, place)
        place += 8 * words


def pack_command(command: np.record, record: np.ndarray) -> bytes:
    """A command, and the record beside it if it carries one (float64 or bytes)."""
    size = min(max(int(command.record_size), 0), MOST_BYTES)
    return command.tobytes() + record.reshape(-1).view(np.uint8)[:size].tobytes()


def unpack_command(data: bytes) -> tuple[np.record, np.ndarray]:
    """A command, and the bytes of its record."""
    return np.frombuffer(data, command_dtype, 1)[0], np.frombuffer(data, np.uint8, offset=command_dtype.itemsize)


def unpack_sample(data: bytes) -> tuple[int, np.record]:
    """The place of a stream, and its sample."""
    return struct.unpack_from("<q", data)[0], np.frombuffer(data, sample_dtype, 1, 8)[0]


def pack_points(
    action: np.record, first: int | None, head: int, failed: int, set_points: np.ndarray, words: int
) -> bytes:
    """The set points of a motion group from position `first` of its queue to before `head`.

    Args:
        action: the group, of `action_dtype`.
        first: None: the group is new, and so is its queue.
        failed: 1: nobody writes any more.
        set_points: of the channel.
        words: size of a set point in float64.
    """
    entries, place = int(action.queue_entries), int(action.queue_offset) // 8
    begin = first or 0
    points = set_points[place : place + words * entries].reshape(entries, words)[np.arange(begin, head) % entries]
    return _POINTS.pack(int(action.queue), head, failed, first is None, begin, place, entries, words) + points.tobytes()


def unpack_points(data: bytes, channel: np.record) -> None:
    """Put what `pack_points` gave into a channel."""
    number, head, failed, is_new, first, place, entries, words = _POINTS.unpack_from(data)
    points = np.frombuffer(data, np.float64, offset=_POINTS.size).reshape(-1, words)
    ring = channel.set_points[place : place + words * entries].reshape(entries, words)
    ring[np.arange(first, head) % entries] = points
    queue = channel.motion_queues[number]
    if is_new:
        queue.tail, queue.run = 0, 1
    queue.head, queue.failed = head, failed
