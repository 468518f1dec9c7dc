"""The folder of plans that the node made: how they are called, and which of them are kept."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"\d{8}_\d{6}_\d{6}\.plan")


def new_plan_file(folder: Path) -> Path:
    """A name that no other plan in the folder has; those of later plans come later in the alphabet."""
    seconds, rest = divmod(time.time_ns(), 10**9)
    return folder / f"{time.strftime('%Y%m%d_%H%M%S', time.localtime(seconds))}_{rest // 1000:06d}.plan"


def delete_old(folder: Path, keep: int, in_use: Collection[Path | str] = ()) -> None:
    """Delete all but the newest plans with such a name; other files stay, and so do those in use.

    Args:
        keep: so many stay; 0: all.
    """
    if keep <= 0:
        return
    used = {os.path.realpath(os.path.expanduser(file)) for file in in_use}
    plans = sorted(file for file in folder.glob("*.plan") if _NAME.fullmatch(file.name))
    for file in plans[:-keep]:
        if os.path.realpath(file) not in used:
            with suppress(OSError):  # another one has deleted it, or nobody may
                file.unlink()
