"""A file that can always be ended properly: it holds room on the disk for its own end."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

RESERVE_BYTES = 4 << 20
"""Room for the last chunk and the index of a recording of some 10 GB."""


class Sink:
    """What a file's writer writes to. If the disk is full, the reserve is used, and `failure` says so.

    The reserve is a file without a name in the same folder, so nothing is left of it if the process dies.

    The file is for this user alone: it shows what a workcell does.

    Raises:
        OSError: the file cannot be made, it exists, or there is no room for the reserve.
    """

    def __init__(self, path: Path, reserve: int = RESERVE_BYTES) -> None:
        self.failure: OSError | None = None
        self._position = 0
        self._reserve = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115  # held as long as this object
        try:
            os.posix_fallocate(self._reserve.fileno(), 0, reserve)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except BaseException:
            self._reserve.close()
            raise

    def write(self, data: bytes) -> int:
        """Write whole records.

        Raises:
            OSError: there is no room in the reserve either; the file ends with the last whole record.
        """
        begin, rest = self._position, memoryview(data)
        while rest:
            try:
                n = self._put(rest)
            except OSError as error:
                if self.failure is not None:
                    os.ftruncate(self._file, begin)
                    raise
                self.failure = error
                self._reserve.close()
                continue
            rest = rest[n:]
            self._position += n
        return len(data)

    def _put(self, data: memoryview) -> int:
        n = os.write(self._file, data)
        if n == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return n

    def tell(self) -> int:
        """Bytes written."""
        return self._position

    def close(self) -> None:
        """Give file and reserve back."""
        os.close(self._file)
        self._reserve.close()
