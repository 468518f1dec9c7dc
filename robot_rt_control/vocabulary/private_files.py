"""Files of this user alone: made so, and trusted only if nobody else can have written them."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from functools import lru_cache
from pathlib import Path

from robot_rt_control.vocabulary.errors import RobotControlError

_LINKS = 40
"""Links that a path may lead over, as in the kernel."""


def make_private(folder: Path) -> Path:
    """Make a folder, and those above it that are missing, for this user alone. What exists keeps its mode.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def private(path: str, flags: int) -> int:
    """An `opener` for `open`: a file that it makes is for this user alone, whatever the umask."""
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def foreign_hand(path: Path) -> str:
    """Who else can have written what is at a path, or put something else there; empty: nobody.

    Looks at the file or folder, and at each folder and link that leads to it. Those above may also belong to root. In a
    folder with the sticky bit, such as /tmp, others can make files, but neither replace nor remove those of this user.

    Raises:
        OSError: there is nothing, or it may not be looked at.
    """
    waiting, here, links = list(reversed(Path(os.path.join(os.getcwd(), path)).parts[1:])), Path("/"), 0
    while waiting:
        name = waiting.pop()
        if name == "..":
            here = here.parent
            continue
        here /= name
        status = os.lstat(here)
        if found := _foreign(here, status, owner=not waiting):
            return found
        if stat.S_ISLNK(status.st_mode):
            if (links := links + 1) > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            target = Path(os.readlink(here))
            here = here.parent
            if target.is_absolute():
                here, target = Path("/"), target.relative_to("/")
            waiting += reversed(target.parts)
    return ""


def _foreign(path: Path, status: os.stat_result, *, owner: bool) -> str:
    """Who else can change one file, folder or link; empty: nobody.

    Args:
        owner: whether it has to belong to this user; otherwise root may own it as well.
    """
    own = os.geteuid()
    if status.st_uid != own and (owner or status.st_uid != 0):
        return f"{path} belongs to {_name(status.st_uid)}"
    mode = status.st_mode
    if stat.S_ISLNK(mode) or (stat.S_ISDIR(mode) and mode & stat.S_ISVTX and not owner):
        return ""
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _only_own(status.st_gid)):
        return f"{path} can be written by others (mode {stat.S_IMODE(mode):o})"
    return ""


def _name(uid: int) -> str:
    try:
        return f"user {pwd.getpwuid(uid).pw_name!r}"
    except KeyError:
        return f"user {uid}"


@lru_cache
def _only_own(gid: int) -> bool:
    """Whether a group is this user's private one, as many distributions make it, with a umask of 002."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and gid == user.pw_gid and set(group.gr_mem) <= {user.pw_name}


def check_own(path: Path, what: str, hint: str) -> None:
    """Refuse what another user can have written.

    Args:
        what: it is, for the message.
        hint: what to do.

    Raises:
        RobotControlError: somebody else can have written it, or it cannot be looked at.
    """
    try:
        found = foreign_hand(path)
    except OSError as error:
        found = f"{path}: {error.strerror}"
    if found:
        raise RobotControlError(
            f"{what} {path} could have been written by another user",
            expected=f"it and each folder above owned by {_name(os.geteuid())}, or above by root, and closed to others",
            got=found,
            hint=hint,
        )


def read_own(path: Path, what: str, hint: str) -> bytes:
    """The content of a file in a folder that `check_own` has seen.

    Raises:
        RobotControlError: another user can have written it.
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        # The folder is this user's: a link in it, and its target, are seen by what they lead to.
        if found := _foreign(path, os.fstat(file.fileno()), owner=True):
            raise RobotControlError(
                f"{what} {path} could have been written by another user",
                expected=f"a file owned by {_name(os.geteuid())} and writable by no other user",
                got=found,
                hint=hint,
            )
        return file.read()
