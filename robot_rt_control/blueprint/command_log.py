"""What was asked for beside runs, or refused: who, when, what."""

from __future__ import annotations

import json
from pathlib import Path

from robot_rt_control.blueprint.events import Moment
from robot_rt_control.vocabulary.private_files import make_private, private

COMMANDS_FILE = "commands.log"
"""JSON lines: every command, whether it started something or not."""
_BYTES = 1_000_000
"""Then it becomes `commands.old`, and a new one begins."""


def note(folder: Path, moment: Moment, at: str, what: str, source: str, content: str, **more: str) -> None:
    """Add a line.

    Args:
        folder: of the logs.
        at: the date and time.

    Raises:
        OSError: it cannot be written.
    """
    path = folder / COMMANDS_FILE
    line = {"tick": moment.tick, "time": moment.time, "at": at, "what": what, "source": source, "content": content}
    make_private(folder)
    if path.exists() and path.stat().st_size > _BYTES:
        path.replace(path.with_suffix(".old"))
    with open(path, "a", encoding="utf-8", opener=private) as file:
        file.write(json.dumps(line | more) + "\n")
