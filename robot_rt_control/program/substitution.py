"""Substitutes values for a program's parameters and parts for its roles, before the program is checked.

Values of actions' parameters and conditions may contain references:

    linear: [0, 0, -$speed]
    when: wrist.force.z > $threshold and time < $start + 2

An expression is computed (expression.py) and replaced by its number. A single parameter, with or without a sign, keeps
its unit, so that units are checked as if they were written there. Roles are used like parts: in `parts`, and before the
first dot of a state variable.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tokens import unit_at
from robot_rt_control.definitions.definitions import ParameterValue, Scalar
from robot_rt_control.program.expression import KnownParameter, Result, evaluate, evaluate_prefix, fill_text, is_text
from robot_rt_control.vocabulary.errors import ConditionError, DefinitionError
from robot_rt_control.vocabulary.names import RESERVED, VARIABLE_PATTERN

_VARIABLE = re.compile(VARIABLE_PATTERN)
_HEAD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?=\.)")
_SPACE = re.compile(r"\s*")
_IN_BRACES = re.compile(r"\$\{([A-Za-z_][\w.\[\]]*)\}")


class Substitution:
    """The substitutions of one use of a program.

    Args:
        parameters: by name.
        roles: role → part.

    Attributes:
        used: names of the parameters and roles found so far.
    """

    def __init__(self, parameters: Mapping[str, KnownParameter], roles: Mapping[str, str]) -> None:
        self.parameters, self.roles = parameters, roles
        self.used: set[str] = set()

    def part(self, name: str) -> str:
        """The part's name for the name of a role; any other name stays."""
        if name in self.roles:
            self.used.add(name)
            return self.roles[name]
        return name

    def variable(self, name: str) -> str:
        """The state variable with its role replaced."""
        head = _HEAD.match(name)
        return name if head is None else self.part(head[0]) + name[head.end() :]

    def value(self, text: Scalar | str, of: str) -> Result:
        """A value; a text with a dollar is computed.

        Raises:
            DefinitionError: not an expression, or an unknown parameter.
        """
        if not isinstance(text, str):
            return Result(value=text)
        if "$" not in text.replace("$$", ""):
            return Result(value=text.replace("$$", "$"))
        if is_text(text):
            return self._used(fill_text(text, self.parameters, of))
        return self._used(evaluate(text, self.parameters, of))

    def parameter(
        self, name: str, value: Scalar | str | tuple[Scalar | str, ...], unit: str, of: str
    ) -> tuple[ParameterValue, bool]:
        """A value for a parameter, computed, and whether a sample is in it.

        Args:
            value: as written; elements of a list are computed one by one.
            unit: as written; empty: that of the parameters in it.

        Raises:
            DefinitionError: as `value`.
        """
        is_list = isinstance(value, tuple)
        elements = value if isinstance(value, tuple) else (value,)
        results = [self.value(element, f"{of}: parameter {name!r}") for element in elements]
        found: Any = tuple(result.value for result in results) if is_list else results[0].value
        unit = unit or (common_unit(results) if is_list else results[0].unit)
        sampled = any(self.is_sampled(result.references) for result in results)
        return ParameterValue(name=name, value=found, unit=unit), sampled

    def _used(self, result: Result) -> Result:
        self.used |= result.references
        return result

    def is_sampled(self, references: frozenset[str]) -> bool:
        """Whether the value of one of these parameters is a sample."""
        return any(self.parameters[name].sampled for name in references)

    def condition(self, text: str, of: str) -> str:
        """The condition with its expressions computed and its roles replaced.

        Raises:
            DefinitionError: an unknown parameter, or one that is not a number or boolean.
        """
        if "$" not in text and not self.roles:
            return text
        text = _IN_BRACES.sub(r"$\1", text)  # as in texts
        pieces: list[str] = []
        position = 0
        after_value = after_sign = False  # x - $a - $b is not x - ($a - $b): after its sign, only a term is computed
        while position < len(text):
            if after_value and text[position] in "+-":
                pieces.append(text[position])
                position += 1
                after_value, after_sign = False, True
                continue
            piece, position = self._piece(text, position, of, term=after_sign)
            pieces.append(piece)
            if not piece.isspace():
                after_value, after_sign = piece not in RESERVED and piece[-1] not in "<>=!(,", False
        filled = "".join(pieces)
        return _computed(filled) if "$" in text else filled

    def _piece(self, text: str, position: int, of: str, *, term: bool) -> tuple[str, int]:
        """The substitute for the next piece of a condition, and the position after the piece."""
        if match := _VARIABLE.match(text, position):
            return self.variable(match[0]), match.end()
        if text[position] in "$(+-.0123456789":
            found = evaluate_prefix(text, position, self.parameters, of, term=term)
            if found is not None and found[0].references:
                return self._number(text, self._used(found[0]), found[1], of), found[1]
            if found is not None:  # numbers only: the piece stays as a whole, so that no part of it is read again
                end = found[1] + len(unit_at(text, found[1]))
                return text[position:end], end
            if text[position] == "$":
                raise DefinitionError(
                    f"{of}: {text!r}",
                    expected="the name of a parameter after '$', as in x > $threshold",
                    got=repr(text[position : position + 12]),
                )
        return text[position], position + 1

    def _number(self, text: str, result: Result, end: int, of: str) -> str:
        if isinstance(result.value, str | tuple):
            names = ", ".join(f"${name}" for name in sorted(result.references))
            raise DefinitionError(
                f"{of}: {names} cannot be used in a condition",
                expected="a number or a boolean"
                + ("; an element is $name[0]" if isinstance(result.value, tuple) else ""),
                got="a list" if isinstance(result.value, tuple) else f"the text {result.value!r}",
            )
        shown = literal(result.value)
        return f"{shown} {result.unit}" if result.unit and not unit_at(text, end) else shown


def literal(value: Scalar) -> str:
    """A number or boolean as in conditions and YAML."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def common_unit(results: list[Result]) -> str:
    """The unit of a list with parameters among its elements: theirs, if they have the same unit; else empty."""
    units = {result.unit for result in results if result.references}
    return units.pop() if len(units) == 1 else ""


def _computed(condition: str) -> str:
    """A condition with `true` or `false` for comparisons of two values: `$stroke > 0` asks for a parameter alone."""
    try:
        parse_condition(condition)
    except ConditionError:
        with contextlib.suppress(DefinitionError):  # other mistakes are reported later, with the whole program
            return str(parse_condition(condition, computed=True))
    except DefinitionError:
        pass
    return condition
