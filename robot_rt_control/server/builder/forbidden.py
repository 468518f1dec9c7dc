"""What may not stand in real-time code, by name, with what to do instead."""

from __future__ import annotations

import ast
import builtins
import math
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

from robot_rt_control.native import realtime_code

_FIXED_RECORD = "Keep values in fields of fixed size in the state record"
_NON_REALTIME = "Do it in prepare_parameters, which runs without time limits, and pass the result as a parameter"
_STATUS = "Return a non-zero status: it is the action's failure"
_MODULE_LEVEL = "Write a module-level function marked @realtime"
_TEXT = "Real-time code has numbers only: use an int or a Status, and report through state variables"

STATEMENTS: dict[type[ast.AST], tuple[str, str]] = {
    ast.List: ("builds a list", _FIXED_RECORD + ", or use a tuple"),
    ast.Dict: ("builds a dict", _FIXED_RECORD),
    ast.Set: ("builds a set", _FIXED_RECORD),
    ast.ListComp: ("builds a list by a comprehension", "Write a loop over a field of fixed size"),
    ast.SetComp: ("builds a set by a comprehension", "Write a loop over a field of fixed size"),
    ast.DictComp: ("builds a dict by a comprehension", "Write a loop over a field of fixed size"),
    ast.GeneratorExp: ("uses a generator expression", "Write a loop"),
    ast.JoinedStr: ("formats text", _TEXT),
    ast.Raise: ("raises an exception", _STATUS),
    ast.Assert: ("raises an exception (assert)", _STATUS),
    ast.Try: ("handles exceptions", "Nothing in real-time code raises: test the values before"),
    ast.With: ("enters a context manager", _NON_REALTIME),
    ast.Lambda: ("defines a function (lambda)", _MODULE_LEVEL),
    ast.FunctionDef: ("defines a function", _MODULE_LEVEL),
    ast.AsyncFunctionDef: ("defines an async function", _MODULE_LEVEL),
    ast.ClassDef: ("defines a class", _FIXED_RECORD),
    ast.Yield: ("yields", "Real-time code runs to its end in every tick: keep the progress in the state record"),
    ast.YieldFrom: ("yields", "Real-time code runs to its end in every tick: keep the progress in the state record"),
    ast.Await: ("awaits", "Real-time code never waits: look at the state again in the next tick"),
    ast.AsyncFor: ("awaits", "Real-time code never waits: look at the state again in the next tick"),
    ast.AsyncWith: ("awaits", "Real-time code never waits: look at the state again in the next tick"),
    ast.Import: ("imports a module", "Import at the top of the file"),
    ast.ImportFrom: ("imports a module", "Import at the top of the file"),
    ast.Global: ("changes a module variable (global)", _FIXED_RECORD),
    ast.Nonlocal: ("changes a variable of another function (nonlocal)", _FIXED_RECORD),
    ast.Delete: ("deletes", "Leave the variable alone"),
    ast.Match: ("uses match", "Use if and elif"),
}

ALLOWED_BUILTINS = (abs, bool, divmod, enumerate, float, int, len, max, min, pow, range, round, sum, zip)

_BUILTIN_HINTS = {
    "print": ("prints", "Make it a state variable: conditions, events and users can read it"),
    "open": ("opens a file", _NON_REALTIME),
    "input": ("waits for input", "Raise a signal, or set parameters, from outside"),
    "list": ("builds a list", _FIXED_RECORD),
    "dict": ("builds a dict", _FIXED_RECORD),
    "set": ("builds a set", _FIXED_RECORD),
    "sorted": ("builds a list (sorted)", _FIXED_RECORD),
    "str": ("makes text", _TEXT),
    "repr": ("makes text", _TEXT),
    "format": ("makes text", _TEXT),
}

_SYSTEM_MODULES = {
    "time": "Time reaches actions as `part.dt` alone: add it up in the state record",
    "datetime": "Time reaches actions as `part.dt` alone: add it up in the state record",
    "threading": "The tick is one thread: nothing needs a lock, and nothing may wait",
    "multiprocessing": "The tick is one thread: nothing needs a lock, and nothing may wait",
    "asyncio": "The tick is one thread: nothing needs a lock, and nothing may wait",
    "queue": "Give values to actions by parameters, signals and streams",
    "socket": "Give values to actions by parameters, signals and streams",
    "rclpy": "Give values to actions by parameters, signals and streams",
    "random": "Draw the numbers in prepare_parameters: replaying the same commands must give the same motion",
}

_OTHER_MODULES = ("os", "sys", "subprocess", "io", "pathlib", "logging", "ctypes", "shutil", "signal", "json", "pickle")

_BUILT_WITH = {"posix": "os", "_io": "io", "_thread": "threading", "_socket": "socket"}
"""Modules that Python is built with → the ones that users know them by."""

