"""From an action's definition to its parameter record.

Runs code of users: `create`, the constructor and `prepare_parameters` of the action type.
"""

from __future__ import annotations

import inspect
import logging
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from robot_rt_control.definitions.action_type import ActionType, ParameterValue, fill_parameters
from robot_rt_control.definitions.definitions import ActionDefinition, AxisDefinition, StrategyDefinition
from robot_rt_control.definitions.definitions import ParameterValue as GivenValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.memory.layout import degree_dtype, offset_of
from robot_rt_control.model.catalogue import joint_unit
from robot_rt_control.server.tables.axis_view import AxisView, degree_views, joint_views
from robot_rt_control.server.tables.part_view import PartView
from robot_rt_control.server.types.action_types import ActionTypes, RegisteredType
from robot_rt_control.validation.actions import slot_parts
from robot_rt_control.validation.strategies import find_axis
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError, RobotControlError

_log = logging.getLogger(__name__)

_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedLaw:
    """The law of a strategy."""

    definition: StrategyDefinition
    type: RegisteredType
    parts: tuple[PartView, ...]
    """That it reads, in the order of its slots after the first."""
    parameters: np.ndarray
    """The parameter record as bytes, shape (size,) of uint8."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedAxis:
    """A degree of freedom with its strategies, in order of priority."""

    name: str
    part: PartView
    joint: int
    """Index of the joint, or among the degrees of freedom that the action's type declares."""
    record: int | None
    """Of its `layout.degree_dtype` in the action's state [bytes], if the type declares it."""
    laws: tuple[PreparedLaw, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedAction:
    """An action that is right in itself; it has no place in the tables yet."""

    id: str
    type: RegisteredType
    parts: tuple[PartView, ...]
    """In the order of the type's slots."""
    axes: tuple[PreparedAxis, ...] = ()
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

    def prepare(self, definition: ActionDefinition) -> PreparedAction:
        """Make an action and fill its parameter record.

        Args:
            definition: found right by `validation`.

        Raises:
            DefinitionError: the type's own code refuses it, or raised an exception.
        """
        of = f"action {definition.id!r}"
        registered = self._types.get(definition.type, of)
        slots = registered.action_type.slots
        parts = tuple(self._parts[name] for name in slot_parts(of, registered.action_type, definition.parts))
        values = self._values(definition.id, registered, parts[0], definition.parameters)
        by_slot = {s.name: p for s, p in zip(slots, parts, strict=True)}
        instance = run_user_code(of, registered, "create", lambda: registered.action_type.create(by_slot))
        parameters = self.fill(of, registered, instance, values)
        moved = parts[: len(registered.moving_slots)]
        views = {p.name: joint_views(p) for p in moved}
        if definition.strategies and registered.action_type.degrees_of_freedom:
            filled = parameters.view(registered.parameter_dtype)[0]
            views = {
                parts[0].name: run_user_code(
                    of, registered, "prepare_degrees", lambda: degree_views(parts[0], instance, filled)
                )
            }
        return PreparedAction(
            id=definition.id,
            type=registered,
            parts=parts,
            axes=tuple(self._axis(definition.id, registered, axis, views) for axis in definition.strategies),
            instance=instance,
            values=values,
            parameters=parameters,
        )

    def _axis(
        self,
        action: str,
        registered: RegisteredType,
        definition: AxisDefinition,
        views: Mapping[str, Mapping[str, AxisView]],
    ) -> PreparedAxis:
        declares = bool(registered.action_type.degrees_of_freedom)
        of = f"action {action!r}: {definition.label}"
        name, joint = find_axis(of, definition.axis, views, by_index=not declares)
        assert joint is not None  # the joints are known
        view = list(views[name].values())[joint]
        record = None
        if declares:
            record = offset_of(registered.state_dtype, "degrees") + joint * degree_dtype.itemsize
        laws = tuple(self._law(action, view, definition, strategy) for strategy in definition.strategies)
        return PreparedAxis(name=definition.axis, part=self._parts[name], joint=joint, record=record, laws=laws)

    def _law(self, action: str, view: AxisView, axis: AxisDefinition, strategy: StrategyDefinition) -> PreparedLaw:
        of = f"action {action!r}: strategy {strategy.name!r} of {axis.axis!r}"
        registered = self._types.get(strategy.law, of)
        declared, slots = registered.action_type.parameters, registered.action_type.slots
        unit = view.joint_units[0]
        values = check_parameters("", declared, strategy.parameters, dof=1, joint_unit=unit, of=of)
        parts = tuple(self._parts[name] for name in strategy.parts)
        by_slot = {s.name: p for s, p in zip(slots, (view, *parts), strict=True)}
        instance = run_user_code(of, registered, "create", lambda: registered.action_type.create(by_slot))
        return PreparedLaw(
            definition=strategy,
            type=registered,
            parts=parts,
            parameters=self.fill(of, registered, instance, values),
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
        changed = self._values(action, registered, self._parts[part], given, only_given=True)
        merged = {**present, **changed}
        return {p.name: merged[p.name] for p in registered.action_type.parameters if p.name in merged}

    def fill(
        self, of: str, registered: RegisteredType, instance: ActionType, values: Mapping[str, ParameterValue]
    ) -> np.ndarray:
        """The parameter record for checked values, as bytes.

        Args:
            of: what has these parameters, for messages: "action 'approach'".

        Raises:
            DefinitionError: the type's own check refuses them, or its code raised an exception.
        """
        memory = np.zeros(1, registered.parameter_dtype)
        run_user_code(
            of,
            registered,
            "prepare_parameters",
            lambda: fill_parameters(instance, values, memory[0]),
        )
        return memory.view(np.uint8)

    def _values(
        self,
        action: str,
        registered: RegisteredType,
        first: PartView,
        given: Iterable[GivenValue],
        *,
        only_given: bool = False,
    ) -> dict[str, ParameterValue]:
        return check_parameters(
            action,
            registered.action_type.parameters,
            given,
            dof=first.dof,
            joint_unit=joint_unit(first.description),
            only_given=only_given,
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
