"""Messages in CDR, as ROS 2 encodes them: little endian, each number at a multiple of its size."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Self

HEADER = b"\x00\x01\x00\x00"
"""Begin of each message; alignment counts from its end."""


class Cdr:
    """Builds one message, field by field."""

    def __init__(self) -> None:
        self._data = bytearray(HEADER)

    def number(self, code: str, value: float) -> Self:
        """A number of this code of `struct`: i, I, q, d."""
        self.align(struct.calcsize(code))
        self._data += struct.pack(f"<{code}", value)
        return self

    def align(self, size: int) -> int:
        """Pad to a multiple of `size`. Returns the place of the next byte in the message."""
        self._data += bytes(-(len(self._data) - len(HEADER)) % size)
        return len(self._data)

    def stamp(self, time_ns: int) -> Self:
        """A builtin_interfaces/Time."""
        return self.number("i", time_ns // 10**9).number("I", time_ns % 10**9)

    def text(self, text: str) -> Self:
        """A string."""
        data = text.encode() + b"\x00"
        self.number("I", len(data))
        self._data += data
        return self

    def texts(self, texts: Sequence[str]) -> Self:
        """A string[]."""
        self.number("I", len(texts))
        for text in texts:
            self.text(text)
        return self

    def floats(self, values: Iterable[float]) -> Self:
        """A float64[]."""
        values = list(values)
        self.number("I", len(values))
        for value in values:
            self.number("d", value)
        return self

    def data(self, data: bytes) -> Self:
        """A uint8[]."""
        self.number("I", len(data))
        self._data += data
        return self

    def finish(self) -> bytes:
        """The message."""
        return bytes(self._data)
