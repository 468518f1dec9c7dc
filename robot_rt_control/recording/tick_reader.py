"""Reading recorded ticks."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mcap.exceptions import InvalidMagic, McapError
from mcap.records import Channel, Message, Metadata
from mcap.stream_reader import StreamReader
from zstandard import ZstdError

from robot_rt_control.recording.cdr import HEADER
from robot_rt_control.recording.columns import Column, split_rows
from robot_rt_control.recording.tick_writer import ABOUT, END, EVENTS, FORMAT, INPUTS, TICKS
from robot_rt_control.vocabulary.errors import RobotControlError

_ROW = len(HEADER) + 8
"""Place of the row in a message on /ticks."""
_ROWS = 512
_FAILURES: Mapping[type[Exception], str] = {FileNotFoundError: "no such file", InvalidMagic: "a file of another kind"}


@dataclass(frozen=True)
class Input:
    """What came from outside the loop and took effect in a tick."""

    tick: int
    kind: str
    data: bytes


class TickFile:
    """A file of ticks. It is read from its begin each time, so it may still be written, or lack its end.

    Raises:
        RobotControlError: it does not exist, or is no such file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        found = next((r for r in self._records() if isinstance(r, Metadata)), None)
        is_ours = found is not None and found.name == ABOUT
        self.about: dict[str, Any] = metadata_values(found.metadata) if found is not None and is_ours else {}
        if self.about.get("format") != FORMAT:
            got = repr(self.about.get("format")) if self.about else "another file"
            raise RobotControlError(f"recording {self.path}", expected=f"format {FORMAT}", got=got)
        self.columns = [Column(**column) for column in self.about["columns"]]

    def end(self) -> Mapping[str, Any]:
        """How it ended: `reason`, and what else the writer knew; empty: it was not ended."""
        found = [r for r in self._records(emit_chunks=True) if isinstance(r, Metadata) and r.name == END]
        return metadata_values(found[-1].metadata) if found else {}

    def rows(self) -> Iterator[np.ndarray]:
        """The ticks: int64 of shape (n, width of all columns), some at a time."""
        waiting: list[bytes] = []
        for data in self._messages(TICKS):
            waiting.append(data)
            if len(waiting) == _ROWS:
                yield _as_rows(waiting)
                waiting = []
        if waiting:
            yield _as_rows(waiting)

    def arrays(self) -> dict[str, np.ndarray]:
        """Column → its values in all ticks."""
        blocks = list(self.rows())
        rows = np.concatenate(blocks) if blocks else np.zeros((0, sum(c.width for c in self.columns)), np.int64)
        return split_rows(rows, self.columns)

    def events(self) -> Iterator[bytes]:
        """The events' messages."""
        return self._messages(EVENTS)

    def inputs(self) -> Iterator[Input]:
        """What came from outside the loop, in order."""
        for data in self._messages(INPUTS):
            tick, length = struct.unpack_from("<qI", data, _ROW)
            place = _ROW + 12
            kind = data[place : place + length - 1].decode()
            place += length + -(place + length - len(HEADER)) % 4 + 4
            yield Input(tick, kind, data[place:])

    def _messages(self, topic: str) -> Iterator[bytes]:
        numbers = set()
        for record in self._records():
            if isinstance(record, Channel) and record.topic == topic:
                numbers.add(record.id)
            elif isinstance(record, Message) and record.channel_id in numbers:
                yield record.data

    def _records(self, emit_chunks: bool = False) -> Iterator[Any]:
        begun = False
        try:
            with self.path.open("rb") as file:
                try:
                    for record in StreamReader(file, emit_chunks=emit_chunks, validate_crcs=True).records:
                        begun = True
                        yield record
                except (McapError, ZstdError, ValueError, struct.error):
                    if not begun or file.read(1):
                        raise  # else the file ends within a record: its writer did not come to its end
        except (OSError, McapError, ZstdError, ValueError, struct.error) as error:
            raise RobotControlError(
                f"recording {self.path}",
                expected="a file of recorded ticks (.mcap)",
                got=_FAILURES.get(type(error), f"{type(error).__name__}: {error}"),
                hint="Events such as part_faulted give the path of their log, on the executor's machine",
            ) from error


@dataclass(frozen=True)
class RecordedEvent:
    """A message on /events."""

    tick: int
    kind: str
    reason: str
    part: str
    session: str
    previous_action: str
    current_action: str
    reaction: int
    """Its identity; 0: none."""
    status: int
    values: tuple[float, ...]


def read_event(message: bytes) -> RecordedEvent:
    """An event from its message. Raises struct.error, UnicodeDecodeError: it is none."""
    (tick,) = struct.unpack_from("<q", message, _ROW)
    words: list[str] = []
    place = _ROW + 8
    while len(words) < 6:
        place += -(place - len(HEADER)) % 4
        (length,) = struct.unpack_from("<I", message, place)
        words.append(message[place + 4 : place + 3 + length].decode())
        place += 4 + length
    place += -(place - len(HEADER)) % 8
    reaction, status, n = struct.unpack_from("<qqI", message, place)
    place += 20 + -(place + 20 - len(HEADER)) % 8
    values = struct.unpack_from(f"<{n}d", message, place) if n else ()
    kind, reason, part, session, previous, current = words
    return RecordedEvent(tick, kind, reason, part, session, previous, current, reaction, status, values)


def event_text(message: bytes) -> str:
    """The words of a message on /events, on one line; "none": there is no message."""
    if not message:
        return "none"
    event = read_event(message)
    words = (event.kind, event.reason, event.part, event.session, event.previous_action, event.current_action)
    return " ".join(filter(None, words)) or "none"


def metadata_values(texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of a file's metadata, which are texts or JSON."""
    found = {}
    for name, text in texts.items():
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def _as_rows(messages: list[bytes]) -> np.ndarray:
    block = np.frombuffer(b"".join(messages), np.uint8).reshape(len(messages), -1)
    return np.ascontiguousarray(block[:, _ROW:]).view(np.int64)
