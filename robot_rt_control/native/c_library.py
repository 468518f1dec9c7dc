"""Calls of the C library in generated code. Loads the compiler: import it in a `compiled_form` only."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

I32, I64 = ir.IntType(32), ir.IntType(64)
TIMESPEC = ir.ArrayType(I64, 2)


def external(builder: Any, name: str, result: Any, arguments: list[Any], var_arg: bool = False) -> Any:
    """A function of the C library."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments, var_arg=var_arg), name)


def timespec(builder: Any, nanoseconds: Any) -> Any:
    """Pointer to a timespec with this time."""
    spec = cgutils.alloca_once(builder, TIMESPEC)
    value = builder.insert_value(ir.Constant(TIMESPEC, ir.Undefined), builder.sdiv(nanoseconds, I64(10**9)), 0)
    builder.store(builder.insert_value(value, builder.srem(nanoseconds, I64(10**9)), 1), spec)
    return spec


def read_timespec(builder: Any, spec: Any) -> Any:
    """The time at such a pointer [ns]."""
    value = builder.load(spec)
    seconds, nanoseconds = builder.extract_value(value, 0), builder.extract_value(value, 1)
    return builder.add(builder.mul(seconds, I64(10**9)), nanoseconds)
