"""Loading native code of action types into the executor, by key: no compiling, no Python of the user.

Runs on the executor's non-real-time side. Loaded code stays for the life of the process: the tick may
hold its addresses, and an action type that comes back must not be linked again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from llvmlite import binding
from numba.core.registry import cpu_target

from robot_rt_control.definitions import native_code
from robot_rt_control.native.object_file import object_symbols
from robot_rt_control.vocabulary.errors import DefinitionError


@dataclass(frozen=True)
class NativeType:
    """The entries of an action type in this process, for `call_action`. Address 0: no such method."""

    key: str
    type_name: str
    n_slots: int
    state_layout: int
    state_size: int
    parameter_layout: int
    parameter_size: int
    on_enter: int
    sense: int
    set_parameters: int
    control: int
    gap: tuple[int, ...] = ()
    """Gap functions of the stream inputs, in their order."""


_lock = threading.Lock()
_loaded: dict[str, NativeType] = {}
_engines: list[Any] = []


def load(key: str) -> NativeType:
    """Load the native code of a key, or find it loaded.

    Args:
        key: what the builder answered for the action type (the `key` of a table's type).

    Raises:
        DefinitionError: the code is missing or damaged, was made for other layouts or another processor,
            or needs a function that this process does not have.
    """
    with _lock:
        if key not in _loaded:
            _loaded[key] = _load(key)
        return _loaded[key]


def _load(key: str) -> NativeType:
    metadata, code = native_code.read(key)
    folder = native_code.folder_of(key)
    try:
        symbols = object_symbols(code)
    except ValueError as error:
        raise DefinitionError(
            f"native code {key}: {error}", hint=f"Delete {folder} and build the action type again"
        ) from error
    # Creating the target makes Numba register its helpers of the math library with the linker.
    _ = cpu_target.target_context
    # The linker would end the process at the first symbol that it does not find.
    missing = sorted(name for name in symbols.needed if not binding.address_of_symbol(name))
    if missing:
        raise DefinitionError(
            f"native code {key} of action type {metadata.type_name!r} calls functions that the executor does not have",
            got=", ".join(missing),
            hint=f"Delete {folder} and build the action type again, on this machine",
        )
    absent = sorted(set(metadata.symbols.values()) - symbols.defined)
    if absent:
        raise DefinitionError(
            f"native code {key} of action type {metadata.type_name!r} lacks its entries",
            expected=", ".join(absent),
            hint=f"Delete {folder} and build the action type again",
        )
    engine = binding.create_mcjit_compiler(
        binding.parse_assembly(""), binding.Target.from_default_triple().create_target_machine(jit=True)
    )
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)

    def address(method: str) -> int:
        symbol = metadata.symbols.get(method)
        return int(engine.get_function_address(symbol)) if symbol else 0

    return NativeType(
        key=key,
        type_name=metadata.type_name,
        n_slots=metadata.n_slots,
        state_layout=metadata.state_layout,
        state_size=metadata.state_size,
        parameter_layout=metadata.parameter_layout,
        parameter_size=metadata.parameter_size,
        on_enter=address("on_enter"),
        sense=address("sense"),
        set_parameters=address("set_parameters"),
        control=address("control"),
        gap=tuple(address(method) if method else 0 for method in metadata.gap_methods),
    )
