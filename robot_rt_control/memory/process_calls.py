"""Calls of the C library about threads and this process, also from compiled code without the GIL."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

from robot_rt_control.native.compiled_forms import compiled_form


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


@compiled_form
def _compiled_forms() -> None:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import lower_builtin, type_callable

    from robot_rt_control.native.c_library import I32, I64, TIMESPEC, external, read_timespec

    integer: Any = types.Integer  # Numba lists only some of its types where checkers look

    @type_callable(clock_ns)
    def type_clock_ns(_context: Any) -> Any:
        return lambda clock: types.int64

    @lower_builtin(clock_ns, integer)
    def lower_clock_ns(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        spec = cgutils.alloca_once(builder, TIMESPEC)
        function = external(builder, "clock_gettime", I32, [I32, TIMESPEC.as_pointer()])
        failed = builder.icmp_signed("!=", builder.call(function, [builder.trunc(arguments[0], I32), spec]), I32(0))
        return builder.select(failed, I64(-1), read_timespec(builder, spec))

    @type_callable(write_to)
    def type_write_to(_context: Any) -> Any:
        return lambda descriptor, address, size: types.int64

    @lower_builtin(write_to, integer, integer, integer)
    def lower_write_to(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        descriptor, address, size = arguments
        pointer = ir.IntType(8).as_pointer()
        function = external(builder, "write", I64, [I32, pointer, I64])
        return builder.call(function, [builder.trunc(descriptor, I32), builder.inttoptr(address, pointer), size])

    @type_callable(end_process)
    def type_end_process(_context: Any) -> Any:
        return lambda code: types.int64

    @lower_builtin(end_process, integer)
    def lower_end_process(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.call(external(builder, "_exit", ir.VoidType(), [I32]), [builder.trunc(arguments[0], I32)])
        return I64(0)
