"""The clock and the wake-up calls of the C library, callable from compiled code without the GIL."""

from __future__ import annotations

import ctypes
import os
import platform
import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

_MONOTONIC = 1
_ABSOLUTE = 1
INTERRUPTED = 4
"""What `sleep_until` returns where a signal came before the deadline."""
_FUTEX_WAIT, _FUTEX_WAKE = 0, 1
_FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
_FUTEX = _FUTEX_NUMBERS.get(platform.machine(), -1)

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_TIMESPEC = ir.ArrayType(_I64, 2)
_libc = ctypes.CDLL(None, use_errno=True)


def _external(builder, name, result, arguments, var_arg=False):
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments, var_arg=var_arg), name)


def now_ns() -> int:
    """CLOCK_MONOTONIC in nanoseconds."""
    return time.monotonic_ns()


def sleep_until(deadline: int) -> int:
    """Sleep until CLOCK_MONOTONIC reaches `deadline` [ns]. Returns 0, or the errno (INTERRUPTED: by a signal)."""
    time.sleep(max(0.0, (deadline - time.monotonic_ns()) * 1e-9))
    return 0


def ring(address: int) -> int:
    """Wake everybody who waits on the 32-bit word at this address. Never blocks."""
    return int(_libc.syscall(_FUTEX, ctypes.c_void_p(address), _FUTEX_WAKE, 2**31 - 1))


# What compiled code makes of these calls: those of the C library, without the GIL.


@type_callable(now_ns)
def _type_now_ns(_context):
    return lambda: types.int64


@lower_builtin(now_ns)
def _lower_now_ns(_context, builder, _signature, _arguments):
    spec = cgutils.alloca_once(builder, _TIMESPEC)
    function = _external(builder, "clock_gettime", _I32, [_I32, _TIMESPEC.as_pointer()])
    builder.call(function, [_I32(_MONOTONIC), spec])
    value = builder.load(spec)
    seconds, nanoseconds = builder.extract_value(value, 0), builder.extract_value(value, 1)
    return builder.add(builder.mul(seconds, _I64(10**9)), nanoseconds)


@type_callable(sleep_until)
def _type_sleep_until(_context):
    return lambda deadline: types.int32


@lower_builtin(sleep_until, types.int64)
def _lower_sleep_until(_context, builder, _signature, arguments):
    spec = cgutils.alloca_once(builder, _TIMESPEC)
    value = builder.insert_value(ir.Constant(_TIMESPEC, ir.Undefined), builder.sdiv(arguments[0], _I64(10**9)), 0)
    value = builder.insert_value(value, builder.srem(arguments[0], _I64(10**9)), 1)
    builder.store(value, spec)
    pointer = _TIMESPEC.as_pointer()
    function = _external(builder, "clock_nanosleep", _I32, [_I32, _I32, pointer, pointer])
    null = ir.Constant(pointer, None)
    return builder.call(function, [_I32(_MONOTONIC), _I32(_ABSOLUTE), spec, null])


@type_callable(ring)
def _type_ring(_context):
    return lambda address: types.int64


@lower_builtin(ring, types.int64)
def _lower_ring(_context, builder, _signature, arguments):
    function = _external(builder, "syscall", _I64, [_I64], var_arg=True)
    return builder.call(function, [_I64(_FUTEX), arguments[0], _I64(_FUTEX_WAKE), _I64(2**31 - 1)])


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def wait(address: int, seen: int, timeout_s: float) -> bool:
    """Sleep, without the GIL, until the word at `address` differs from `seen` or is rung. False: it timed out.

    Raises:
        OSError: the kernel refuses the call.
    """
    if _FUTEX < 0:
        raise OSError(f"no futex number is known for {platform.machine()!r}; add it in realtime/clock.py")
    spec = _Timespec(int(timeout_s), int(timeout_s % 1 * 1e9))
    result = _libc.syscall(
        _FUTEX, ctypes.c_void_p(address), _FUTEX_WAIT, ctypes.c_uint32(seen & 0xFFFFFFFF), ctypes.byref(spec), None, 0
    )
    if result == 0:
        return True
    error = ctypes.get_errno()
    if error in (11, INTERRUPTED):  # EAGAIN: the word has changed already; EINTR: a signal came
        return True
    if error == 110:  # ETIMEDOUT
        return False
    raise OSError(error, os.strerror(error))
