"""The marker of real-time code, which also compiles it.

`@realtime` marks a function that may run in the tick: it is compiled by Numba, releases the GIL,
and may not allocate, raise, lock, print or call Python. CI checks every marked function for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from robot_rt_control.native.realtime_compiler import OPTIONS, RealtimeFunction

_Function = TypeVar("_Function", bound=Callable[..., Any])

MARKED: list[Any] = []
"""Every function marked with `@realtime` or `@inlined`, for the checker."""


def realtime(function: _Function) -> _Function:
    """Mark and compile a function that may run in the tick.

    Division by zero gives inf or nan (as in NumPy). Indices are not checked here; set
    NUMBA_BOUNDSCHECK=1 to check them in tests. User code is always compiled with bounds checks.
    With NUMBA_DISABLE_JIT=1 the function stays plain Python, the interpreted twin.
    """
    return _marked(function)


def inlined(function: _Function) -> _Function:
    """Like `@realtime`, and always inlined into its caller; use it for functions that innermost loops call."""
    return _marked(function, forceinline=True)


def _marked(function: _Function, **options: bool) -> _Function:
    if numba.config.DISABLE_JIT:
        compiled: Any = function
    else:
        compiled = RealtimeFunction(function, targetoptions=OPTIONS | options)
    MARKED.append(compiled)
    return compiled
