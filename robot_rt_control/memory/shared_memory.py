"""Named shared-memory segments with one owner: created with mode 0600, stale ones recovered, a second owner refused.

The owner holds an exclusive `flock` on the segment's file while it runs. The kernel releases it when the process
ends for any reason. So a segment without a lock is stale; no guess from process ids is needed.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
import time
from pathlib import Path

from robot_rt_control.vocabulary.errors import ChannelError

_FOLDER = Path("/dev/shm")
_LOCK_ATTEMPTS = 4
_MADV_POPULATE_WRITE = 23
"""Of Linux since 5.14; the module mmap does not name it."""


def process_start(pid: int) -> int:
    """Start time of a process in clock ticks since boot, because a pid can be reused; 0: there is no such process."""
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


def _whole_file(lock: int) -> bytes:
    """A `struct flock`. These locks are independent of the owner's `flock`."""
    return struct.pack("hhqqi4x", lock, os.SEEK_SET, 0, 0, 0)


def _is_file_at(descriptor: int, path: Path) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _remove_stale(name: str, path: Path) -> None:
    """Remove the segment of a dead owner; refuse if the owner is running."""
    try:
        old = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    except PermissionError as error:
        raise ChannelError(
            f"shared-memory segment {name!r} belongs to another user", hint=f"Remove {path} or choose another name"
        ) from error
    try:
        for attempt in range(_LOCK_ATTEMPTS):
            try:
                fcntl.flock(old, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # The lock may belong to a user that checks whether the owner is running; such a lock is short.
                if attempt == _LOCK_ATTEMPTS - 1:
                    raise ChannelError(
                        f"shared-memory segment {name!r} is owned by a running process",
                        expected="one owner",
                        hint="Stop the other process, or give this one another name or namespace",
                    ) from None
                time.sleep(0.005)
        if _is_file_at(old, path):  # else another process has removed it, under its lock
            path.unlink()
    finally:
        os.close(old)


class Segment:
    """A mapped segment. `buffer` stays valid until `close`.

    All of it is in memory and mapped from the start, so that a real-time thread meets no page faults. What is spare at
    its end has no memory until one of its users commits it, and pages only in processes that did.
    """

    def __init__(self, name: str, descriptor: int, size: int, owner: bool, spare: int = 0) -> None:
        self.name, self.owner, self.size = name, owner, size
        self._descriptor = descriptor
        self.buffer = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED)
        self._populate(0, size - spare)

    @classmethod
    def create(cls, name: str, size: int, *, spare: int = 0) -> Segment:
        """Create a segment as its owner. A stale segment with this name is removed first.

        Args:
            size: [bytes]
            spare: that many of them, at the end, are left for `commit`.

        Raises:
            ChannelError: a running process owns it, or the folder is not writable.
        """
        path = segment_path(name)
        while True:
            _remove_stale(name, path)
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue  # another process was faster: is it running?
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                # Between the two calls the file had no lock: another process may have removed it as stale.
                if not _is_file_at(descriptor, path):
                    os.close(descriptor)
                    continue
                os.ftruncate(descriptor, size)
                # A full /dev/shm must fail here, not at a later access.
                os.posix_fallocate(descriptor, 0, size - spare)
                return cls(name, descriptor, size, owner=True, spare=spare)
            except OSError as error:
                path.unlink(missing_ok=True)
                os.close(descriptor)
                raise ChannelError(f"shared-memory segment {name!r}: {size} bytes", got=str(error)) from error

    @classmethod
    def attach(cls, name: str, size: int, *, tail: bool = False, spare: int = 0) -> Segment:
        """Map an existing segment of a running owner.

        Args:
            size: [bytes]
            spare: as for `create`.
            tail: whether the segment may be larger; then all of it is mapped.

        Raises:
            ChannelError: it does not exist, its owner is dead, or it has another size.
        """
        path = segment_path(name)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise ChannelError(
                f"shared-memory segment {name!r} cannot be opened", got=str(error), hint="Start its owner first"
            ) from error
        found = os.fstat(descriptor).st_size
        if found < size or (found > size and not tail):
            os.close(descriptor)
            raise ChannelError(
                f"shared-memory segment {name!r} has another layout",
                expected=f"{size} bytes",
                got=f"{found}",
                hint="Run the same version of robot_rt_control on both sides",
            )
        segment = cls(name, descriptor, found, owner=False, spare=spare)
        if not segment.owner_alive():
            segment.close()
            raise ChannelError(
                f"shared-memory segment {name!r} was left behind by a dead process", hint="Start its owner"
            )
        return segment

    def commit(self, begin: int, end: int) -> None:
        """Give spare bytes from `begin` to before `end` their memory, and this process their pages. What is committed
        stays so. Not for a real-time thread.

        Raises:
            ChannelError: /dev/shm is full.
        """
        try:
            os.posix_fallocate(self._descriptor, begin, end - begin)
        except OSError as error:
            raise ChannelError(
                f"shared-memory segment {self.name!r}: {end - begin} bytes more",
                got=str(error),
                hint=f"Free memory, or what fills {_FOLDER}",
            ) from error
        self._populate(begin, end)

    def _populate(self, begin: int, end: int) -> None:
        page = begin - begin % mmap.PAGESIZE
        if end <= page:
            return
        try:
            self.buffer.madvise(_MADV_POPULATE_WRITE, page, end - page)
        except OSError:  # an older kernel: to read each page maps it, and what is left of a fault at a write is short
            for place in range(page, end, mmap.PAGESIZE):
                self.buffer[place]

    @property
    def descriptor(self) -> int:
        """Descriptor of the file, for a process that inherits it."""
        return self._descriptor

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

    def claim_user(self) -> bool:
        """Become the one user beside the owner, until `close` or the process ends. False: there is another user."""
        try:
            fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_WRLCK))
        except BlockingIOError:
            return False
        return True

    def user_alive(self) -> bool:
        """Whether another process, or another attachment of this one, holds what `claim_user` claims."""
        found = fcntl.fcntl(self._descriptor, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_WRLCK))
        return int(struct.unpack_from("h", found)[0]) != fcntl.F_UNLCK

    def close(self) -> None:
        """Unmap; the owner also removes the segment. Array views of the buffer must be gone, else it stays mapped."""
        if self._descriptor < 0:
            return
        if self.owner:
            segment_path(self.name).unlink(missing_ok=True)
        # Unlock explicitly: the mapping keeps a descriptor, and thereby the locks, while a view exists.
        fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_UNLCK))
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        os.close(self._descriptor)
        self._descriptor = -1
        # If a view still exists, the mapping ends with the last view or with the process.
        with contextlib.suppress(BufferError):
            self.buffer.close()
