"""What was asked for beside runs, or refused: who, when, what."""

from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path

from robot_rt_control.blueprint.graph.events import Moment
from robot_rt_control.vocabulary.private_files import make_private, private

COMMANDS_FILE = "commands.log"
"""JSON lines: every command, whether it started something or not."""
_BYTES = 1_000_000
"""Then it becomes `commands.old`, and a new one begins."""
_writing = threading.Lock()
"""Services and runs have threads of their own: of two, one would move the other's file, or take its line back."""


def note(folder: Path, moment: Moment, at: str, what: str, source: str, content: str, **more: str) -> None:
    """Add a line.

    Args:
        folder: of the logs.
        at: the date and time.

    Raises:
        OSError: it cannot be written; nothing of it is there.
    """
    path = folder / COMMANDS_FILE
    line = {"tick": moment.tick, "time": moment.time, "at": at, "what": what, "source": source, "content": content}
    data = (json.dumps(line | more) + "\n").encode()
    with _writing:
        make_private(folder)
        if path.exists() and path.stat().st_size > _BYTES:
            path.replace(path.with_suffix(".old"))
        with open(path, "ab", buffering=0, opener=private) as file:
            end = file.seek(0, os.SEEK_END)
            if file.write(data) < len(data):  # a nearly full disk takes a part, after which no line could be read
                file.truncate(end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
