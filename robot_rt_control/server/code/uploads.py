"""Texts of action types that clients have sent: their files here, and the clients' names for them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robot_rt_control.native.cache_folder import cache_root, own_folder
from robot_rt_control.processes.errors import described
from robot_rt_control.vocabulary.errors import CompileError, DefinitionError
from robot_rt_control.vocabulary.private_files import private

_names: dict[str, str] = {}
"""Path of an upload → file that its client named."""
_FILE_NAME = re.compile(r"[A-Za-z0-9_]{1,60}\.py")


def _folder() -> Path:
    return cache_root().resolve() / "uploads"


def write_upload(data: bytes, file: str) -> Path:
    """Write a text that a client has sent to a file of its own.

    Args:
        file: its name where it was written, on any operating system; messages name it.

    Raises:
        RobotControlError: another user can have written in the cache.
    """
    name = re.split(r"[/\\]", file)[-1]
    folder = own_folder(_folder(), make=True) / hashlib.sha256(file.encode() + b"\0" + data).hexdigest()[:16]
    path = own_folder(folder, make=True) / (name if _FILE_NAME.fullmatch(name) else "code.py")
    path.unlink(missing_ok=True)  # no matter who wrote it
    with open(path, "xb", opener=private) as written:
        written.write(data)
    _names[str(path)] = file
    return path


def shown(text: str) -> str:
    """A text with the clients' names of uploaded files in place of their paths here."""
    path = rf"{re.escape(str(_folder()))}/[0-9a-f]{{16}}/\w+\.py"
    return re.sub(path, lambda found: _names.get(found[0], found[0]), text)


@contextmanager
def shown_errors() -> Iterator[None]:
    """What is refused inside names clients' files, see `shown`."""
    try:
        yield
    except (CompileError, DefinitionError) as error:
        fields = described(error)
        named = {name: shown(text) for name, text in fields.items()}
        if named == fields:
            raise
        raise type(error)(**named) from None
