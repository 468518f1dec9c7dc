"""Checks given parameter values against what an action type declares, and fills in defaults."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.action_type import ParameterValue as CheckedValue
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.part_kinds import unit_for

_MAX_INT = 2**53
"""Largest integer that messages and records, which carry float64, represent exactly."""
_EXPECTED = {"float": "a number", "int": "a whole number", "bool": "true or false", "text": "a text"}


def check_parameters(
    action: str,
    declared: Sequence[Parameter],
    given: Iterable[ParameterValue],
    *,
    dof: int,
    joint_unit: str = "rad",
    only_given: bool = False,
    of: str = "",
) -> dict[str, CheckedValue]:
    """The values that `ActionType.prepare_parameters` takes.

    Messages carry all numbers as lists of float64: a list of one is accepted as a scalar, a whole float
    as an int, 0 and 1 as a bool.

    Args:
        action: id of the action, for messages.
        declared: parameters of its type.
        given: the values, in any order.
        dof: joints of the part in the first slot: the length of parameters that are declared as "dof".
        joint_unit: unit of those joints' positions, see `unit_for`.
        only_given: check only the given values; others may be missing (for changes of an existing action).
        of: how messages name it if it is not an action: "program 'trace_edge'".

    Returns:
        name → float, int, bool, str, or a float64 array of shape (n,) for a parameter whose length is not 1.
        In the order of declaration; an optional parameter without value is omitted.

    Raises:
        DefinitionError: unknown, missing, or given twice; wrong unit, type, length, range or choice.
    """
    declared = [replace(p, unit=unit_for(p.unit, joint_unit)) for p in declared]
    by_name = {parameter.name: parameter for parameter in declared}
    of = of or f"action {action!r}"
    values: dict[str, ParameterValue] = {}
    for value in given:
        if value.name not in by_name:
            raise DefinitionError(
                f"{of} has no parameter {value.name!r}",
                expected=unknown("parameter", value.name, by_name),
                got=repr(value.name),
            )
        if value.name in values:
            raise DefinitionError(
                f"{of}: parameter {value.name!r} is given twice", expected="one value", got="two"
            )
        values[value.name] = value
    checked: dict[str, CheckedValue] = {}
    for parameter in declared:
        if parameter.name in values:
            checked[parameter.name] = _check(_Item(of, parameter, dof), values[parameter.name])
        elif not only_given and parameter.default is not None:
            checked[parameter.name] = _default(_Item(of, parameter, dof, of_default=True), parameter.default)
        elif not only_given and not parameter.optional:
            raise DefinitionError(
                f"{of}: parameter {parameter.name!r} is missing",
                expected=_Item(of, parameter, dof).described(),
                got="no value",
            )
    return checked


class _Item:
    """One parameter of one action or program, and how messages name it."""

    def __init__(self, of: str, parameter: Parameter, dof: int, *, of_default: bool = False) -> None:
        self.parameter = parameter
        self.length = dof if parameter.length == "dof" else parameter.length
        self.is_scalar = parameter.length == 1
        self.name = f"{of}: {'default of ' if of_default else ''}parameter {parameter.name!r}"

    def described(self) -> str:
        """The expected value, in words."""
        p = self.parameter
        kind = _EXPECTED[p.type]
        if not self.is_scalar:
            each = {"float": "numbers", "int": "whole numbers", "bool": "booleans", "text": "texts"}[p.type]
            kind = f"one or more {each}" if self.length == "any" else f"{self.length} {each}"
            if p.length == "dof":
                kind += " (one for each joint)"
        return f"{kind} in {p.unit}" if p.unit else kind

    def fault(self, what: str, *, expected: str, got: str, hint: str = "") -> DefinitionError:
        return DefinitionError(f"{self.name}: {what}", expected=expected, got=got, hint=hint)


def _default(item: _Item, default: Any) -> CheckedValue:
    """The declared default; a scalar default applies to every element."""
    if not item.is_scalar and isinstance(default, int | float) and isinstance(item.length, int):
        default = (default,) * item.length
    return _check(item, ParameterValue(name=item.parameter.name, value=default))


def _check(item: _Item, given: ParameterValue) -> CheckedValue:
    parameter, value = item.parameter, given.value
    if given.unit and given.unit != parameter.unit:
        raise item.fault(
            "wrong unit",
            expected=repr(parameter.unit) if parameter.unit else "no unit",
            got=repr(given.unit),
            hint="Units are not converted: give the value in the declared unit" if parameter.unit else "",
        )
    if parameter.type == "text":
        return _check_text(item, value)
    if isinstance(value, str):
        raise item.fault("wrong type", expected=item.described(), got=repr(value))
    elements = value if isinstance(value, tuple) else (value,)
    wanted = 1 if item.is_scalar else item.length
    if wanted != "any" and len(elements) != wanted:
        raise item.fault("wrong length", expected=item.described(), got=f"{len(elements)} values")
    checked = [
        _check_number(item, element, f"[{index}]" if isinstance(value, tuple) and not item.is_scalar else "")
        for index, element in enumerate(elements)
    ]
    return checked[0] if item.is_scalar else np.array(checked, np.float64)


def _check_text(item: _Item, value: object) -> str:
    if not isinstance(value, str):
        raise item.fault("wrong type", expected="a text", got=repr(value))
    choices = item.parameter.choices
    if choices and value not in choices:
        raise item.fault("not a valid choice", expected=unknown("choice", value, choices), got=repr(value))
    return value


def _check_number(item: _Item, value: float | int | bool, index: str) -> float | int | bool:
    parameter = item.parameter
    where = f"element {index} " if index else ""
    expected = _EXPECTED[parameter.type]
    if parameter.type == "bool":
        if value not in (0, 1):
            raise item.fault(f"{where}wrong type", expected=expected, got=_shown(value))
        return bool(value)
    if isinstance(value, bool):
        raise item.fault(f"{where}wrong type", expected=expected, got=_shown(value))
    if not _is_finite(value):
        raise item.fault(f"{where}is not finite", expected="a finite number", got=_shown(value))
    if parameter.type == "int":
        if value != int(value):
            raise item.fault(f"{where}wrong type", expected=expected, got=_shown(value))
        if abs(value) > _MAX_INT:
            raise item.fault(f"{where}is too large", expected=f"at most {_MAX_INT} in size", got=_shown(value))
    low, high = parameter.minimum, parameter.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        raise item.fault(f"{where}out of range", expected=_range(low, high, parameter.unit), got=_shown(value))
    return int(value) if parameter.type == "int" else float(value)


def _is_finite(value: float | int) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond every float
        return False


def _range(low: float | None, high: float | None, unit: str) -> str:
    text = f"{low:g} to {high:g}" if low is not None and high is not None else ""
    text = text or (f"at least {low:g}" if low is not None else f"at most {high:g}")
    return f"{text} {unit}" if unit else text


def _shown(value: float | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
