"""What only the compiler needs of a module, registered once the compiler is loaded.

A process that finds all its native code in the cache never loads it: that saves half a second and 50 MB.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

OPTIONS: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
"""Of the compiler, for real-time code."""

_waiting: list[Callable[[], None]] = []


def compiled_form(register: Callable[[], None]) -> Callable[[], None]:
    """Call a function, which takes no arguments, when the compiler is loaded; at once if it is. As a decorator.

    Nothing is registered for the interpreted twin.
    """
    if not interpreted():
        _waiting.append(register)
        if "numba" in sys.modules:
            compiler_is_loaded()
    return register


def compiler_is_loaded() -> None:
    """Register what waits. Numba must be importable: called by whatever has imported it."""
    while _waiting:
        _waiting.pop(0)()


def interpreted() -> bool:
    """Whether functions stay plain Python: NUMBA_DISABLE_JIT=1."""
    numba = sys.modules.get("numba")
    if numba is not None and hasattr(numba, "config"):
        return bool(numba.config.DISABLE_JIT)
    return os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0")
