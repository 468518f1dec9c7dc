"""The marker of real-time code, which also compiles it.

`@realtime` marks a function that may run in the tick: it is compiled by Numba, releases the GIL,
and may not allocate, raise, lock, print or call Python. CI checks every marked function for that.

Numba is loaded at the first use of a marked function that needs it: by compiled code, or by a call from Python. Calls
of an `@entry` find their native code in the cache without it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from robot_rt_control.native.compiled_forms import OPTIONS, interpreted
from robot_rt_control.native.entries import python_call

_Function = TypeVar("_Function", bound=Callable[..., Any])

MARKED: list[Any] = []
"""Every function marked with `@realtime`, `@inlined` or `@entry`, for the checker."""


class MarkedFunction:
    """A function that is compiled on first use: `dispatcher` is what Numba knows of it, and has its attributes."""

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, py_func)
        self.py_func = py_func
        self.targetoptions = OPTIONS | options

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The compiled function, for the compiler."""
        from robot_rt_control.native.realtime_compiler import RealtimeFunction

        return RealtimeFunction(self.py_func, targetoptions=self.targetoptions)

    @property
    def _numba_type_(self) -> Any:
        """By this, Numba takes the name of this object in compiled code for its dispatcher."""
        return self.dispatcher._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # those of protocols, for which Python and NumPy look at any object
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


class _Entry(MarkedFunction):
    """Called from Python without the compiler, if its native code is in the cache."""

    def __init__(self, py_func: Callable[..., Any], keeps_gil: bool) -> None:
        super().__init__(py_func, {})
        self._keeps_gil = keeps_gil

    @functools.cached_property
    def native(self) -> Callable[..., Any]:
        """The native code, loaded at the first call."""
        return python_call(
            self.py_func.__module__,
            self.py_func.__qualname__,
            self.py_func.__code__.co_argcount,
            returns=self.py_func.__annotations__["return"] not in (None, "None"),
            keeps_gil=self._keeps_gil,
        )

    def __call__(self, *arguments: Any) -> Any:
        return self.native(*map(int, arguments))  # NumPy's integers are none for ctypes


def realtime(function: _Function) -> _Function:
    """Mark and compile a function that may run in the tick.

    Division by zero gives inf or nan (as in NumPy). Indices are not checked here; set
    NUMBA_BOUNDSCHECK=1 to check them in tests. User code is always compiled with bounds checks.
    With NUMBA_DISABLE_JIT=1 the function stays plain Python, the interpreted twin.
    """
    return _marked(function, lambda: MarkedFunction(function, {}))


def inlined(function: _Function) -> _Function:
    """Like `@realtime`, and always inlined into its caller; use it for functions that innermost loops call."""
    return _marked(function, lambda: MarkedFunction(function, {"forceinline": True}))


def entry(function: _Function) -> _Function:
    """Like `@realtime`, for a short function at module level of integers that Python calls as well.

    It returns an integer or None, as its annotation says. A call keeps the GIL: releasing it for such a short time may
    cost milliseconds if other threads are busy.
    """
    return _marked(function, lambda: _Entry(function, keeps_gil=True))


def blocking_entry(function: _Function) -> _Function:
    """Like `@entry`, for a function that takes long or sleeps: a call releases the GIL."""
    return _marked(function, lambda: _Entry(function, keeps_gil=False))


def _marked(function: _Function, make: Callable[[], Any]) -> _Function:
    marked: Any = function if interpreted() else make()
    MARKED.append(marked)
    return marked
