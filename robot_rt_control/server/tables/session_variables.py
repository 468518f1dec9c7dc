"""Variables of a session: numbers that its application or a callback writes, and that conditions and laws read.

They are written as the parameters of an action are, under the id `session`. The first value of a name makes the
variable, and decides its unit and length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.memory.layout import offset_of, world_dtype
from robot_rt_control.vocabulary.capacities import MAX_SESSION_VARIABLES
from robot_rt_control.vocabulary.errors import CapacityError, DefinitionError
from robot_rt_control.vocabulary.names import SESSION


@dataclass(frozen=True, eq=False, kw_only=True)
class SessionVariables:
    """What has been written."""

    refs: Mapping[str, VariableRef] = field(default_factory=dict)
    """By name; a vector, and each of its elements (`goal[0]`)."""
    values: tuple[float, ...] = ()
    """In the order of their places."""

    @property
    def record(self) -> np.ndarray:
        """As the loop takes it: bytes, shape (8 * MAX_SESSION_VARIABLES,). Places without a value are unknown."""
        padded = np.full(MAX_SESSION_VARIABLES, math.nan)
        padded[: len(self.values)] = self.values
        return padded.view(np.uint8)

    def value(self, name: str, index: int) -> float:
        """What was last written to a number.

        Args:
            index: of the session in the tables.
        """
        return self.values[(self.refs[name].offset - _first(index)) // 8]

    def written(self, index: int, values: Iterable[ParameterValue]) -> SessionVariables:
        """After some are written.

        Args:
            index: of the session in the tables.

        Raises:
            DefinitionError: not a finite number, or not of the unit and length that the variable has.
            CapacityError: too many variables.
        """
        refs, numbers = dict(self.refs), list(self.values)
        for given in values:
            numbers_given = _numbers(given)
            if given.name not in refs:
                offset = _first(index) + 8 * len(numbers)
                refs |= _refs(given, offset, len(numbers_given))
                numbers += numbers_given
            else:
                ref = refs[given.name]
                _check_as_before(given, ref, len(numbers_given))
                place = (ref.offset - _first(index)) // 8
                numbers[place : place + ref.length] = numbers_given
        if len(numbers) > MAX_SESSION_VARIABLES:
            raise CapacityError(
                "the session has too many variables",
                expected=f"at most {MAX_SESSION_VARIABLES} numbers (MAX_SESSION_VARIABLES)",
                got=str(len(numbers)),
            )
        return SessionVariables(refs=refs, values=tuple(numbers))


def _first(index: int) -> int:
    """Offset of a session's first variable in the world [bytes]."""
    return offset_of(world_dtype, "session_variables", index)


def _refs(given: ParameterValue, offset: int, length: int) -> dict[str, VariableRef]:
    if length == 1:
        return {given.name: VariableRef(offset, "float", given.unit)}
    elements = {f"{given.name}[{i}]": VariableRef(offset + 8 * i, "float", given.unit) for i in range(length)}
    return {given.name: VariableRef(offset, "float", given.unit, length), **elements}


def _numbers(given: ParameterValue) -> list[float]:
    values = given.value if isinstance(given.value, tuple) else (given.value,)
    if not values or not all(isinstance(v, int | float) and math.isfinite(v) for v in values):
        raise DefinitionError(
            f"{SESSION}.{given.name}", expected="a finite number, or a list of them", got=repr(given.value)
        )
    return [float(value) for value in values]


def _check_as_before(given: ParameterValue, ref: VariableRef, length: int) -> None:
    unit = given.unit or ref.unit
    if (unit, length) != (ref.unit, ref.length):
        raise DefinitionError(
            f"{SESSION}.{given.name} changes its unit or length",
            expected=_described(ref.unit, ref.length),
            got=_described(unit, length),
            hint="Its first value decides; choose another name",
        )


def _described(unit: str, length: int) -> str:
    what = f"{length} numbers" if length > 1 else "a number"
    return f"{what} in {unit}" if unit else what
