"""Named shared-memory segments with one owner: created with mode 0600, stale ones recovered, a second owner refused.

The owner holds an exclusive `flock` on the segment's file for as long as it lives. The kernel drops it with the
process, however that ends: so a segment without a lock is stale, without any guessing from process ids.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from pathlib import Path

from robot_rt_control.program.errors import ChannelError

_FOLDER = Path("/dev/shm")


def process_start(pid: int) -> int:
    """Start time of a process in clock ticks since boot (a pid alone may be used again); 0: there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[19])


def segment_path(name: str) -> Path:
    """File of a segment.

    Raises:
        ChannelError: the name is not a plain file name.
    """
    if not name or "/" in name or name.startswith("."):
        raise ChannelError("shared-memory segment", expected="a plain file name", got=repr(name))
    return _FOLDER / name


class Segment:
    """A mapped segment. `buffer` stays valid until `close`."""

    def __init__(self, name: str, descriptor: int, size: int, owner: bool) -> None:
        self.name, self.owner, self.size = name, owner, size
        self._descriptor = descriptor
        self.buffer = mmap.mmap(descriptor, size)

    @classmethod
    def create(cls, name: str, size: int) -> Segment:
        """Create a segment as its owner. What a dead owner left behind under this name is removed first.

        Raises:
            ChannelError: a living process owns it, or the folder is not writable.
        """
        path = segment_path(name)
        try:
            old = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            old = -1
        except PermissionError as error:
            raise ChannelError(
                f"shared-memory segment {name!r} belongs to another user", hint=f"Remove {path} or choose another name"
            ) from error
        if old >= 0:
            try:
                fcntl.flock(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ChannelError(
                    f"shared-memory segment {name!r} is owned by a running process",
                    expected="one owner",
                    hint="Stop the other process, or give this one another name or namespace",
                ) from None
            finally:
                os.close(old)
            path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, size)
        return cls(name, descriptor, size, owner=True)

    @classmethod
    def attach(cls, name: str, size: int) -> Segment:
        """Map an existing segment of a living owner.

        Raises:
            ChannelError: there is none, its owner is dead, or it has another size.
        """
        path = segment_path(name)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise ChannelError(
                f"shared-memory segment {name!r} cannot be opened", got=str(error), hint="Start its owner first"
            ) from error
        found = os.fstat(descriptor).st_size
        if found != size:
            os.close(descriptor)
            raise ChannelError(
                f"shared-memory segment {name!r} has another layout",
                expected=f"{size} bytes",
                got=f"{found}",
                hint="Run the same version of robot_rt_control on both sides",
            )
        segment = cls(name, descriptor, size, owner=False)
        if not segment.owner_alive():
            segment.close()
            raise ChannelError(
                f"shared-memory segment {name!r} was left behind by a dead process", hint="Start its owner"
            )
        return segment

    def owner_alive(self) -> bool:
        """Whether the owner still holds its lock."""
        if self.owner:
            return True
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        return False

    def close(self) -> None:
        """Unmap; the owner also removes the segment. Array views of the buffer must be gone, else it stays mapped."""
        if self._descriptor < 0:
            return
        if self.owner:
            segment_path(self.name).unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1
        # Where somebody still holds a view, the mapping goes with the last one, or with the process.
        with contextlib.suppress(BufferError):
            self.buffer.close()
