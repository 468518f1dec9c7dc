"""Calls of the C library about threads and this process, also from compiled code without the GIL."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import lower_builtin, type_callable

from robot_rt_control.memory.wake import TIMESPEC, external

types: Any = numba_types  # Numba lists only some of its types where checkers look

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def clock_ns(clock: int) -> int:
    """What a clock of the operating system shows [ns]; -1 if there is none, as for a thread that has ended.

    Args:
        clock: such as `time.pthread_getcpuclockid` gives for the processor time of a thread.
    """
    try:
        return time.clock_gettime_ns(clock)
    except OSError:
        return -1


def write_to(descriptor: int, address: int, size: int) -> int:
    """Write bytes to a file descriptor. Returns how many; -1 if it refuses them."""
    try:
        return os.write(descriptor, ctypes.string_at(address, size))
    except OSError:
        return -1


def end_process(code: int) -> int:
    """End this process at once, whatever its threads are doing. Never returns."""
    os._exit(code)


@type_callable(clock_ns)
def _type_clock_ns(_context: Any) -> Any:
    return lambda clock: types.int64


@lower_builtin(clock_ns, types.Integer)
def _lower_clock_ns(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    spec = cgutils.alloca_once(builder, TIMESPEC)
    function = external(builder, "clock_gettime", _I32, [_I32, TIMESPEC.as_pointer()])
    failed = builder.icmp_signed("!=", builder.call(function, [builder.trunc(arguments[0], _I32), spec]), _I32(0))
    value = builder.load(spec)
    seconds, nanoseconds = builder.extract_value(value, 0), builder.extract_value(value, 1)
    return builder.select(failed, _I64(-1), builder.add(builder.mul(seconds, _I64(10**9)), nanoseconds))


@type_callable(write_to)
def _type_write_to(_context: Any) -> Any:
    return lambda descriptor, address, size: types.int64


@lower_builtin(write_to, types.Integer, types.Integer, types.Integer)
def _lower_write_to(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    descriptor, address, size = arguments
    pointer = ir.IntType(8).as_pointer()
    function = external(builder, "write", _I64, [_I32, pointer, _I64])
    return builder.call(function, [builder.trunc(descriptor, _I32), builder.inttoptr(address, pointer), size])


@type_callable(end_process)
def _type_end_process(_context: Any) -> Any:
    return lambda code: types.int64


@lower_builtin(end_process, types.Integer)
def _lower_end_process(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    builder.call(external(builder, "_exit", ir.VoidType(), [_I32]), [builder.trunc(arguments[0], _I32)])
    return _I64(0)
