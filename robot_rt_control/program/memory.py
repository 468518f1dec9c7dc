"""Memory by its address: what conditions and events use to read state variables of any record.

The three functions work in compiled code (as single machine instructions) and in plain Python
(through ctypes). Nothing checks an address: the caller must know that a float64 is there.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # it ships no types
from numba import types
from numba.extending import intrinsic, overload

_DOUBLE = ir.DoubleType()


def load_f8(address: int) -> float:
    """The float64 at `address`."""
    return ctypes.c_double.from_address(int(address)).value


def store_f8(address: int, value: float) -> None:
    """Put a float64 at `address`."""
    ctypes.c_double.from_address(int(address)).value = float(value)


def address_of(record: np.record) -> int:
    """Where a record (`array[i]`, or a nested record) has its first byte. The caller keeps its memory alive."""
    return int(record.__array_interface__["data"][0])


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _DOUBLE.as_pointer())


@intrinsic
def _load(typing_context, address):  # type: ignore[no-untyped-def]  # the compiler's types have no annotations
    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.load(_pointer(builder, arguments[0]))

    return types.float64(types.int64), emit


@intrinsic
def _store(typing_context, address, value):  # type: ignore[no-untyped-def]
    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        builder.store(arguments[1], _pointer(builder, arguments[0]))
        return context.get_dummy_value()

    return types.void(types.int64, types.float64), emit


@intrinsic
def _address(typing_context, record):  # type: ignore[no-untyped-def]
    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(record), emit


@overload(load_f8, inline="always")
def _load_f8(address):  # type: ignore[no-untyped-def]
    if isinstance(address, types.Integer):
        return lambda address: _load(address)
    return None


@overload(store_f8, inline="always")
def _store_f8(address, value):  # type: ignore[no-untyped-def]
    if isinstance(address, types.Integer):
        return lambda address, value: _store(address, value)
    return None


@overload(address_of, inline="always")
def _address_of(record):  # type: ignore[no-untyped-def]
    if isinstance(record, types.Record):
        return lambda record: _address(record)
    return None
