"""A digest of everything that determines a function's native code, and of nothing else.

Native code stays valid while this digest stays the same. Editing a comment, a docstring or a function that is not
reached does not change it; line numbers never count. Starting from the function, the digest includes:

- the instructions of each function that is reached through global names, attributes of modules and classes, and
  variables of enclosing functions, with defaults and compiler options;
- the values that the compiler freezes: numbers, tuples, enums, record layouts, arrays, types;
- for functions that a module replaces by generated code (`intrinsic`, `lower_builtin`): that whole module and all
  that it imports from its own package, without comments and docstrings, because any of it may determine the code;
- the versions of Python, Numba, NumPy and llvmlite, Numba's settings, and the compiler in this package.

**A value of any other kind is never guessed.** Instead, the whole module that reads it is included, with all that it
imports from its own package: the value was computed there, so it cannot change unnoticed. This may cause unnecessary
compilations, but never an outdated hit. `undigested` names such values; a test checks that this package has none.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import enum
import functools
import hashlib
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import types as numba_types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from robot_rt_control.native.module_digest import is_installed, module_digest

_VERSIONED = frozenset(("numba", "numpy", "llvmlite"))
"""Installed packages whose versions are part of each digest; Python's own library is covered by Python's version."""

_SETTINGS = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "CPU_NAME")
_COMPILER = ("robot_rt_control.native.compiled_forms", "robot_rt_control.native.realtime_compiler")

_NAMES = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_NOTHING = object()
_EXACT = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range, slice)
"""Types whose `repr` is complete."""


def code_digest(*functions: Any) -> str:
    """Digest of the native code of these functions: 64 hexadecimal digits.

    Args:
        functions: Python functions, or functions compiled by Numba.
    """
    return _walk(functions).digest.hexdigest()


def undigested(*functions: Any) -> list[str]:
    """The values that are replaced by whole modules, each as "module reads a value of this type"."""
    return _walk(functions).undigested


def _walk(functions: Iterable[Any]) -> _Closure:
    closure = _Closure()
    for function in functions:
        closure.function(getattr(function, "py_func", function), getattr(function, "targetoptions", {}))
    return closure


@functools.cache  # what one type calls, others call as well
def _instructions(code: CodeType) -> list[tuple[str, Any, bool]]:
    """Name and argument of each instruction, and whether the argument is a constant."""
    return [(i.opname, i.argval, i.opcode in dis.hasconst) for i in dis.get_instructions(code)]


class _Closure:
    """Visits everything that is reached and feeds it to the digest, in the order of the instructions."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.undigested: list[str] = []
        self._seen: dict[int, tuple[int, Any]] = {}  # keeps the objects alive, so that no id is reused
        versions = [(m.__name__, m.__version__) for m in (numba, np, llvmlite)]
        self._add(sys.implementation.cache_tag, versions, [(s, getattr(numba.config, s, None)) for s in _SETTINGS])
        for name in _COMPILER:
            self._add(name, module_digest(name, imports=False))

    def _add(self, *texts: object) -> None:
        self.digest.update("\0".join(map(str, texts)).encode("utf-8", "backslashreplace") + b"\1")

    def _known(self, thing: Any) -> bool:
        """Whether an object was visited before; if so, its number represents it."""
        known = id(thing) in self._seen
        number, _ = self._seen.setdefault(id(thing), (len(self._seen), thing))
        self._add("#", number)
        return known

    # --- functions -------------------------------------------------------------------------------

    def function(self, function: FunctionType, options: dict[str, Any]) -> None:
        """A function that is compiled."""
        self._add("compiled", function.__name__, sorted(options.items()))
        if self._known(function):
            return
        self.value(function.__defaults__, function)
        self.value(function.__kwdefaults__, function)
        self._code(function.__code__, function)

    def _code(self, code: CodeType, function: FunctionType) -> None:
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        self._add(code.co_name, counts, code.co_varnames, code.co_cellvars, getattr(code, "co_exceptiontable", b""))
        reached: Any = _NOTHING  # a value on top of the stack that is known before the code runs
        for name, argument, is_constant in _instructions(code):
            if name in _ATTRIBUTES and isinstance(reached, ModuleType | type):
                self._add(name, argument)
                reached = getattr(reached, argument, _NOTHING)
                continue
            self._flush(reached, function)
            reached = _NOTHING
            if isinstance(argument, CodeType):
                self._code(argument, function)
            elif is_constant:
                self._add(name)
                self.value(argument, function)
            else:
                self._add(name, argument)
            if name in _NAMES:
                reached = _resolve(argument, function)
        self._flush(reached, function)

    def _flush(self, reached: Any, function: FunctionType) -> None:
        if reached is not _NOTHING:
            self.value(reached, function)

    def _generated(self, function: FunctionType, reader: FunctionType) -> None:
        """A function that is not compiled itself: its module, or Numba, determines what a call does."""
        module = sys.modules.get(function.__module__)
        file = getattr(module, "__file__", None)
        if file is not None and is_installed(file):
            self._add("installed", function.__module__, function.__qualname__)
            top = function.__module__.partition(".")[0]
            if top not in _VERSIONED and top not in sys.stdlib_module_names:
                self._module(function.__module__, reader)
            return
        self._add("generated", function.__module__, function.__qualname__)
        self._module(function.__module__, reader)
        for cell in _cells(function).values():
            self.value(cell, function)

    def _module(self, name: str, reader: FunctionType) -> None:
        digest = module_digest(name)
        if digest is None and name != reader.__module__:
            digest = module_digest(reader.__module__)
        if digest is None:
            raise TypeError(
                f"{reader.__module__}.{reader.__qualname__} depends on module {name!r}, which has no Python source "
                f"file: nothing would show when its native code is outdated"
            )
        self._add(name, digest)

    # --- values ----------------------------------------------------------------------------------

    def value(self, value: Any, reader: FunctionType) -> None:
        """A value that the compiler freezes.

        Args:
            reader: the function that reads it.
        """
        if isinstance(value, Dispatcher) or _is_marked(value):
            self.function(value.py_func, value.targetoptions)
        elif type(value) in _EXACT:
            self._add(type(value).__name__, repr(value))
        elif isinstance(value, enum.Enum):
            self._add(type(value).__module__, type(value).__qualname__, value.name, type(value).__mro__[1:])
            self.value(value.value, reader)
        elif isinstance(value, tuple | list):
            self._add(type(value).__qualname__, getattr(value, "_fields", ""), len(value))
            for element in value:
                self.value(element, reader)
        elif isinstance(value, frozenset):
            self._add("frozenset", len(value))
            for element in sorted(value, key=repr):
                self.value(element, reader)
        elif isinstance(value, dict):
            self._add("dict", len(value))
            for key, element in value.items():
                self.value(key, reader)
                self.value(element, reader)
        elif isinstance(value, np.dtype):
            self._dtype(value)
        elif isinstance(value, np.generic):
            self._dtype(value.dtype)
            self.digest.update(value.tobytes())
        elif type(value) is np.ndarray and not value.dtype.hasobject:
            self._add("array", value.shape, value.flags.c_contiguous, value.flags.f_contiguous, value.flags.writeable)
            self._dtype(value.dtype)
            self.digest.update(value.tobytes())
        else:
            self._reached(value, reader)

    def _reached(self, value: Any, reader: FunctionType) -> None:
        """Objects that code refers to and the compiler knows: functions, types, modules."""
        if isinstance(value, _Intrinsic):
            self._add("intrinsic")
            if not self._known(value):
                self._generated(value._defn, reader)
        elif isinstance(value, FunctionType):
            self._add("function")
            if not self._known(value):
                self._generated(value, reader)
        elif isinstance(value, ModuleType) and value.__name__.partition(".")[0] in _VERSIONED:
            self._add("module", value.__name__)
        elif isinstance(value, numba_types.Type):
            self._add("type", value)
        elif isinstance(value, np.ufunc):
            self._add("ufunc", value.__name__)
        elif isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, ModuleType | type(None)):
            self._add("builtin", value.__module__, value.__qualname__)
        elif isinstance(value, type):
            self._class(value, reader)
        else:
            self._unknown(value, reader)

    def _class(self, value: type, reader: FunctionType) -> None:
        self._add("class", value.__module__, value.__qualname__)
        module = sys.modules.get(value.__module__)
        if module is builtins or is_installed(getattr(module, "__file__", None) or sys.executable):
            return
        if issubclass(value, enum.Enum):
            for member in value:
                self.value(member, reader)
        elif issubclass(value, tuple) and hasattr(value, "_fields"):
            self._add(value._fields)
        else:
            self._unknown(value, reader)

    def _dtype(self, dtype: np.dtype) -> None:
        if dtype.subdtype is not None:
            base, shape = dtype.subdtype
            self._add("of", shape)
            self._dtype(base)
        elif dtype.fields is not None:
            self._add("record", dtype.itemsize, dtype.alignment, dtype.isalignedstruct)
            if not self._known(dtype):
                for name in dtype.names or ():
                    self._add(name, dtype.fields[name][1])
                    self._dtype(dtype.fields[name][0])
        else:
            self._add(dtype.str)

    def _unknown(self, value: Any, reader: FunctionType) -> None:
        """A value of another kind: include the whole module (see the module's docstring)."""
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        self.undigested.append(f"{reader.__module__}.{reader.__qualname__} reads a value of {kind}")
        self._add("unknown", kind)
        self._module(reader.__module__, reader)


def _is_marked(value: Any) -> bool:
    """Whether it is compiled on first use, as `realtime_code.MarkedFunction`."""
    return isinstance(getattr(value, "py_func", None), FunctionType) and hasattr(value, "targetoptions")


def _cells(function: FunctionType) -> dict[str, Any]:
    """The assigned variables of enclosing functions that a function uses."""
    cells = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            cells[name] = cell.cell_contents
    return cells


def _resolve(name: str, function: FunctionType) -> Any:
    """The value of a name outside the function; _NOTHING for a variable of the function itself."""
    cells = _cells(function)
    if name in cells:
        return cells[name]
    if name in function.__code__.co_cellvars:
        return _NOTHING
    return function.__globals__.get(name, getattr(builtins, name, _NOTHING))
