"""The operator's secret: a file of mode 0600 beside the channel, for the tools of the executor's user.

Who can read it may speed up and release protective stops that need no secret of their own. Each executor makes a new
one, and removes it at its end. It is never logged or published.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from robot_rt_control.memory.segment_names import channel_name, operator_file_name
from robot_rt_control.memory.shared_memory import segment_path

_BYTES = 16


def new_secret() -> str:
    """128 bits in hexadecimal digits."""
    return secrets.token_hex(_BYTES)


def write_operator_secret(channel: str, secret: str) -> Path:
    """Write it to a new file beside the channel of this name; one of an earlier executor gives way.

    Raises:
        OSError: it cannot be written: the name belongs to another user, or the disk is full.
    """
    path = segment_path(operator_file_name(channel))
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
    return path


def read_operator_secret(namespace: str) -> str:
    """That of the workcell in this namespace of ROS_DOMAIN_ID; empty: there is none on this machine, for this user."""
    path = segment_path(operator_file_name(channel_name(namespace, os.environ.get("ROS_DOMAIN_ID", "0"))))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(descriptor) as file:
        status = os.fstat(descriptor)
        if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077 or not stat.S_ISREG(status.st_mode):
            return ""  # planted by another user: it would learn whatever is sent with it
        return file.read(4 * _BYTES)