_NUMPY_NAMES = """
zeros ones empty full array asarray ascontiguousarray arange linspace logspace eye identity diag copy
zeros_like ones_like empty_like full_like concatenate stack hstack vstack column_stack append repeat tile
outer cross kron where nonzero argwhere sort argsort unique cumsum cumprod diff roll flip transpose clip
dot vdot inner matmul trace einsum tensordot interp convolve histogram cov corrcoef meshgrid
"""
_NUMPY_ALLOCATING = frozenset(_NUMPY_NAMES.split())

_METHODS = {
    **dict.fromkeys(("copy", "astype", "flatten", "ravel", "reshape", "tolist", "dot", "sort", "argsort"), "array"),
    **dict.fromkeys(("repeat", "transpose", "cumsum", "nonzero", "take", "view", "tobytes"), "array"),
    **dict.fromkeys(("append", "extend", "insert", "pop", "items", "keys", "values", "update"), "container"),
    **dict.fromkeys(("format", "join", "split", "encode", "strip", "replace", "startswith", "lower", "upper"), "text"),
    **dict.fromkeys(("acquire", "release", "wait", "notify", "set", "send", "recv", "put", "get"), "wait"),
}

_METHOD_HINTS = {
    "array": ("makes an array", "Write a loop over the elements, into a field of the state record"),
    "container": ("changes a container", _FIXED_RECORD),
    "text": ("makes text", _TEXT),
    "wait": ("may wait", "Real-time code never waits: look at the state again in the next tick"),
}

_TRUSTED_FOLDERS = ("program", "model", "motion", "actions")
"""Rooms of this package whose @realtime functions users may call; the others are the loop's own."""


def is_marked(value: Any) -> bool:
    """Whether a value is a function marked `@realtime`."""
    return any(value is marked for marked in realtime_code.MARKED)


def forbidden_module(value: Any) -> str | None:
    """The hint if a value is a module of the operating system, or a member of one; else None."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if name is None:  # a method of a class that Python is built with
        owner = getattr(value, "__self__", None)
        name = getattr(owner if isinstance(owner, type) else type(owner), "__module__", None)
    root = name.split(".")[0] if isinstance(name, str) else ""
    root = _BUILT_WITH.get(root, root)
    if root in _SYSTEM_MODULES:
        return _SYSTEM_MODULES[root]
    return _NON_REALTIME if root in _OTHER_MODULES else None


def forbidden_call(shown: str, value: Any) -> tuple[str, str] | None:
    """Whether calling a value is refused.

    Args:
        shown: how the code writes it, for the message.
        value: what it is.

    Returns:
        (operation, hint), or None where the call may stand.
    """
    if is_marked(value):
        module = value.py_func.__module__.split(".") if hasattr(value, "py_func") else [""]
        if module[0] == "robot_rt_control" and module[1] not in _TRUSTED_FOLDERS:
            return f"calls {shown}", "This function belongs to the loop; actions see the robot through their parts"
        return None
    if any(value is allowed for allowed in ALLOWED_BUILTINS):
        return None
    name = getattr(value, "__name__", shown)
    if getattr(builtins, name, None) is value:
        return _BUILTIN_HINTS.get(name, (f"calls {shown}", "Only arithmetic built-ins are real-time safe"))
    hint = forbidden_module(value)
    if hint is not None:
        return f"calls {shown}", hint
    if getattr(math, name, None) is value:
        return None
    if isinstance(value, np.ufunc) or (isinstance(value, type) and issubclass(value, np.number | np.bool_)):
        return _numpy_call(shown, name)
    if (getattr(value, "__module__", None) or "").split(".")[0] == "numpy":
        module_name = value.__module__ or ""
        if ".random" in module_name or ".linalg" in module_name:
            return f"calls {shown}", _NON_REALTIME
        return _numpy_call(shown, name)
    if isinstance(value, numba.types.Number | numba.types.Boolean):
        return None
    if hasattr(value, "py_func"):
        return f"calls {shown}, which is compiled but not marked @realtime", "Mark it with @realtime instead of njit"
    if isinstance(value, FunctionType):
        return f"calls {shown}, which is not marked @realtime", "Mark the function with @realtime"
    if isinstance(value, type):
        return f"makes an object of class {shown}", _FIXED_RECORD
    if isinstance(value, BuiltinFunctionType):
        return f"calls {shown}", _NON_REALTIME
    return f"calls {shown}", "Call functions of math and functions marked @realtime"


def _numpy_call(shown: str, name: str) -> tuple[str, str] | None:
    if name in _NUMPY_ALLOCATING:
        return f"calls {shown}, which makes an array", "Write a loop over fields of fixed size"
    return None


def forbidden_method(name: str) -> tuple[str, str] | None:
    """(operation, hint) where a method of this name, called on some value, is refused."""
    if name not in _METHODS:
        return None
    operation, hint = _METHOD_HINTS[_METHODS[name]]
    return f"{operation} (.{name}())", hint
