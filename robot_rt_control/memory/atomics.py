"""Atomic access to shared memory, for compiled code and for its interpreted twin.

Two processes (or threads without the GIL) that share memory need more than plain loads and stores:
compiler and processor may reorder them. Numba has no such operations on the CPU, so the functions
here emit LLVM's atomic loads, stores and fences. They work on addresses, because addresses are valid
for records, arrays and shared memory alike.

The usual pairs:

- A flag or ring counter: the producer writes the data and calls `store_release(address, n)`; a
  consumer that reads n with `load_acquire(address)` sees the data.
- A sequence lock: the writer stores an odd number, calls `fence_release`, writes the data, and stores an
  even number by `store_release`; the reader calls `load_acquire`, copies by `copy_words`, calls
  `fence_acquire` and compares a second `load_relaxed` (H.-J. Boehm, "Can seqlocks get along with
  programming language memory models?", 2012).

With NUMBA_DISABLE_JIT=1 the same functions use ctypes. They are then valid within one process only: the
interpreter guarantees no order between processes on weakly ordered processors.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from robot_rt_control.native.compiled_forms import compiled_form, interpreted
from robot_rt_control.native.realtime_code import entry

_FIRST_BYTE = np.dtype((np.uint8, (1,)))
_Generated = tuple[Any, Callable[..., Any]]

# --- addresses ---------------------------------------------------------------------------------


def address_of(thing: Any) -> int:
    """Address of a record, or of the first element of an array (the memory itself, never a copy)."""
    # For a large record, __array_interface__ would describe all fields at each call.
    view: Any = np.void.getfield(thing, _FIRST_BYTE, 0) if isinstance(thing, np.void) else thing
    return int(view.ctypes.data)


def field_address(record: np.record, field: str) -> int:
    """Address of a record's field. In compiled code the field's name must be a literal.

    Raises:
        KeyError: the record has no such field (in compiled code: at compile time).
    """
    fields = record.dtype.fields
    if fields is None or field not in fields:
        raise KeyError(f"the record has no field {field!r}")
    return address_of(record) + int(fields[field][1])


@compiled_form
def _compiled_addresses() -> None:
    from llvmlite import ir
    from numba.core import types as numba_types
    from numba.core.errors import TypingError
    from numba.extending import lower_builtin, type_callable

    types: Any = numba_types  # Numba lists only some of its types where checkers look

    # Numba passes the arguments to `typer` by name.

    @type_callable(address_of)
    def type_address_of(_context: Any) -> Callable[..., Any]:
        def typer(thing):
            if isinstance(thing, types.Record | types.Array):
                return types.int64
            raise TypingError(f"address_of takes a record or an array, not {thing}")

        return typer

    @lower_builtin(address_of, types.Record)
    def record_address(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    @lower_builtin(address_of, types.Array)
    def array_address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(array.data, ir.IntType(64))

    @type_callable(field_address)
    def type_field_address(_context: Any) -> Callable[..., Any]:
        def typer(record, field):
            if isinstance(field, types.UnicodeType):
                return None  # Numba asks again with the literal
            if not isinstance(record, types.Record) or not isinstance(field, types.StringLiteral):
                raise TypingError(f"field_address takes a record and a literal name, not {record} and {field}")
            if field.literal_value not in record.fields:
                raise TypingError(f"field_address: the record has no field {field.literal_value!r}")
            return types.int64

        return typer

    @lower_builtin(field_address, types.Record, types.StringLiteral)
    def lower_field_address(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        record, field = signature.args
        address = builder.ptrtoint(arguments[0], ir.IntType(64))
        return builder.add(address, ir.IntType(64)(record.fields[field.literal_value].offset))


def record_at(dtype: np.dtype) -> Callable[[int], np.record]:
    """Make a function, for compiled and interpreted code, that returns the record at an address.

    The caller is responsible for the address, the size and the lifetime of the memory. Call it once for
    each record type, at module level: `image_at = record_at(device_image_dtype)`.
    """

    def view(address: int) -> np.record:
        memory = (ctypes.c_char * dtype.itemsize).from_address(int(address))
        return np.frombuffer(memoryview(memory), dtype)[0]

    @compiled_form
    def compiled_view() -> None:
        import numba
        from numba.core import types as numba_types
        from numba.extending import lower_builtin, type_callable

        types: Any = numba_types
        record_type = numba.from_dtype(dtype)

        @type_callable(view)
        def type_view(_context: Any) -> Callable[..., Any]:
            def typer(address):
                return record_type

            return typer

        @lower_builtin(view, types.Integer)
        def lower_view(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(record_type))

    return view


# --- loads, stores, fences ---------------------------------------------------------------------


def _interpreted_load(integer: Any) -> Callable[[int], int]:
    def load(address: int) -> int:
        return int(integer.from_address(address).value)

    return load


def _interpreted_store(integer: Any) -> Callable[[int, int], None]:
    def store(address: int, value: int) -> None:
        integer.from_address(address).value = int(value)

    return store


def _interpreted_fence() -> None:
    return None


_load_relaxed: Callable[[int], int]
_load_acquire: Callable[[int], int]
_load_acquire_i4: Callable[[int], int]
_store_relaxed: Callable[[int, int], None]
_store_release: Callable[[int, int], None]
_store_release_i4: Callable[[int, int], None]
_fence_acquire: Callable[[], None]
_fence_release: Callable[[], None]
_fence_full: Callable[[], None]

if interpreted():
    _load_relaxed = _load_acquire = _interpreted_load(ctypes.c_int64)
    _load_acquire_i4 = _interpreted_load(ctypes.c_int32)
    _store_relaxed = _store_release = _interpreted_store(ctypes.c_int64)
    _store_release_i4 = _interpreted_store(ctypes.c_int32)
    _fence_acquire = _fence_release = _fence_full = _interpreted_fence


@compiled_form
def _compiled_accesses() -> None:
    global _load_relaxed, _load_acquire, _load_acquire_i4, _store_relaxed, _store_release, _store_release_i4
    global _fence_acquire, _fence_release, _fence_full
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def load_of(bits: int, order: str) -> Callable[..., Any]:
        @intrinsic
        def load(_: Any, address: Any) -> _Generated:
            def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
                pointer = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
                loaded = builder.load_atomic(pointer, order, bits // 8, typ=ir.IntType(bits))
                return loaded if bits == 64 else builder.sext(loaded, ir.IntType(64))

            return types.int64(types.int64), generate

        return load

    def store_of(bits: int, order: str) -> Callable[..., Any]:
        @intrinsic
        def store(_: Any, address: Any, value: Any) -> _Generated:
            def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
                pointer = builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer())
                value = arguments[1] if bits == 64 else builder.trunc(arguments[1], ir.IntType(bits))
                builder.store_atomic(value, pointer, order, bits // 8)

            return types.void(types.int64, types.int64), generate

        return store

    def fence_of(order: str) -> Callable[..., Any]:
        @intrinsic
        def fence(_: Any) -> _Generated:
            def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
                builder.fence(order)

            return types.void(), generate

        return fence

    _load_relaxed = load_of(64, "monotonic")
    _load_acquire = load_of(64, "acquire")
    _load_acquire_i4 = load_of(32, "acquire")
    _store_relaxed = store_of(64, "monotonic")
    _store_release = store_of(64, "release")
    _store_release_i4 = store_of(32, "release")
    _fence_acquire = fence_of("acquire")
    _fence_release = fence_of("release")
    _fence_full = fence_of("seq_cst")


@entry
def load_relaxed(address: int) -> int:
    """Read the int64 at an 8-byte aligned address: atomic, but not ordered with other memory."""
    return _load_relaxed(address)


@entry
def load_acquire(address: int) -> int:
    """Read the int64 at an 8-byte aligned address; later accesses happen after it."""
    return _load_acquire(address)


@entry
def load_acquire_i4(address: int) -> int:
    """Read the int32 at a 4-byte aligned address; later accesses happen after it."""
    return _load_acquire_i4(address)


@entry
def store_relaxed(address: int, value: int) -> None:
    """Write an int64 at an 8-byte aligned address: atomic, but not ordered with other memory."""
    _store_relaxed(address, value)


@entry
def store_release(address: int, value: int) -> None:
    """Write an int64 at an 8-byte aligned address; earlier accesses happen before it."""
    _store_release(address, value)


@entry
def store_release_i4(address: int, value: int) -> None:
    """Write an int32 at a 4-byte aligned address; earlier accesses happen before it."""
    _store_release_i4(address, value)


@entry
def fence_acquire() -> None:
    """Loads before the fence happen before all accesses after it."""
    _fence_acquire()


@entry
def fence_release() -> None:
    """All accesses before the fence happen before the stores after it."""
    _fence_release()


@entry
def fence_full() -> None:
    """All accesses before the fence happen before all accesses after it, including a store before a load."""
    _fence_full()


@entry
def copy_words(destination: int, source: int, count: int) -> None:
    """Copy `count` words of 8 bytes between aligned addresses; each word is atomic, without order.

    Unlike a plain copy, this is defined while another process writes the source: a sequence lock then
    detects whether the words belong together.
    """
    for i in range(count):
        _store_relaxed(destination + 8 * i, _load_relaxed(source + 8 * i))
