"""Files of machine code in the cache, each with its digest."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

from robot_rt_control.native.cache_folder import own_folder, read_code

KEPT_S = 30 * 24 * 3600.0
"""[s] What has not been used for this time is removed when something is compiled."""


def object_in(file: Path) -> bytes | None:
    """The machine code in a file of the cache; None: it is damaged. Raises FileNotFoundError."""
    content = read_code(file)
    digest, code = content[:32], content[32:]
    if hashlib.sha256(code).digest() != digest:  # the disk was full, or the machine lost power
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # marks it as used
    return code


def write_object(file: Path, code: bytes) -> None:
    """Write machine code to the cache, for `object_in`, and remove what has not been used for long."""
    write_cached(file, hashlib.sha256(code).digest() + code)
    for other in file.parent.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - other.stat().st_mtime > KEPT_S:
                for inner in other.iterdir() if other.is_dir() else ():
                    inner.unlink()
                other.rmdir() if other.is_dir() else other.unlink()


def write_cached(file: Path, content: bytes) -> None:
    """Write a file of the cache, as a whole or not at all."""
    own_folder(file.parent, make=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        part.write(content)
    os.replace(part.name, file)
