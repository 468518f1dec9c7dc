"""Output of several processes on one terminal: each line with its process's name, in its colour."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import TextIO

_COLOURS = (36, 32, 33, 35, 34, 96, 92, 95)
_ALARM = 31


class Console:
    """Writes lines; in colours only on a terminal, and unless NO_COLOR is set.

    Args:
        stream: to write to.
        names: of all processes that will write.
        own: name of the supervisor's own lines.
    """

    def __init__(self, stream: TextIO, names: Iterable[str], own: str = "workcell") -> None:
        self._stream, self._own = stream, own
        all_names = [own, *names]
        self.coloured = stream.isatty() and not os.environ.get("NO_COLOR")
        self._width = max(len(name) for name in all_names)
        self._colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(all_names)}
        self.broken = False
        """The reader has closed the stream."""

    def lines(self, name: str, texts: Iterable[str]) -> None:
        """Lines of a process."""
        prefix = f"[{name}]".ljust(self._width + 2)
        if self.coloured:
            prefix = f"\033[{self._colours[name]}m{prefix}\033[0m"
        self._write("".join(f"{prefix} {text}\n" for text in texts))

    def say(self, text: str) -> None:
        """Progress, from the supervisor."""
        self.lines(self._own, text.split("\n"))

    def alarm(self, text: str) -> None:
        """An error, from the supervisor."""
        if self.coloured:
            text = "\n".join(f"\033[{_ALARM}m{line}\033[0m" for line in text.split("\n"))
        self.say(text)

    def _write(self, text: str) -> None:
        if self.broken:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            self.broken = True
            if self._stream is sys.stdout:
                # Python flushes the buffer at its end; a failure of that must not become the exit code.
                with contextlib.suppress(OSError, ValueError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
