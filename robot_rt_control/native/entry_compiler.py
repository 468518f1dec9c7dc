"""Compiles functions for `entries`, and finds what was compiled from the same code."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
from pathlib import Path

from numba.core import types
from numba.core.registry import cpu_target

from robot_rt_control.native import whole_program
from robot_rt_control.native.cache_folder import cache_root
from robot_rt_control.native.code_cache import alone
from robot_rt_control.native.code_digest import code_digest
from robot_rt_control.native.compiled_forms import OPTIONS
from robot_rt_control.native.module_digest import module_digest
from robot_rt_control.native.object_cache import object_in, write_object
from robot_rt_control.native.realtime_compiler import RealtimeFunction
from robot_rt_control.vocabulary.errors import RobotControlError

_CALL = """
declare i32 @{symbol}_body(ptr, ptr{types})

define i64 @{symbol}({arguments}) {{
  %result = alloca i64
  %exception = alloca ptr
  store i64 0, ptr %result
  %status = call i32 @{symbol}_body(ptr %result, ptr %exception{passed})
  %value = load i64, ptr %result
  ret i64 %value
}}
"""
"""C's calling convention around Numba's: results by address, and a status; real-time code raises nothing."""


def entry_code(module: str, name: str, arguments: int, symbol: str) -> tuple[Path, bytes]:
    """Compile a function, unless the cache has it for the same code. Returns the cache's file, and the machine code.

    Args:
        module, name, arguments: as of `entries.python_call`.
        symbol: of the function in the machine code.

    Raises:
        TypeError: it returns anything but an int64 or None.
    """
    function = getattr(importlib.import_module(module), name)
    digest = hashlib.sha256(code_digest(function).encode())
    digest.update(str(module_digest(whole_program.__name__, imports=False)).encode())
    digest.update(repr((arguments, symbol, _CALL, cpu_target.target_context.codegen().magic_tuple())).encode())
    file = cache_root() / "entries" / f"{module}.{name}-{digest.hexdigest()[:40]}.o"
    with contextlib.nullcontext() if file.exists() else alone(file):
        with contextlib.suppress(FileNotFoundError):
            known = object_in(file)
            if known is not None:
                return file, known
        code = _compile(getattr(function, "py_func", function), arguments, symbol)
        with contextlib.suppress(OSError, RobotControlError):  # a cache that cannot be written only costs time
            write_object(file, code)
    return file, code


def _compile(function: object, arguments: int, symbol: str) -> bytes:
    compiled = RealtimeFunction(function, targetoptions=OPTIONS)  # type: ignore[arg-type]
    compiled.compile((types.int64,) * arguments)
    (overload,) = compiled.overloads.values()
    if overload.signature.return_type not in (types.int64, types.none):
        raise TypeError(f"{function} returns {overload.signature.return_type}, expected int64 or nothing")
    names = [f"i64 %a{i}" for i in range(arguments)]
    call = _CALL.format(
        symbol=symbol,
        types=", i64" * arguments,
        arguments=", ".join(names),
        passed="".join(f", {argument}" for argument in names),
    )
    return whole_program.machine_code(whole_program.linked({symbol: compiled}, _in_every_process, call))


def _in_every_process(name: str) -> bool:
    """Whether a process has this function without Numba: what is left, `link` looks up."""
    return not name.startswith(("NRT_", "numba_"))
