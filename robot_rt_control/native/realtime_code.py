"""The mark of real-time code, and the place of its compiled form.

`@realtime` marks a function that may run in the tick: it is compiled by Numba, releases the GIL,
and may not allocate, raise, lock, print or call Python. CI checks every marked function for that.

Numba's own cache looks only at the file of the cached function, never at the files of what it
calls. The cache folder is therefore named after a digest of all the sources that are compiled.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

from robot_rt_control.native.realtime_compiler import OPTIONS, RealtimeFunction

_Function = TypeVar("_Function", bound=Callable[..., Any])

_COMPILED_FOLDERS = (
    *("actions", "conditions", "definitions", "hardware", "memory", "model", "motion", "native", "realtime"),
    "vocabulary",
)


def cache_root() -> Path:
    """Folder of all native code: $ROBOT_RT_CONTROL_CACHE, else the user's cache folder."""
    given = os.environ.get("ROBOT_RT_CONTROL_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "robot_rt_control"


def source_digest() -> str:
    """Digest of everything that compiled code depends on: sources, Numba, NumPy."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for folder in _COMPILED_FOLDERS:
        for file in sorted((package / folder).rglob("*.py")):
            digest.update(file.relative_to(package).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


numba.config.CACHE_DIR = str(cache_root() / "numba" / source_digest())

MARKED: list[Any] = []
"""Every function marked with `@realtime` or `@inlined`, for the checker."""


def realtime(function: _Function) -> _Function:
    """Mark and compile a function that may run in the tick.

    Division by zero gives inf or nan (as NumPy does); indices are not checked here: set
    NUMBA_BOUNDSCHECK=1 to check them in tests. Code of users is always compiled with bounds checks.
    With NUMBA_DISABLE_JIT=1 the function stays plain Python: that is the interpreted twin.
    """
    return _marked(function)


def inlined(function: _Function) -> _Function:
    """Like `@realtime`, and always made a part of what calls it: for what innermost loops call."""
    return _marked(function, forceinline=True)


def _marked(function: _Function, **options: bool) -> _Function:
    if numba.config.DISABLE_JIT:
        compiled: Any = function
    else:
        compiled = RealtimeFunction(function, targetoptions=OPTIONS | options)
    MARKED.append(compiled)
    return compiled
