"""Action types that run as plain Python inside the compiled tick: breakpoints work, and nothing but C is compiled."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from robot_rt_control.definitions.action_type import ActionType, gap_method, parameter_dtype, state_dtype, stream_inputs
from robot_rt_control.definitions.class_place import spec_of
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.memory.layout import layout_digest, part_dtype
from robot_rt_control.realtime.executor.executor import native_loader
from robot_rt_control.realtime.executor.native_loader import NativeType
from robot_rt_control.realtime.tick.native_call import ENTRY, record_at
from robot_rt_control.server.builder.build import build_c
from robot_rt_control.server.code.source import find_action_types, load_action_type
from robot_rt_control.server.types.action_sources import resolve
from robot_rt_control.server.types.type_building import LoadedType

_FAILED = 1
_numbers = count(1)


class InterpretedTypes:
    """Makes entries that call Python, and gives them to an executor instead of native code.

    Attributes:
        error: exception of a method, other than an index out of range; None: there was none.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, NativeType] = {}
        self._entries: list[Any] = []
        self.error: BaseException | None = None

    def add(self, source: str | type[ActionType]) -> list[LoadedType]:
        """The types of a source, to be registered at a server. Nothing is checked: the compiler does not see them.

        Args:
            source: see server/types/action_sources.py; or a class.
        """
        if not isinstance(source, str):
            return [self._loaded(source, spec_of(source))]
        found = resolve(source)
        specs = [f"{found.place}:{found.class_name}"] if found.class_name else find_action_types(found.place)
        return [self._loaded(load_action_type(spec).action_type, found.origin) for spec in specs]

    def load(self, key: str) -> NativeType:
        """The entries that an executor calls for a type: of an interpreted type, else native code."""
        return self._by_key[key] if key in self._by_key else native_loader.load(key)

    def _loaded(self, action_type: type[ActionType], origin: str) -> LoadedType:
        if action_type.realtime_source:  # there is no Python to interpret
            return LoadedType(DeclaredType.of(action_type), build_c(action_type), action_type, str(Path(origin)))
        key = f"{next(_numbers):064x}"
        state, params = state_dtype(action_type), parameter_dtype(action_type)
        gaps = [gap_method(action_type, stream.name) for stream in stream_inputs(action_type)]
        self._by_key[key] = NativeType(
            key=key,
            type_name=action_type.name,
            n_slots=len(action_type.slots),
            state_layout=layout_digest(state),
            state_size=state.itemsize,
            parameter_layout=layout_digest(params),
            parameter_size=params.itemsize,
            on_enter=self._address(action_type, "on_enter"),
            sense=self._address(action_type, "sense"),
            set_parameters=self._address(action_type, "set_parameters"),
            control=self._address(action_type, "control"),
            gap=tuple(0 if name is None else self._address(action_type, name) for name in gaps),
        )
        return LoadedType(DeclaredType.of(action_type), key, action_type, str(Path(origin)))

    def _address(self, action_type: type[ActionType], name: str) -> int:
        """Address of the entry of a method; 0: the type has none."""
        if not hasattr(action_type, name):
            return 0
        entry = ENTRY(self._entry(getattr(action_type, name), action_type))
        self._entries.append(entry)  # the loop may call it for as long as the executor lives
        return ctypes.cast(entry, ctypes.c_void_p).value or 0

    def _entry(self, method: Callable[..., Any], action_type: type[ActionType]) -> Callable[..., int]:
        state, params = state_dtype(action_type), parameter_dtype(action_type)
        n_slots = len(action_type.slots)

        def entry(result: Any, _exception: int, *addresses: int) -> int:
            try:
                records = [record_at(addresses[0], state), record_at(addresses[1], params)]
                status = method(*records, *[record_at(a, part_dtype) for a in addresses[2 : 2 + n_slots]])
                result[0] = 0 if status is None else int(status)
                return 0
            except IndexError:
                return _FAILED  # like the bounds check of compiled code
            except BaseException as error:  # nothing may be raised into the loop; `raise_error` raises it later
                self.error = self.error or error
                return _FAILED

        return entry

    def raise_error(self) -> None:
        """Raise the exception of a method, once."""
        error, self.error = self.error, None
        if error is not None:
            raise error
