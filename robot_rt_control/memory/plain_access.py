"""Plain access to memory by address, for compiled code and for its interpreted twin.

Use it for memory that one thread owns. Memory shared between processes needs `atomics`.
"""

from __future__ import annotations

import ctypes
from typing import Any

from robot_rt_control.native.compiled_forms import compiled_form


def load_f8(address: int) -> float:
    """The float64 at an 8-byte aligned address."""
    return ctypes.c_double.from_address(int(address)).value


def store_f8(address: int, value: float) -> None:
    """Write a float64 at an 8-byte aligned address."""
    ctypes.c_double.from_address(int(address)).value = float(value)


def copy_bytes(target: int, source: int, count: int) -> None:
    """Copy `count` bytes between regions that do not overlap."""
    ctypes.memmove(int(target), int(source), int(count))


@compiled_form
def _compiled_forms() -> None:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import lower_builtin, type_callable

    integer: Any = types.Integer  # Numba lists only some of its types where checkers look
    double = ir.DoubleType().as_pointer()

    @type_callable(load_f8)
    def type_load_f8(_context: Any) -> Any:
        return lambda address: types.float64

    @lower_builtin(load_f8, integer)
    def lower_load_f8(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], double))

    @type_callable(store_f8)
    def type_store_f8(_context: Any) -> Any:
        return lambda address, value: types.void

    @lower_builtin(store_f8, integer, types.Float)
    @lower_builtin(store_f8, integer, integer)
    def lower_store_f8(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = context.cast(builder, arguments[1], signature.args[1], types.float64)
        builder.store(value, builder.inttoptr(arguments[0], double))
        return context.get_dummy_value()

    @type_callable(copy_bytes)
    def type_copy_bytes(_context: Any) -> Any:
        return lambda target, source, count: types.void

    @lower_builtin(copy_bytes, integer, integer, integer)
    def lower_copy_bytes(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        to, origin = builder.inttoptr(arguments[0], pointer), builder.inttoptr(arguments[1], pointer)
        cgutils.raw_memcpy(builder, to, origin, arguments[2], 1)
        return context.get_dummy_value()
