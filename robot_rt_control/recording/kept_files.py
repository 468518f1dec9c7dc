"""Files that give way to newer ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

_MADE = r"_\d{8}-\d{6}_\d+"
"""What `folders.file_stem` puts after a workcell's name: time and process."""
LOG, RECORDING = r"_(\d+|tick_\d+)", r"(-\d+)?"
"""How the names of logs and of recordings of one workcell go on."""


@dataclass(frozen=True, kw_only=True)
class KeptFiles:
    """Files of one kind and one workcell in a folder. Others in it are never touched, whatever their names begin with.

    A file that was left unfinished by a process that was killed is one of them.

    Args:
        name: the workcell's, as `folders.file_word` gives it.
        kind: LOG or RECORDING.
        files: how many are kept.
        size: [bytes] that they have together; None: any.
    """

    folder: Path
    name: str
    kind: str
    files: int
    size: int | None = None

    def give_way(self, newest: Path) -> None:
        """Delete the oldest beyond these bounds, never the newest. What cannot be deleted stays.

        Args:
            newest: one of these. Its time does not show it: the clock may have been set back since the others.
        """
        pattern = re.compile(re.escape(self.name) + _MADE + self.kind + r"\.(mcap|unfinished)")
        total = 0
        found = sorted(self._found(pattern), key=lambda file: (Path(file[2]).name == newest.name, file), reverse=True)
        for number, (_, size, path) in enumerate(found):
            total += size
            if number and (number >= self.files or (self.size is not None and total > self.size)):
                with suppress(OSError):
                    os.unlink(path)

    def _found(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
        """When each was changed last [ns], its size [bytes] and its path."""
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if pattern.fullmatch(entry.name):
                    with suppress(OSError):  # another process may have deleted it
                        status = entry.stat()
                        yield status.st_mtime_ns, status.st_size, entry.path


def free_path(folder: Path, stem: str) -> Path:
    """A path for a recording that no file has: another one may have begun within the same second."""
    candidates = (folder / f"{stem}{f'-{n}' if n > 1 else ''}.mcap" for n in count(1))
    return next(path for path in candidates if not path.exists())
