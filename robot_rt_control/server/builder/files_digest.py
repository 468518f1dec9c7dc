"""Whether the files of an action type are still those that were built."""

from __future__ import annotations

import hashlib
import types

from robot_rt_control.native.module_digest import module_digest
from robot_rt_control.server.builder.source import user_modules


def files_digest(module: types.ModuleType) -> str:
    """Digest of the code in a module's file, and in all files of the user's own that it uses.

    Args:
        module: imported.

    Returns:
        64 hexadecimal digits. Comments and docstrings do not count.
    """
    digests = [str(module_digest(m.__name__, imports=False)) for m in user_modules(module)]
    return hashlib.sha256("".join(digests).encode()).hexdigest()
