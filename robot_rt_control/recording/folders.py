"""Where the files of runs are, and how they are named."""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path


def state_folder(what: str) -> Path:
    """Folder of "faults", "recordings" or "pictures": $ROBOT_RT_CONTROL_FAULTS (…RECORDINGS, …PICTURES), else in the
    user's folder for program state; a user without a home has it in the folder for temporary files."""
    given = os.environ.get(f"ROBOT_RT_CONTROL_{what.upper()}")
    if given:
        return Path(given)
    base = os.environ.get("XDG_STATE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".local" / "state") / "robot_rt_control" / what
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"robot_rt_control-{os.getuid()}" / what


def file_word(name: str) -> str:
    """A workcell's name as part of a file's name."""
    return re.sub(r"\W+", "_", name)


def file_stem(name: str) -> str:
    """Begin of the names of this process's files, as of now."""
    return file_word(name) + time.strftime(f"_%Y%m%d-%H%M%S_{os.getpid()}")
