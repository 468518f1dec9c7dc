"""Time and wake-ups between threads and processes: C library calls, also from compiled code without the GIL."""

from __future__ import annotations

import ctypes
import os
import platform
import time
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import lower_builtin, type_callable

types: Any = numba_types  # Numba lists only some of its types where checkers look

_MONOTONIC, _THREAD = 1, 3
_INTERRUPTED = 4
_FUTEX_WAIT, _FUTEX_WAKE, _FUTEX_WAIT_BITSET = 0, 1, 9
_FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
_FUTEX = _FUTEX_NUMBERS.get(platform.machine(), -1)
_ANY_BIT = 0xFFFFFFFF

_I32, _I64 = ir.IntType(32), ir.IntType(64)
TIMESPEC = ir.ArrayType(_I64, 2)
_libc = ctypes.CDLL(None, use_errno=True)


def external(builder: Any, name: str, result: Any, arguments: list[Any], var_arg: bool = False) -> Any:
    """A function of the C library, for generated code."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments, var_arg=var_arg), name)


def timespec(builder: Any, nanoseconds: Any) -> Any:
    """Pointer to a timespec with this time, for generated code."""
    spec = cgutils.alloca_once(builder, TIMESPEC)
    value = builder.insert_value(ir.Constant(TIMESPEC, ir.Undefined), builder.sdiv(nanoseconds, _I64(10**9)), 0)
    builder.store(builder.insert_value(value, builder.srem(nanoseconds, _I64(10**9)), 1), spec)
    return spec


def now_ns() -> int:
    """CLOCK_MONOTONIC in nanoseconds."""
    return time.monotonic_ns()


def thread_ns() -> int:
    """The processor time [ns] that this thread has used. A system call: dearer than `now_ns`."""
    return time.thread_time_ns()


def ring(address: int) -> int:
    """Wake all waiters on the 32-bit word at this address. Never blocks."""
    return int(_libc.syscall(_FUTEX, ctypes.c_void_p(address), _FUTEX_WAKE, 2**31 - 1))


def wait_until(address: int, seen: int, deadline: int) -> int:
    """Sleep until the 32-bit word at `address` differs from `seen`, is rung, or CLOCK_MONOTONIC is at `deadline` [ns].

    Returns 0, or -1: it timed out, the word had changed already, or a signal arrived. Check word and clock again.
    """
    left = deadline - time.monotonic_ns()
    if left > 0:
        wait(address, seen, left * 1e-9)
    return 0


# The compiled form of these calls: C library calls without the GIL.


def _read_clock(builder: Any, clock: int) -> Any:
    spec = cgutils.alloca_once(builder, TIMESPEC)
    function = external(builder, "clock_gettime", _I32, [_I32, TIMESPEC.as_pointer()])
    builder.call(function, [_I32(clock), spec])
    value = builder.load(spec)
    seconds, nanoseconds = builder.extract_value(value, 0), builder.extract_value(value, 1)
    return builder.add(builder.mul(seconds, _I64(10**9)), nanoseconds)


@type_callable(now_ns)
def _type_now_ns(_context: Any) -> Any:
    return lambda: types.int64


@lower_builtin(now_ns)
def _lower_now_ns(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
    return _read_clock(builder, _MONOTONIC)


@type_callable(thread_ns)
def _type_thread_ns(_context: Any) -> Any:
    return lambda: types.int64


@lower_builtin(thread_ns)
def _lower_thread_ns(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
    return _read_clock(builder, _THREAD)


@type_callable(ring)
def _type_ring(_context: Any) -> Any:
    return lambda address: types.int64


@lower_builtin(ring, types.Integer)
def _lower_ring(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    function = external(builder, "syscall", _I64, [_I64], var_arg=True)
    return builder.call(function, [_I64(_FUTEX), arguments[0], _I64(_FUTEX_WAKE), _I64(2**31 - 1)])


@type_callable(wait_until)
def _type_wait_until(_context: Any) -> Any:
    return lambda address, seen, deadline: types.int64


@lower_builtin(wait_until, types.Integer, types.Integer, types.Integer)
def _lower_wait_until(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    address, seen, deadline = arguments
    function = external(builder, "syscall", _I64, [_I64], var_arg=True)
    # The deadline is absolute, in CLOCK_MONOTONIC; FUTEX_WAIT would take a relative one.
    spec = builder.ptrtoint(timespec(builder, deadline), _I64)
    word = builder.zext(builder.trunc(seen, _I32), _I64)
    return builder.call(
        function, [_I64(_FUTEX), address, _I64(_FUTEX_WAIT_BITSET), word, spec, _I64(0), _I64(_ANY_BIT)]
    )


class _Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def wait(address: int, seen: int, timeout_s: float) -> bool:
    """Sleep, without the GIL, until the word at `address` differs from `seen` or is rung. False: it timed out.

    Raises:
        OSError: the kernel refuses the call.
    """
    if _FUTEX < 0:
        raise OSError(f"no futex number is known for {platform.machine()!r}; add it in memory/wake.py")
    spec = _Timespec(int(timeout_s), int(timeout_s % 1 * 1e9))
    result = _libc.syscall(
        _FUTEX, ctypes.c_void_p(address), _FUTEX_WAIT, ctypes.c_uint32(seen & 0xFFFFFFFF), ctypes.byref(spec), None, 0
    )
    if result == 0:
        return True
    error = ctypes.get_errno()
    if error in (11, _INTERRUPTED):  # EAGAIN: the word has changed already; EINTR: a signal came
        return True
    if error == 110:  # ETIMEDOUT
        return False
    raise OSError(error, os.strerror(error))
