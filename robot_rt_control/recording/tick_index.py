"""Any tick of a recording at once: only the chunks that hold it are decompressed."""

from __future__ import annotations

import os
import struct
import threading
import zlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import Any, TypeVar

import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Metadata

from robot_rt_control.recording.cdr import HEADER
from robot_rt_control.recording.robot import DESCRIPTION
from robot_rt_control.recording.tick_reader import TickFile, metadata_values
from robot_rt_control.recording.tick_writer import DEFINITIONS, END, EVENTS, TICKS
from robot_rt_control.vocabulary.errors import RobotControlError

_MAGIC = 8
_RECORD = struct.Struct("<BQ")
_CHUNK = struct.Struct("<QQQII")
"""Times of the first and the last message, size and checksum of what it holds, length of the compression's name."""
_INDEX = struct.Struct("<HI")
_CHANNEL = struct.Struct("<HHI")
"""Numbers of the channel and of its schema, length of the topic's name."""
_ENTRY = np.dtype([("time", "<u8"), ("offset", "<u8")])
_MESSAGE = _RECORD.size + struct.calcsize("<HIQQ")
"""Place of a message's data in its record."""
_ROW = len(HEADER) + 8
_MOST_CHUNK = 64 << 20
"""[bytes] A larger one is none of ours: it would only fill the memory."""
_KEPT = 64
"""Chunks that are kept decompressed."""
_READ_AHEAD = 16 << 10
_Found = TypeVar("_Found")


@dataclass
class _Chunk:
    """A chunk's place, and where the messages of each channel are in it."""

    start: int
    end: int
    size: int
    checksum: int
    is_compressed: bool
    offsets: dict[int, np.ndarray] = field(default_factory=dict)


class _Damaged(Exception):
    pass


