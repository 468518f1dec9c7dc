"""From an action's definition to its parameter record: everything that can be checked of one action by itself.

Runs code of users: `create`, the constructor and `prepare_parameters` of the action type.
"""

from __future__ import annotations

import inspect
import logging
import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, ParameterValue, Slot, fill_parameters
from robot_rt_control.definitions.definitions import ActionDefinition
from robot_rt_control.definitions.definitions import ParameterValue as GivenValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.server.tables.part_view import PartView
from robot_rt_control.server.types.action_types import ActionTypes, RegisteredType
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, RobotControlError, unknown

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedAction:
    """An action that is right in itself; it has no place in the tables yet."""

    id: str
    type: RegisteredType
    parts: tuple[PartView, ...]
    """In the order of the type's slots."""
    instance: ActionType
    values: Mapping[str, ParameterValue]
    parameters: np.ndarray
    """The parameter record as bytes, shape (size,) of uint8."""
    preparing: threading.Lock = field(default_factory=threading.Lock)
    """Held while the instance prepares: its author need not think of threads."""


class Preparer:
    """Prepares actions.

    Args:
        types: the action types.
        parts: all parts of the workcell, by name.
    """

    def __init__(self, types: ActionTypes, parts: Mapping[str, PartView]) -> None:
        self._types, self._parts = types, parts

    def prepare(self, definition: ActionDefinition, held: Collection[str] | None) -> PreparedAction:
        """Check an action and fill its parameter record.

        Args:
            held: parts that its session holds; None: the system's session, which may use all.

        Raises:
            DefinitionError: names the action, what is wrong with it, and what would be right.
        """
        of = f"action {definition.id!r}"
        registered = self._types.get(definition.type, of)
        parts = self._assign(of, registered, definition.parts)
        for slot, part in zip(registered.action_type.slots, parts, strict=True):
            _check_kind(of, registered, slot, part)
            if slot.moves and held is not None and part.name not in held:
                raise DefinitionError(
                    f"{of} moves part {part.name!r}",
                    expected=f"a part of its session: {', '.join(held)}",
                    got="a part that the session does not hold",
                    hint="Open the session with this part too",
                )
        values = self._values(definition.id, registered, parts, definition.parameters)
        by_slot = {s.name: p for s, p in zip(registered.action_type.slots, parts, strict=True)}
        instance = run_user_code(of, registered, "create", lambda: registered.action_type.create(by_slot))
        return PreparedAction(
            id=definition.id,
            type=registered,
            parts=parts,
            instance=instance,
            values=values,
            parameters=self.fill(definition.id, registered, instance, values),
        )

    def new_values(
        self,
        action: str,
        registered: RegisteredType,
        part: str,
        present: Mapping[str, ParameterValue],
        given: Iterable[GivenValue],
    ) -> dict[str, ParameterValue]:
        """An action's values after some of them are changed.

        Args:
            part: in the action's first slot.
            present: its checked values so far.

        Raises:
            DefinitionError: a given value is not valid.
        """
        declared = registered.action_type.parameters
        view = self._parts[part]
        changed = check_parameters(action, declared, given, dof=view.dof, joint_unit=view.joint_unit, only_given=True)
        merged = {**present, **changed}
        return {p.name: merged[p.name] for p in declared if p.name in merged}

    def fill(
        self, action: str, registered: RegisteredType, instance: ActionType, values: Mapping[str, ParameterValue]
    ) -> np.ndarray:
        """The parameter record for checked values, as bytes.

        Raises:
            DefinitionError: the type's own check refuses them, or its code raised an exception.
        """
        memory = np.zeros(1, registered.parameter_dtype)
        run_user_code(
            f"action {action!r}",
            registered,
            "prepare_parameters",
            lambda: fill_parameters(instance, values, memory[0]),
        )
        return memory.view(np.uint8)

    def _values(
        self, action: str, registered: RegisteredType, parts: tuple[PartView, ...], given: Iterable[GivenValue]
    ) -> dict[str, ParameterValue]:
        first = parts[0]
        return check_parameters(
            action, registered.action_type.parameters, given, dof=first.dof, joint_unit=first.joint_unit
        )

    def _assign(
        self, of: str, registered: RegisteredType, given: tuple[str, ...] | Mapping[str, str]
    ) -> tuple[PartView, ...]:
        """The part in each slot."""
        slots = registered.action_type.slots
        shown = ", ".join(f"{s.name} ({_kinds(s)})" for s in slots)
        if isinstance(given, Mapping):
            names = {s.name for s in slots}
            for name in given:
                if name not in names:
                    raise DefinitionError(
                        f"{of}: type {registered.name!r} has no slot {name!r}",
                        expected=unknown("slot", name, names),
                        got=repr(name),
                    )
            missing = [s.name for s in slots if s.name not in given]
            if missing:
                raise DefinitionError(
                    f"{of}: a part is missing", expected=f"a part in each slot: {shown}", got=f"none for {missing[0]!r}"
                )
            chosen = [given[s.name] for s in slots]
        else:
            if len(given) != len(slots):
                raise DefinitionError(
                    f"{of}: wrong number of parts",
                    expected=f"{len(slots)}, in the order of the slots of {registered.name!r}: {shown}",
                    got=f"{len(given)} ({', '.join(given)})",
                )
            chosen = list(given)
        for name in chosen:
            if name not in self._parts:
                raise DefinitionError(
                    f"{of}: unknown part", expected=unknown("part", name, self._parts), got=repr(name)
                )
        return tuple(self._parts[name] for name in chosen)


def _kinds(slot: Slot) -> str:
    return " or ".join(kind.name.lower() for kind in slot.kinds)


def _check_kind(of: str, registered: RegisteredType, slot: Slot, part: PartView) -> None:
    if part.kind not in slot.kinds:
        raise DefinitionError(
            f"{of}: part {part.name!r} does not fit slot {slot.name!r} of type {registered.name!r}",
            expected=f"a part of kind {_kinds(slot)}",
            got=part.kind.name.lower(),
        )


def run_user_code(of: str, registered: RegisteredType, method: str, call: Callable[[], _Result]) -> _Result:
    """Run code of an action type's author.

    Raises:
        DefinitionError: the code refused, with its own text; or it raised something else, with the place.
    """
    try:
        return call()
    except CapacityError as error:
        raise CapacityError(f"{of}: {error.what}", expected=error.expected, got=error.got, hint=error.hint) from error
    except RobotControlError as error:
        raise DefinitionError(f"{of}: {error.what}", expected=error.expected, got=error.got, hint=error.hint) from error
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: whoever asked gets an answer
        if not isinstance(error, Exception):
            _log.warning("%s of action type %r raised %s", method, registered.name, type(error).__name__)
        raise DefinitionError(
            f"{of}: {method} of action type {registered.name!r} failed with {type(error).__name__}: {error}",
            got=f"the exception at {_place(error, registered)}",
            hint="Correct the action type's code and restart the control server",
        ) from error


def _place(error: BaseException, registered: RegisteredType) -> str:
    """File and line of the user's code: the last step of the traceback beside the class, or the last one at all."""
    steps = traceback.extract_tb(error.__traceback__)
    folder = Path(inspect.getfile(registered.action_type)).resolve().parent
    own = [s for s in steps[1:] if Path(s.filename).resolve().parent == folder]
    last = (own or list(steps))[-1]
    return f"{last.filename}:{last.lineno}"
