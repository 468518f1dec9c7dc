"""What was found on a machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    """It works, but a real-time loop will be late at times, or something optional is missing."""
    PROBLEM = "problem"
    """Something will not work, or the loop gets no real-time thread."""


@dataclass(frozen=True)
class Finding:
    """One finding."""

    name: str
    """What was examined."""
    level: Level
    seen: str
    why: str = ""
    """Why it matters; empty if it is in order."""
    mend: str = ""
    """What to do."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where the findings look; tests replace it.

    Args:
        root: of the file system.
        environment: variables of the process.
        take_fifo: tries to get this priority of SCHED_FIFO for a thread; returns the system's refusal, empty: granted.
        free_bytes: of the file system that holds a folder.
        writable: whether this user may write into a folder.
        importable: whether Python finds a package.
        find_program: the path of a program; None: it is not installed.
    """

    root: Path
    environment: Mapping[str, str]
    take_fifo: Callable[[int], str]
    free_bytes: Callable[[Path], int]
    writable: Callable[[Path], bool]
    importable: Callable[[str], bool]
    find_program: Callable[[str], str | None]

    def read(self, path: str) -> str:
        """The text of a file, without blanks at its ends; empty: it cannot be read."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return ""
