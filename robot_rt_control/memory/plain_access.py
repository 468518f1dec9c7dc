"""Plain access to memory by address, for compiled code and for its interpreted twin.

Use it for memory that one thread owns. Memory shared between processes needs `atomics`.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_INTERPRETED = bool(numba.config.DISABLE_JIT)


if _INTERPRETED:

    def load_f8(address: int) -> float:
        """The float64 at an 8-byte aligned address."""
        return ctypes.c_double.from_address(int(address)).value

    def store_f8(address: int, value: float) -> None:
        """Write a float64 at an 8-byte aligned address."""
        ctypes.c_double.from_address(int(address)).value = float(value)

    def copy_bytes(target: int, source: int, count: int) -> None:
        """Copy `count` bytes between regions that do not overlap."""
        ctypes.memmove(int(target), int(source), int(count))

else:

    @intrinsic
    def load_f8(typingctx: Any, address: Any) -> Any:
        """The float64 at an 8-byte aligned address."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.load(builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))

        return types.float64(types.int64), generate

    @intrinsic
    def store_f8(typingctx: Any, address: Any, value: Any) -> Any:
        """Write a float64 at an 8-byte aligned address."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            builder.store(arguments[1], builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))
            return _context.get_dummy_value()

        return types.void(types.int64, types.float64), generate

    @intrinsic
    def copy_bytes(typingctx: Any, target: Any, source: Any, count: Any) -> Any:
        """Copy `count` bytes between regions that do not overlap."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            pointer = ir.IntType(8).as_pointer()
            to, origin = builder.inttoptr(arguments[0], pointer), builder.inttoptr(arguments[1], pointer)
            cgutils.raw_memcpy(builder, to, origin, arguments[2], 1)
            return _context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), generate
