"""The action types that a control server knows: built-ins, those of the workcell, and those loaded while it runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from robot_rt_control.actions import BUILTIN
from robot_rt_control.definitions.action_type import ActionType, Slot
from robot_rt_control.definitions.declared_type import DeclaredType
from robot_rt_control.server.builder.process import Builder
from robot_rt_control.server.preparer.process import UserClass
from robot_rt_control.server.types.type_building import BUILT_IN, LoadedType, build_types
from robot_rt_control.validation.catalogue import unknown_action_type
from robot_rt_control.vocabulary import capacities, defaults
from robot_rt_control.vocabulary.errors import CapacityError, CompileError, DefinitionError


@dataclass(frozen=True, eq=False)
class RegisteredType:
    """An action type whose native code is in the cache."""

    declared: DeclaredType
    index: int
    """In the tables' list of types."""
    code: type[ActionType] | UserClass
    """See `LoadedType`."""
    key: str
    """The key of its native code."""
    origin: str = ""
    """Where it comes from: "built in", a file, or an entry point."""
    compute_time: float = math.nan
    """The time of its longest tick, measured when it was built [s]; NaN: not measured."""
    time_budget: float = math.inf
    """What its code may take in one tick [s]."""

    @property
    def name(self) -> str:
        return self.declared.name

    @property
    def moving_slots(self) -> tuple[Slot, ...]:
        """The slots whose parts it commands; they come first."""
        return tuple(s for s in self.declared.slots if s.moves)

    @property
    def too_slow(self) -> str:
        """What is wrong with its compute time, empty if nothing is."""
        if not self.compute_time > self.time_budget:
            return ""
        return (
            f"one tick of action type {self.name!r} takes up to {self.compute_time * 1e6:.1f} µs, "
            f"more than its time budget of {self.time_budget * 1e6:.1f} µs"
        )


def register(loaded: LoadedType, index: int, *, period: float = defaults.PERIOD_S) -> RegisteredType:
    """Check what only the loop's period and memory decide: time budget, sizes of records.

    Args:
        index: in the tables' list of types.
        period: of the loop [s].

    Raises:
        DefinitionError: names the type and the declaration that is not valid.
        CompileError: it is slower than its time budget, or its loops let it be much slower, and it is not built in.
    """
    declared = loaded.declared
    of = f"action type {declared.name!r}"
    registered = RegisteredType(
        declared,
        index,
        loaded.code,
        loaded.key,
        loaded.origin,
        loaded.compute_time,
        _budget(of, declared.time_budget, period),
    )
    for what, record in (("Params", declared.parameter_record), ("State", declared.state_record)):
        if record.size % 8:
            raise DefinitionError(
                f"{of}: {what}", expected="a record whose size is a multiple of 8 bytes", got=f"{record.size} bytes"
            )
    if registered.too_slow and loaded.origin != BUILT_IN:
        raise CompileError(
            registered.too_slow,
            hint="Do less in its real-time methods and more in prepare_parameters, or declare a larger `time_budget`",
        )
    most = defaults.FAR_ABOVE_BUDGET * registered.time_budget
    if loaded.worst_time > most and loaded.origin != BUILT_IN:
        raise CompileError(
            loaded.worst_loop or of,
            expected=(
                f"at most {most * 1e6:.0f} µs in one tick, {defaults.FAR_ABOVE_BUDGET} times its time budget, whatever "
                "its loops and branches do"
            ),
            got=f"up to {loaded.worst_time * 1e6:.0f} µs",
            hint="Declare a smaller `maximum` of what the loop counts to, or a larger `time_budget`; or do a part of "
            "the work in each tick",
        )
    return registered


def _budget(of: str, declared: float | None, period: float) -> float:
    """[s]"""
    if declared is None:
        return defaults.TIME_BUDGET_FRACTION * period
    if not 0.0 < declared <= period:
        raise DefinitionError(
            f"{of}: time_budget", expected=f"more than 0, at most a period of {period:g} s", got=f"{declared:g} s"
        )
    return float(declared)


