"""Calling the compiled methods of an action type by address, from the tick.

Every entry has the same signature, `int64 entry(State*, Params*, Part*, Part*, Part*, Part*)`, in Numba's
native calling convention: `i32 entry(i64* result, excinfo** exception, six record pointers)`. The returned
i32 is Numba's own status, zero when no exception happened; the only exception that checked code can meet
is an index out of range. So installing a new action type never recompiles the tick.

With NUMBA_DISABLE_JIT=1 there is no native code: `register_interpreted` puts a Python function in the place
of an entry, under an address that means nothing else, and `call_action` builds the records from the addresses.
Entries of code in C or C++ are native then as well.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from robot_rt_control.memory.layout import part_dtype
from robot_rt_control.native.compiled_forms import compiled_form
from robot_rt_control.vocabulary.capacities import MAX_ACTION_SLOTS
from robot_rt_control.vocabulary.enums import Status

_BOUNDS = int(Status.BOUNDS)

_interpreted: dict[int, tuple[Callable[..., Any], np.dtype, np.dtype, int]] = {}


def register_interpreted(
    address: int, function: Callable[..., Any], state_dtype: np.dtype, params_dtype: np.dtype, n_slots: int
) -> None:
    """Let `call_action` call a Python function where NUMBA_DISABLE_JIT=1 leaves no native code.

    Args:
        address: any non-zero number that is not yet in use; the tick's tables carry it like an address.
        function: takes (state, params, part_0 .. part_{n_slots-1}) as np.record, returns None or an int status.
        state_dtype: record type of the state.
        params_dtype: record type of the parameters.
        n_slots: number of parts that the function takes.
    """
    if address == 0 or address in _interpreted:
        raise ValueError(f"address {address} is 0 or already registered")
    if not 0 <= n_slots <= MAX_ACTION_SLOTS:
        raise ValueError(f"n_slots = {n_slots}: expected 0 to {MAX_ACTION_SLOTS}")
    _interpreted[address] = (function, state_dtype, params_dtype, n_slots)


def record_at(address: int, dtype: np.dtype) -> np.record:
    """The record at an address, as a view: writing it writes that memory. The caller keeps the memory alive."""
    memory = (ctypes.c_char * dtype.itemsize).from_address(address)
    return np.frombuffer(memoryview(memory), dtype)[0]


ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, *[ctypes.c_void_p] * (2 + MAX_ACTION_SLOTS)
)
"""The type of an entry, for Python."""


def call_entry(address: int, state_address: int, params_address: int, *parts: int) -> int:
    """Call the native entry at an address from Python, as `call_action` does from the tick.

    Args:
        address: of the entry.
        state_address, params_address, parts: addresses of the records, one part for each slot.

    Returns:
        As `call_action`.
    """
    result = ctypes.c_int64(0)
    unused = (0,) * (MAX_ACTION_SLOTS - len(parts))
    failed = ENTRY(address)(
        ctypes.byref(result), ctypes.byref(ctypes.c_void_p()), state_address, params_address, *parts, *unused
    )
    return _BOUNDS if failed else result.value


def call_action(address: int, state_address: int, params_address: int, p0: int, p1: int, p2: int, p3: int) -> int:
    """Call the entry at `address` (all arguments int64 addresses; slots without a part may be 0).

    Returns:
        The status that the user's method returned, or Status.BOUNDS when an index was out of range.
    """
    if int(address) not in _interpreted:  # C or C++
        return call_entry(int(address), int(state_address), int(params_address), *map(int, (p0, p1, p2, p3)))
    function, state_dtype, params_dtype, n_slots = _interpreted[int(address)]
    parts = [record_at(int(p), part_dtype) for p in (p0, p1, p2, p3)[:n_slots]]
    try:
        status = function(
            record_at(int(state_address), state_dtype), record_at(int(params_address), params_dtype), *parts
        )
    except IndexError:
        return _BOUNDS
    return 0 if status is None else int(status)


@compiled_form
def _compiled_call() -> None:
    from llvmlite import ir
    from numba.core import cgutils
    from numba.core import types as numba_types
    from numba.extending import lower_builtin, type_callable

    types: Any = numba_types  # Numba lists only some of its types where checkers look

    @type_callable(call_action)
    def type_call_action(_context: Any) -> Any:
        return lambda address, state_address, params_address, p0, p1, p2, p3: types.int64

    @lower_builtin(call_action, *[types.Integer] * 7)
    def lower_call_action(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = ir.IntType(8).as_pointer()
        entry_type = ir.FunctionType(ir.IntType(32), [word.as_pointer(), pointer.as_pointer(), *[pointer] * 6])
        # in the caller's entry block: a call inside of a loop must not grow the stack
        result = cgutils.alloca_once(builder, word)
        exception = cgutils.alloca_once(builder, pointer)
        entry = builder.inttoptr(arguments[0], entry_type.as_pointer())
        records = [builder.inttoptr(a, pointer) for a in arguments[1:]]
        builder.store(ir.Constant(word, 0), result)
        status = builder.call(entry, [result, exception, *records])
        failed = builder.icmp_signed("!=", status, ir.Constant(ir.IntType(32), 0))
        return builder.select(failed, ir.Constant(word, _BOUNDS), builder.load(result))
