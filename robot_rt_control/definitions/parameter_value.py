"""A value that a user gives for a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robot_rt_control.vocabulary.errors import DefinitionError
from robot_rt_control.vocabulary.names import check_name

Scalar = float | int | bool
Value = Scalar | str | tuple[Scalar, ...]


@dataclass(frozen=True, kw_only=True)
class ParameterValue:
    """A value for one parameter of an action.

    Args:
        name: name of the parameter.
        value: a number, a bool, a text, or a list (tuple, one-dimensional array) of numbers or bools.
        unit: the declared unit of the parameter, or empty. Units are not converted.

    Raises:
        DefinitionError: the name or the value is not valid.
    """

    name: str
    value: Value
    unit: str = ""

    def __post_init__(self) -> None:
        check_name("name of a parameter", self.name)
        object.__setattr__(self, "value", self._plain_value())
        if not isinstance(self.unit, str):
            raise DefinitionError(f"unit of parameter {self.name!r}", expected="a text", got=repr(self.unit))

    def _plain_value(self) -> Value:
        value: Any = self.value.tolist() if hasattr(self.value, "tolist") else self.value  # NumPy
        if isinstance(value, float | int | str):  # bool is an int
            return value
        if isinstance(value, Sequence):
            elements = [e.item() if hasattr(e, "item") else e for e in value]
            if elements and all(isinstance(e, float | int) for e in elements):
                return tuple(elements)
        raise DefinitionError(
            f"value of parameter {self.name!r}",
            expected="a number, true, false, a text, or a flat list of numbers",
            got=repr(value),
        )