class ActionTypes:
    """All action types, by name. Types are added and removed; an action keeps the RegisteredType that it has.

    One thread at a time may change them; any thread may read.

    Args:
        types: to begin with.
        period: of the loop [s].

    Raises:
        DefinitionError: a declaration is not valid, or a name is there twice.
        CapacityError: more than MAX_ACTION_TYPES.
    """

    def __init__(self, types: Sequence[LoadedType] = (), *, period: float = defaults.PERIOD_S) -> None:
        self.period = period
        self._by_name: dict[str, RegisteredType] = {}
        self._places: list[RegisteredType | None] = []
        self.add(types)

    @classmethod
    def build(
        cls,
        specs: Sequence[str | type[ActionType]],
        builder: Builder,
        progress: Callable[[str], None],
        *,
        builtin: Sequence[str] = BUILTIN,
        period: float = defaults.PERIOD_S,
        trusted: Sequence[Path] = (),
    ) -> ActionTypes:
        """Build the built-in action types and further ones, or find them in the cache.

        Args:
            specs: files, modules or entry points of the workcell (see action_sources.py); or the classes themselves.
            progress: called with what is being done, and with built-in types that are slower than their time budget.
            period: of the loop [s].
            trusted: folders whose C and C++ code may run in the loop.

        Raises:
            CompileError: names every action type that was refused, and why.
        """
        types = cls(build_types([*builtin, *specs], builder, progress, trusted), period=period)
        for registered in types.all():
            if registered.too_slow:
                progress(registered.too_slow)
        return types

    # --- looking --------------------------------------------------------------------------------

    @property
    def keys(self) -> list[str]:
        """Keys of native code, by the types' index; empty: no type has this index."""
        return ["" if t is None else t.key for t in self._places]

    @property
    def budgets_ns(self) -> list[int]:
        """Time budgets [ns], by the types' index; 0: none."""
        return [0 if t is None else round(t.time_budget * 1e9) for t in self._places]

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
        found = self._by_name.get(name)
        if found is None:
            raise unknown_action_type(of, name, self._by_name)
        return found

    def check_present(self, registered: RegisteredType, of: str) -> None:
        """Refuse a type that was replaced or unloaded after `get` gave it.

        Raises:
            DefinitionError: it was.
        """
        if self._by_name.get(registered.name) is not registered:
            raise DefinitionError(
                f"{of}: action type {registered.name!r} was replaced or unloaded while the action was prepared",
                hint="Define the action again",
            )

    # --- changing -------------------------------------------------------------------------------

    def add(
        self, loaded: Sequence[LoadedType], *, replace: bool = False, used: Collection[RegisteredType] = ()
    ) -> list[RegisteredType]:
        """Add types: all of them or none.

        Args:
            replace: whether a type takes the place of one of the same name with other code.
            used: the types that actions have; one that was replaced keeps its index for as long as it is among them.

        Returns:
            The types of these names, in their order; those whose code is there already as they are.

        Raises:
            DefinitionError: a declaration is not valid, or a name is taken.
            CapacityError: more than MAX_ACTION_TYPES.
            CompileError: one is slower than its time budget.
        """
        by_name = dict(self._by_name)
        present = set(by_name.values())
        places = [t if t in present or t in used else None for t in self._places]
        for one in loaded:
            other = by_name.get(one.declared.name)
            if other is not None and other in present and other.key == one.key:
                continue
            if other is not None:
                _check_replaceable(other, one, replace=replace and other in present)
                if other not in used:
                    places[other.index] = None
            registered = register(one, _first_free(places), period=self.period)
            places[registered.index] = by_name[registered.name] = registered
        self._places, self._by_name = places, by_name
        return [by_name[one.declared.name] for one in loaded]

    def remove(self, names: Iterable[str]) -> None:
        """Remove types that nobody uses; they must be there."""
        by_name, places = dict(self._by_name), list(self._places)
        for name in names:
            places[by_name.pop(name).index] = None
        self._places, self._by_name = places, by_name


def _check_replaceable(present: RegisteredType, new: LoadedType, *, replace: bool) -> None:
    if present.origin == BUILT_IN:
        raise DefinitionError(
            f"action type {present.name!r} is built in",
            expected="another name",
            got=new.declared.place,
            hint="Choose another `name` for the class",
        )
    if not replace:
        raise DefinitionError(
            f"two action types have the name {present.name!r}",
            expected="each name once",
            got=f"{present.declared.place} and {new.declared.place}",
            hint="Rename one of the classes' `name`, or ask for the present one to be replaced",
        )


def _first_free(places: list[RegisteredType | None]) -> int:
    for index, occupant in enumerate(places):
        if occupant is None:
            return index
    if len(places) >= capacities.MAX_ACTION_TYPES:
        raise CapacityError(
            "too many action types",
            expected=f"at most {capacities.MAX_ACTION_TYPES} (MAX_ACTION_TYPES)",
            got=str(len(places) + 1),
            hint="Unload some; a type that was replaced counts for as long as an action has its code",
        )
    places.append(None)
    return len(places) - 1
