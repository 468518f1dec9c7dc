"""Time and wake-ups between threads and processes: C library calls, also from compiled code without the GIL."""

from __future__ import annotations

import ctypes
import os
import platform
import time
from typing import Any

from robot_rt_control.native.compiled_forms import compiled_form

_MONOTONIC, _THREAD = 1, 3
_INTERRUPTED = 4
_FUTEX_WAIT, _FUTEX_WAKE, _FUTEX_WAIT_BITSET = 0, 1, 9
_FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
_FUTEX = _FUTEX_NUMBERS.get(platform.machine(), -1)
_ANY_BIT = 0xFFFFFFFF

_libc = ctypes.CDLL(None, use_errno=True)


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


@compiled_form
def _compiled_forms() -> None:
    """Calls of the C library without the GIL."""
    from numba.core import cgutils, types
    from numba.extending import lower_builtin, type_callable

    from robot_rt_control.native.c_library import I32, I64, TIMESPEC, external, read_timespec, timespec

    integer: Any = types.Integer  # Numba lists only some of its types where checkers look

    def read_clock(builder: Any, clock: int) -> Any:
        spec = cgutils.alloca_once(builder, TIMESPEC)
        function = external(builder, "clock_gettime", I32, [I32, TIMESPEC.as_pointer()])
        builder.call(function, [I32(clock), spec])
        return read_timespec(builder, spec)

    @type_callable(now_ns)
    def type_now_ns(_context: Any) -> Any:
        return lambda: types.int64

    @lower_builtin(now_ns)
    def lower_now_ns(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        return read_clock(builder, _MONOTONIC)

    @type_callable(thread_ns)
    def type_thread_ns(_context: Any) -> Any:
        return lambda: types.int64

    @lower_builtin(thread_ns)
    def lower_thread_ns(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        return read_clock(builder, _THREAD)

    @type_callable(ring)
    def type_ring(_context: Any) -> Any:
        return lambda address: types.int64

    @lower_builtin(ring, integer)
    def lower_ring(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        function = external(builder, "syscall", I64, [I64], var_arg=True)
        return builder.call(function, [I64(_FUTEX), arguments[0], I64(_FUTEX_WAKE), I64(2**31 - 1)])

    @type_callable(wait_until)
    def type_wait_until(_context: Any) -> Any:
        return lambda address, seen, deadline: types.int64

    @lower_builtin(wait_until, integer, integer, integer)
    def lower_wait_until(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, seen, deadline = arguments
        function = external(builder, "syscall", I64, [I64], var_arg=True)
        # The deadline is absolute, in CLOCK_MONOTONIC; FUTEX_WAIT would take a relative one.
        spec = builder.ptrtoint(timespec(builder, deadline), I64)
        word = builder.zext(builder.trunc(seen, I32), I64)
        return builder.call(
            function, [I64(_FUTEX), address, I64(_FUTEX_WAIT_BITSET), word, spec, I64(0), I64(_ANY_BIT)]
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
