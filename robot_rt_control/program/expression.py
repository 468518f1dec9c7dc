"""Arithmetic over a program's parameters: `-$speed`, `2 * $depth + 0.01`, `$target[2] - $clearance`.

    expression = term { ( "+" | "-" ) term }
    term       = factor { ( "*" | "/" ) factor }
    factor     = ( "+" | "-" ) factor | primary
    primary    = number | reference | "(" expression ")"
    reference  = "$" name { "." name } [ "[" index "]" ]

An expression is computed once, when the program is read: the loop sees numbers. Lists are computed element by element,
with a list of the same length or a number. Texts and booleans cannot be combined. There are no functions and no names.
A dotted name is an output of a blueprint's node: `$seat.wish`.

A text with `${…}` stays a text, with the values of these references in it: `Hello, ${guest}!`
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from robot_rt_control.definitions.definitions import Scalar, Value
from robot_rt_control.vocabulary.errors import DefinitionError, unknown
from robot_rt_control.vocabulary.names import NUMBER_PATTERN

_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(NUMBER_PATTERN)
_IN_TEXT = re.compile(r"\$\$|\$(\{[^{}]*\}?)")
_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?:\[([0-9]{1,6})\])?")
_OPERATIONS: Mapping[str, Callable[[Scalar, Scalar], Scalar]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_MAX_DEPTH = 32


@dataclass(frozen=True, kw_only=True)
class KnownParameter:
    """A parameter's value in one use of a program.

    Args:
        value: checked; or a sample.
        unit: the declared one.
        sampled: the value is a sample that only shows the type.
    """

    value: Value
    unit: str = ""
    sampled: bool = False


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of an expression.

    Args:
        unit: of the parameter, if the expression is one parameter with or without sign; else empty: not known.
        references: names of the parameters in it.
    """

    value: Value
    unit: str = ""
    references: frozenset[str] = frozenset()


def evaluate(text: str, parameters: Mapping[str, KnownParameter], of: str) -> Result:
    """Compute an expression.

    Args:
        text: the whole expression.
        of: its name in messages: "action 'down': parameter 'linear'".

    Raises:
        DefinitionError: not an expression, an unknown parameter, or values that cannot be computed with.
    """
    parser = _Parser(text, 0, parameters, of)
    try:
        result = parser.sum(whole=True)
        parser.skip_space()
        if parser.position < len(text):
            raise _NoExpression(parser.position, "an operator + - * /, or the end")
    except _NoExpression as error:
        got = repr(text[error.position :]) if error.position < len(text) else "the end"
        raise DefinitionError(
            f"{of}: {text!r} cannot be computed",
            expected=error.expected,
            got=got,
            hint="A dollar begins the name of a parameter, as in -$speed; in a text, write ${name} for its value, and "
            "$$ for the sign itself",
        ) from None
    return result


def evaluate_prefix(
    text: str, position: int, parameters: Mapping[str, KnownParameter], of: str, *, term: bool = False
) -> tuple[Result, int] | None:
    """Compute the longest expression that begins at a position; None: there is none.

    Args:
        term: only its first term, without the ones that are added to it.

    Returns:
        The result, and the position after it.

    Raises:
        DefinitionError: an unknown parameter, or values that cannot be computed with.
    """
    parser = _Parser(text, position, parameters, of)
    try:
        result = parser.term(whole=False) if term else parser.sum(whole=False)
    except _NoExpression:
        return None
    return result, parser.position


def is_text(text: str) -> bool:
    """Whether this is a text with values in it: `Hello, ${guest}!`"""
    return "${" in text.replace("$$", "")


