"""A small file system of its own, which can really be filled."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import TracebackType

from bench.attack.attack import NotRun

_MOUNT = 'mount -t tmpfs -o "size=$1,nr_inodes=$2,mode=700" tmpfs "$0" && echo mounted && exec cat'
"""It is there until the standard input ends: nothing is left if this process dies."""


class SmallDisk:
    """A file system in memory, mounted in namespaces of a process that holds it: no rights are needed where the kernel
    lets users make namespaces. It is reached through that process (`folder`). A context manager.

    Args:
        place: an empty folder to mount it at; nothing may ever be in it.
        size: [bytes]
        files: that it can have.

    Raises:
        NotRun: the machine does not let this user make one.
    """

    def __init__(self, place: Path, *, size: int, files: int) -> None:
        command = ["unshare", "-Urm", "sh", "-c", _MOUNT, str(place), str(size), str(files)]
        try:
            self._holder = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
        except OSError as error:
            raise NotRun(f"no small file system can be made: {error}") from None
        assert self._holder.stdout is not None
        said = self._holder.stdout.readline()
        if said != b"mounted\n":
            said += self._holder.communicate()[0]
            raise NotRun(f"no small file system can be made; `{' '.join(command[:2])}` says: {said.decode().strip()}")
        self._place, self.folder = place, Path(f"/proc/{self._holder.pid}/root{place}")
        made = os.statvfs(self.folder)
        assert made.f_blocks * made.f_frsize <= size + made.f_frsize, "this is not the small file system"
        self._ballast = os.open(self.folder / "ballast", os.O_RDWR | os.O_CREAT, 0o600)
        self._empty: list[Path] = []

    def __enter__(self) -> SmallDisk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._ballast)
        self._holder.communicate()
        assert not list(self._place.iterdir()), "something was written past the small file system"

    @property
    def room(self) -> int:
        """[bytes] that are free."""
        now = os.statvfs(self.folder)
        return now.f_bavail * now.f_frsize

    def leave(self, room: int) -> None:
        """Let so much be free [bytes], if that is possible: only what this object holds can be given back."""
        size = max(os.fstat(self._ballast).st_size + self.room - room, 0)
        os.ftruncate(self._ballast, min(size, os.fstat(self._ballast).st_size))
        if size:
            os.posix_fallocate(self._ballast, 0, size)

    def leave_files(self, count: int) -> None:
        """Let so many files be possible, likewise."""
        while self._empty and os.statvfs(self.folder).f_favail < count:
            self._empty.pop().unlink()
        for number in range(len(self._empty), len(self._empty) + os.statvfs(self.folder).f_favail - count):
            self._empty.append(self.folder / f"empty{number}")
            self._empty[-1].touch()

    def clear(self) -> None:
        """Let everything be free that others do not use."""
        os.ftruncate(self._ballast, 0)
        while self._empty:
            self._empty.pop().unlink()