class TickIndex:
    """The ticks of a file by their numbers, as far as they can be read. What cannot be read is named in `problems`.

    It reads where the chunks are, once; a file that is written meanwhile has the ticks that it had then. Any thread.

    Raises:
        RobotControlError: the file has no tick that can be read.
    """

    def __init__(self, file: TickFile) -> None:
        self.file = file
        self.problems: list[str] = []
        self.end: Mapping[str, Any] = {}
        """As `TickFile.end`."""
        self._width = sum(column.width for column in file.columns)
        self._lock = threading.RLock()
        self._file = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._chunks = self._walk()
            self._channels = self._find_channels()
            self._ticked = [chunk for chunk in self._chunks if len(self._offsets(chunk, TICKS))]
            self._first: dict[int, int] = {}
            self._rows: OrderedDict[int, np.ndarray] = OrderedDict()
            self.first = self._tried(lambda: int(self._block(0)[0, 0]))
            self.last = self._tried(lambda: int(self._block(len(self._ticked) - 1)[-1, 0]))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the file back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def rows(self, first: int, last: int) -> np.ndarray:
        """The rows of these ticks, as `TickFile.rows`, those that are there: int64 of shape (n, width of all columns).
        """
        with self._lock:
            blocks = list(self.blocks(first, last))
        return np.concatenate(blocks) if blocks else np.zeros((0, self._width), np.int64)

    def blocks(self, first: int, last: int) -> Iterator[np.ndarray]:
        """The same, some rows at a time: a long range need not be in memory."""
        while first <= last:
            with self._lock:
                found = self._tried(partial(self._from, first))
            found = found[found[:, 0] <= last]
            if not len(found):
                return
            yield found
            first = int(found[-1, 0]) + 1

    def _from(self, first: int) -> np.ndarray:
        """The rows of one chunk from a tick on; none: there is no later one."""
        at = max(bisect_right(range(len(self._ticked)), first, key=self._first_tick) - 1, 0)
        while at < len(self._ticked):
            block = self._block(at)
            found = block[np.searchsorted(block[:, 0], first) :]
            if len(found):
                return found
            at += 1
        return np.zeros((0, self._width), np.int64)

    def events(self) -> Iterator[bytes]:
        """The events' messages, in order."""
        return (data for _, data in self._numbered(EVENTS))

    def descriptions(self) -> list[tuple[int, str]]:
        """Each robot_description, and the tick from which on it holds."""
        return [(tick, _text(data)) for tick, data in self._numbered(DESCRIPTION)]

    def definitions(self) -> list[str]:
        """What reactions are called: `reaction_names`; none: the file is older than that."""
        return [_text(data) for _, data in self._numbered(DEFINITIONS)]

    # --- where things are -----------------------------------------------------------------------

    def _walk(self) -> list[_Chunk]:
        """All chunks, from the headers of the file's records."""
        size, place = os.fstat(self._file).st_size, _MAGIC
        chunks: list[_Chunk] = []
        ahead, ahead_at = b"", 0
        while place < size:
            if not ahead_at <= place <= ahead_at + len(ahead) - _RECORD.size - _CHUNK.size:
                ahead, ahead_at = os.pread(self._file, _READ_AHEAD, place), place
            if len(ahead) < _RECORD.size:
                self._cut()
                break
            opcode, length = _RECORD.unpack_from(ahead, place - ahead_at)
            begin = place + _RECORD.size
            if not 1 <= opcode <= Opcode.DATA_END or (opcode == Opcode.CHUNK and length > _MOST_CHUNK):
                self.problems.append(f"The file is damaged at byte {place}: what follows cannot be shown.")
                break
            if opcode in (Opcode.DATA_END, Opcode.FOOTER):
                break
            if begin + length > size:
                self._cut()
                break
            if opcode == Opcode.CHUNK:
                _, _, unpacked, checksum, named = _CHUNK.unpack_from(ahead, begin - ahead_at)
                start = begin + _CHUNK.size + named + 8
                chunks.append(_Chunk(start, begin + length, min(unpacked, _MOST_CHUNK), checksum, named > 0))
            elif opcode == Opcode.METADATA and length <= _MOST_CHUNK:
                self._take_end(os.pread(self._file, length, begin))
            elif opcode == Opcode.MESSAGE_INDEX and chunks and length <= _MOST_CHUNK:
                if begin + length > ahead_at + len(ahead):
                    ahead, ahead_at = os.pread(self._file, max(_READ_AHEAD, length), begin), begin
                channel, n = _INDEX.unpack_from(ahead, begin - ahead_at)
                if n + _INDEX.size == length and n % _ENTRY.itemsize == 0:
                    entries = np.frombuffer(ahead, _ENTRY, n // _ENTRY.itemsize, begin - ahead_at + _INDEX.size)
                    chunks[-1].offsets[channel] = entries["offset"].astype(np.int64)
            place = begin + length
        else:
            self._cut()
        if self.problems and chunks:
            chunks[-1].offsets = {}  # it may lack the index of some channels
        return chunks

    def _take_end(self, data: bytes) -> None:
        try:
            record = Metadata.read(ReadDataStream(BytesIO(data)))
        except (McapError, ValueError, struct.error):
            return  # then the file has no end, as one of a writer that was killed
        if record.name == END:
            self.end = metadata_values(record.metadata)

    def _cut(self) -> None:
        self.problems.append(
            "The file has no end: its writer was killed, it is still written, or the file was cut off. "
            "What is whole is shown."
        )

    def _find_channels(self) -> dict[str, list[int]]:
        """Topic → channels. They are in the first chunk that has messages."""
        found: dict[str, list[int]] = {}
        for chunk in self._chunks:
            try:
                data = self._data(chunk)
            except _Damaged:
                continue
            for opcode, place, length in _records(data):
                if opcode == Opcode.CHANNEL and length >= _CHANNEL.size:
                    number, _, named = _CHANNEL.unpack_from(data, place)
                    topic = data[place + _CHANNEL.size :][:named].decode(errors="replace")
                    found.setdefault(topic, []).append(number)
            if TICKS in found:
                return found
        return found

    def _offsets(self, chunk: _Chunk, topic: str) -> np.ndarray:
        """Where the messages of a topic are in a chunk; one that was cut off before its index is searched."""
        if not chunk.offsets:
            try:
                data = self._data(chunk)
            except _Damaged:
                return np.zeros(0, np.int64)
            offsets: dict[int, list[int]] = {}
            for opcode, place, length in _records(data):
                if opcode == Opcode.MESSAGE and length > 2:
                    offsets.setdefault(int.from_bytes(data[place : place + 2], "little"), []).append(
                        place - _RECORD.size
                    )
            chunk.offsets = {channel: np.array(found, np.int64) for channel, found in offsets.items()}
        parts = [chunk.offsets[id] for id in self._channels.get(topic, ()) if id in chunk.offsets]
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)

    # --- what is in them ------------------------------------------------------------------------

    def _data(self, chunk: _Chunk) -> bytes:
        packed = os.pread(self._file, chunk.end - chunk.start, chunk.start)
        try:
            data = zstandard.decompress(packed, chunk.size) if chunk.is_compressed else packed
        except zstandard.ZstdError as error:
            raise _Damaged from error
        if chunk.checksum and zlib.crc32(data) != chunk.checksum:
            raise _Damaged
        return data

    def _first_tick(self, at: int) -> int:
        start = self._ticked[at].start
        if start not in self._first:
            self._first[start] = int(self._block(at)[0, 0])
        return self._first[start]

    def _block(self, at: int) -> np.ndarray:
        """The rows of a chunk."""
        if not 0 <= at < len(self._ticked):
            raise IndexError(at)
        chunk = self._ticked[at]
        if chunk.start in self._rows:
            self._rows.move_to_end(chunk.start)
            return self._rows[chunk.start]
        try:
            data = np.frombuffer(self._data(chunk), np.uint8)
            places = self._offsets(chunk, TICKS)[:, None] + (_MESSAGE + _ROW) + np.arange(8 * self._width)
            rows = data[places].view(np.int64)
        except (_Damaged, IndexError, ValueError) as error:
            self._ticked.pop(at)
            self._name_damage(at)
            raise _Damaged from error
        self._rows[chunk.start] = rows
        while len(self._rows) > _KEPT:
            self._rows.popitem(last=False)
        return rows

    def _name_damage(self, at: int) -> None:
        text = "Ticks are missing: a chunk of the file is damaged"
        before = self._rows.get(self._ticked[at - 1].start) if at else None
        self.problems.append(f"{text} after tick {int(before[-1, 0])}." if before is not None else f"{text}.")

    def _tried(self, work: Callable[[], _Found]) -> _Found:
        """Do it again without each chunk that is found damaged."""
        while True:
            try:
                return work()
            except _Damaged:
                continue
            except IndexError:
                raise RobotControlError(
                    f"recording {self.file.path}",
                    expected="ticks that can be read",
                    got="none",
                    hint="Its writer was killed before the first chunk was full, or the file is damaged",
                ) from None

    def _numbered(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Tick and data of the messages of a topic."""
        for chunk in self._chunks:
            with self._lock:
                offsets = self._offsets(chunk, topic)
                if not len(offsets):
                    continue
                try:
                    data = self._data(chunk)
                except _Damaged:
                    continue  # its ticks are named
            for offset in offsets.tolist():
                if offset + _MESSAGE > len(data):
                    continue
                _, length = _RECORD.unpack_from(data, offset)
                (tick,) = struct.unpack_from("<I", data, offset + _RECORD.size + 2)
                yield tick, data[offset + _MESSAGE : offset + _RECORD.size + length]


def _records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Opcode, place and length of the content of each record of a chunk."""
    place = 0
    while place + _RECORD.size <= len(data):
        opcode, length = _RECORD.unpack_from(data, place)
        place += _RECORD.size
        if place + length > len(data):
            return
        yield opcode, place, length
        place += length


def _text(message: bytes) -> str:
    """Of a std_msgs/String."""
    return message[len(HEADER) + 4 : -1].decode(errors="replace")
