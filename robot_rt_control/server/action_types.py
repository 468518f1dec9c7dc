"""The action types that a control server knows: built-ins and those of the workcell, all built at start-up."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_rt_control.actions import BUILTIN
from robot_rt_control.program import capacities
from robot_rt_control.program.action_type import ActionType, Slot, parameter_dtype, state_dtype
from robot_rt_control.program.errors import CapacityError, CompileError, DefinitionError, unknown
from robot_rt_control.program.names import check_name, check_type_name
from robot_rt_control.program.streams import check_streams
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.builder.source import load_action_type


@dataclass(frozen=True, eq=False)
class RegisteredType:
    """An action type whose native code is in the cache."""

    name: str
    index: int
    """In the tables' list of types."""
    action_type: type[ActionType]
    key: str
    """Of its native code."""
    parameter_dtype: np.dtype
    state_dtype: np.dtype

    @property
    def moving_slots(self) -> tuple[Slot, ...]:
        """The slots whose parts it commands; they come first."""
        return tuple(s for s in self.action_type.slots if s.moves)

    @property
    def description(self) -> str:
        """What it does: the class's docstring."""
        return inspect.cleandoc(self.action_type.__doc__ or "")


def register(action_type: type[ActionType], key: str, index: int) -> RegisteredType:
    """Check an action type's declarations.

    Raises:
        DefinitionError: names the type and the declaration that is not valid.
    """
    of = f"action type {action_type.name!r}"
    check_type_name("name of an action type", action_type.name)
    slots = action_type.slots
    if not slots or not slots[0].moves:
        raise DefinitionError(f"{of}: slots", expected="at least one slot that moves", got=str([s.name for s in slots]))
    if len(slots) > capacities.MAX_ACTION_SLOTS:
        raise CapacityError(
            f"{of} has too many slots",
            expected=f"at most {capacities.MAX_ACTION_SLOTS} (MAX_ACTION_SLOTS)",
            got=str(len(slots)),
        )
    moves = [s.moves for s in slots]
    if moves != sorted(moves, reverse=True):
        raise DefinitionError(
            f"{of}: slots", expected="those that are only read behind those that move", got=str(moves)
        )
    for kind, names in (
        ("slot", [s.name for s in slots]),
        ("parameter", [p.name for p in action_type.parameters]),
        ("signal", list(action_type.signals)),
        ("state variable", [v.name for v in action_type.state_variables]),
        ("stream", [s.name for s in action_type.streams]),
    ):
        for name in names:
            check_name(f"{of}: name of a {kind}", name)
            if names.count(name) > 1:
                raise DefinitionError(f"{of}: the {kind} {name!r} is declared twice", expected="each once")
    check_streams(of, action_type.streams)
    registered = RegisteredType(
        action_type.name, index, action_type, key, parameter_dtype(action_type), state_dtype(action_type)
    )
    for what, dtype in (("Params", registered.parameter_dtype), ("State", registered.state_dtype)):
        if dtype.itemsize % 8:
            raise DefinitionError(
                f"{of}: {what}", expected="a record whose size is a multiple of 8 bytes", got=f"{dtype.itemsize} bytes"
            )
    return registered


class ActionTypes:
    """All action types, by name.

    Args:
        types: action types with the keys of their native code.

    Raises:
        DefinitionError: a declaration is not valid, or a name is there twice.
        CapacityError: more than MAX_ACTION_TYPES.
    """

    def __init__(self, types: Sequence[tuple[type[ActionType], str]]) -> None:
        if len(types) > capacities.MAX_ACTION_TYPES:
            raise CapacityError(
                "too many action types",
                expected=f"at most {capacities.MAX_ACTION_TYPES} (MAX_ACTION_TYPES)",
                got=str(len(types)),
            )
        self._by_name: dict[str, RegisteredType] = {}
        for index, (action_type, key) in enumerate(types):
            registered = register(action_type, key, index)
            other = self._by_name.get(registered.name)
            if other is not None:
                raise DefinitionError(
                    f"two action types have the name {registered.name!r}",
                    expected="each name once",
                    got=f"{_place(other.action_type)} and {_place(action_type)}",
                    hint="Rename one of the classes' `name`",
                )
            self._by_name[registered.name] = registered

    @classmethod
    def build(
        cls,
        specs: Sequence[str | type[ActionType]],
        builder: Builder,
        progress: Callable[[str], None],
        *,
        builtin: Sequence[str] = BUILTIN,
    ) -> ActionTypes:
        """Build the built-in action types and further ones, or find them in the cache.

        Args:
            specs: "file.py:Class" or "package.module:Class", of the workcell; or the classes themselves.
            progress: is told what is being done.

        Raises:
            CompileError: names every action type that was refused, and why.
        """
        wanted = [*builtin, *specs]
        results = builder.build_many(wanted, progress)
        errors = [r for r in results if isinstance(r, CompileError)]
        if errors:
            raise CompileError("\n".join(str(e) for e in errors))
        built = [r for r in results if not isinstance(r, CompileError)]
        return cls([(load_action_type(w).action_type, b.key) for w, b in zip(wanted, built, strict=True)])

    @property
    def keys(self) -> list[str]:
        """Of native code, by the types' index."""
        return [t.key for t in self._by_name.values()]

    def all(self) -> list[RegisteredType]:
        """All types, by name."""
        return sorted(self._by_name.values(), key=lambda t: t.name)

    def get(self, name: str, of: str) -> RegisteredType:
        """The type of this name.

        Args:
            of: what needs it, for messages: "action 'approach'".

        Raises:
            DefinitionError: there is none.
        """
        if name not in self._by_name:
            raise DefinitionError(
                f"{of}: unknown action type", expected=unknown("action type", name, self._by_name), got=repr(name)
            )
        return self._by_name[name]


def _place(action_type: type[ActionType]) -> str:
    return f"{action_type.__module__}:{action_type.__qualname__}"