def fill_text(text: str, parameters: Mapping[str, KnownParameter], of: str) -> Result:
    """A text with values in it. A text `$$` is the sign itself.

    Raises:
        DefinitionError: as `evaluate`, or something other than a reference between the braces.
    """
    used: set[str] = set()

    def fill(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        reference = f"${match[1][1:-1]}"
        if match[1][-1] != "}" or not _REFERENCE.fullmatch(reference):
            raise DefinitionError(f"{of}: {text!r}", expected="a name between ${ and }", got=repr(match[0]))
        found = evaluate(reference, parameters, of)
        used.update(found.references)
        values = found.value if isinstance(found.value, tuple) else (found.value,)
        return ", ".join(map(_in_text, values))

    return Result(value=_IN_TEXT.sub(fill, text), references=frozenset(used))


def _in_text(value: Scalar | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def references(text: str) -> frozenset[str]:
    """Names of the parameters and outputs in an expression, a condition or a text, whether it is valid or not."""
    return frozenset(match[1] for match in _REFERENCE.finditer(text.replace("$$", "").replace("${", "$")))


class _NoExpression(Exception):
    """No expression continues at this position."""

    def __init__(self, position: int, expected: str) -> None:
        self.position, self.expected = position, expected


class _Parser:
    """Recursive descent. Computes while it reads."""

    def __init__(self, text: str, position: int, parameters: Mapping[str, KnownParameter], of: str) -> None:
        self.text, self.position, self.parameters, self.of = text, position, parameters, of
        self.depth = 0

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def at(self, characters: str) -> str:
        """The next character, if it is one of these; otherwise empty."""
        self.skip_space()
        found = self.text[self.position : self.position + 1]
        return found if found and found in characters else ""

    def sum(self, *, whole: bool) -> Result:
        return self._chain("+-", lambda: self.term(whole=whole), whole)

    def term(self, *, whole: bool) -> Result:
        return self._chain("*/", self.factor, whole)

    def _chain(self, operators: str, operand: Callable[[], Result], whole: bool) -> Result:
        """Operands joined by operators of one rank, as far as the text can be read; `whole`: it must be read to its
        end."""
        left = operand()
        while True:
            before = self.position
            symbol = self.at(operators)
            if not symbol:
                self.position = before
                return left
            self.position += 1
            try:
                right = operand()
            except _NoExpression:
                if whole:
                    raise
                self.position = before
                return left
            left = self._compute(symbol, left, right)

    def factor(self) -> Result:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise DefinitionError(f"{self.of}: nested too deeply", expected=f"at most {_MAX_DEPTH} levels", got="more")
        try:
            sign = self.at("+-")
            if not sign:
                return self.primary()
            self.position += 1
            operand = self.factor()
            self._check_numbers(operand, sign)
            return (
                operand
                if sign == "+"
                else Result(value=_each(operator.neg, operand.value), unit=operand.unit, references=operand.references)
            )
        finally:
            self.depth -= 1

    def primary(self) -> Result:
        if self.at("("):
            self.position += 1
            inner = self.sum(whole=True)
            if not self.at(")"):
                raise _NoExpression(self.position, "an operator + - * /, or ')'")
            self.position += 1
            return inner
        self.skip_space()
        if match := _NUMBER.match(self.text, self.position):
            self.position = match.end()
            value: Scalar = int(match[0]) if match[0].isdigit() and len(match[0]) < 16 else float(match[0])
            return Result(value=value)
        if self.at("$"):
            return self.reference()
        raise _NoExpression(self.position, "a number, a parameter such as $speed, or '('")

    def reference(self) -> Result:
        match = _REFERENCE.match(self.text, self.position)
        if match is None:
            raise _NoExpression(self.position, "the name of a parameter after '$'")
        name, index = match[1], match[2]
        if name not in self.parameters:
            raise DefinitionError(
                f"{self.of}: unknown parameter ${name}",
                expected=unknown("parameter", name, self.parameters),
                got=f"${name}",
                hint="" if self.parameters else "Declare it under `parameters:` at the top of the file",
            )
        known = self.parameters[name]
        value = known.value
        if index is not None:
            if not isinstance(value, tuple) or int(index) >= len(value):
                described = f"{len(value)} values, from [0]" if isinstance(value, tuple) else f"one value, {value!r}"
                raise DefinitionError(
                    f"{self.of}: ${name}[{index}]", expected=f"an element of ${name}", got=f"a parameter of {described}"
                )
            value = value[int(index)]
        self.position = match.end()
        return Result(value=value, unit=known.unit, references=frozenset([name]))

    def _check_numbers(self, operand: Result, symbol: str) -> None:
        values = operand.value if isinstance(operand.value, tuple) else (operand.value,)
        if any(isinstance(v, bool | str) for v in values):
            names = ", ".join(f"${n}" for n in sorted(operand.references))
            raise DefinitionError(
                f"{self.of}: {symbol!r} computes with numbers",
                expected="a number",
                got=f"{names} = {_shown(values[0])}",
            )

    def _compute(self, symbol: str, left: Result, right: Result) -> Result:
        for operand in (left, right):
            self._check_numbers(operand, symbol)
        a, b = left.value, right.value
        operation = _OPERATIONS[symbol]
        try:
            value = _joined(operation, a, b)
        except (ZeroDivisionError, OverflowError):
            value = math.nan
        except ValueError:
            raise DefinitionError(
                f"{self.of}: {symbol!r} between lists", expected="lists of the same length", got=f"{a} and {b}"
            ) from None
        if not all(_is_finite(v) for v in (value if isinstance(value, tuple) else (value,))):
            raise DefinitionError(
                f"{self.of}: {a} {symbol} {b}", expected="a finite result", got="a division by zero or an overflow"
            )
        return Result(value=value, references=left.references | right.references)


def _each(function: Callable[[Scalar], Scalar], value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(function(v) for v in value)
    assert not isinstance(value, str)  # checked to be numbers
    return function(value)


def _joined(operation: Callable[[Scalar, Scalar], Scalar], a: Value, b: Value) -> Value:
    assert not isinstance(a, str) and not isinstance(b, str)  # checked to be numbers
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(operation(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, tuple):
        assert not isinstance(b, tuple)
        return tuple(operation(x, b) for x in a)
    if isinstance(b, tuple):
        return tuple(operation(a, y) for y in b)
    return operation(a, b)


def _is_finite(value: Scalar | str) -> bool:
    assert not isinstance(value, str)  # checked to be a number
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond every float
        return False


def _shown(value: Scalar | str) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
