"""Loading native code of action types into the executor, by key: no compiling, no Python of the user.

Runs on the executor's non-real-time side. Loaded code stays for the life of the process: the tick may
hold its addresses, and an action type that comes back must not be linked again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from robot_rt_control.definitions import native_code
from robot_rt_control.native.linking import LinkError, link
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
    hint = f"Delete {folder} and build the action type again, on this machine"
    try:
        addresses = link(code, set(metadata.symbols.values()))
    except LinkError as error:
        what = f"native code {key} of action type {metadata.type_name!r}"
        if error.missing:
            raise DefinitionError(
                f"{what} calls functions that the executor does not have", got=", ".join(error.missing), hint=hint
            ) from error
        raise DefinitionError(f"{what} lacks its entries", expected=", ".join(error.absent), hint=hint) from error
    except ValueError as error:
        raise DefinitionError(f"native code {key}: {error}", hint=hint) from error

    def address(method: str) -> int:
        symbol = metadata.symbols.get(method)
        return addresses[symbol] if symbol else 0

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
