"""The folders of native code. Files in them are code: they are unpickled, loaded and imported.

So nothing is taken from a folder or file that another user can have written. The same holds for the folder in which
Numba keeps what users' own code caches. This module does not load the compiler.
"""

from __future__ import annotations

import os
from pathlib import Path

from robot_rt_control.vocabulary.private_files import check_own, make_private, read_own

NUMBA_VARIABLE = "NUMBA_CACHE_DIR"
_checked: set[Path] = set()


def cache_root() -> Path:
    """Folder of all native code: $ROBOT_RT_CONTROL_CACHE if set, else the user's cache folder."""
    given = os.environ.get("ROBOT_RT_CONTROL_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "robot_rt_control"


def own_folder(folder: Path, *, make: bool = False) -> Path:
    """A folder with code, checked once in a process.

    Args:
        make: it if it is missing; otherwise a missing one is not looked at.

    Raises:
        RobotControlError: another user can have written in it.
        OSError: it cannot be made.
    """
    if make:
        make_private(folder)
    if folder not in _checked and (make or folder.exists()):
        check_own(
            folder,
            "the cache of compiled code",
            "Delete what others can have written and restrict the folder (chmod go-w), or set ROBOT_RT_CONTROL_CACHE "
            f"(for Numba's own cache: {NUMBA_VARIABLE}) to a folder of your own",
        )
        _checked.add(folder)
    return folder


def read_code(path: Path) -> bytes:
    """The content of a file of the cache.

    Raises:
        RobotControlError: another user can have written it.
        OSError: it cannot be read.
    """
    own_folder(path.parent)
    return read_own(path, "compiled code", f"Delete {path.parent}: it is compiled again")


def users_numba_folder() -> Path:
    """Where Numba keeps what users' code has it cache (`cache=True`): it unpickles its index files without a look.

    Raises:
        RobotControlError: another user can have written in it.
        OSError: it cannot be made.
    """
    folder = own_folder(Path(os.environ.get(NUMBA_VARIABLE) or cache_root() / "users"), make=True)
    for path in folder.rglob("*"):
        check_own(path, "Numba's cache", f"Delete {folder}: what it contains is compiled again")
    return folder
