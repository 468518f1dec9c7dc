"""From the postfix program of a condition back to its text: what a recording has of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_rt_control.conditions.tree import (
    Absolute,
    And,
    Approx,
    Boolean,
    Comparison,
    Condition,
    IsUnknown,
    Norm,
    Not,
    Number,
    Or,
    Sum,
    Value,
    Variable,
)
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, OF_NUMBERS, Operator

_SYMBOLS = ("<", "<=", ">", ">=", "==", "!=")
_WITH_CONSTANT = dict(zip(range(Operator.LESS_CONSTANT, Operator.LESS), _SYMBOLS, strict=True))
_WITH_VARIABLE = dict(zip(range(Operator.LESS, Operator.APPROX_CONSTANT), _SYMBOLS, strict=True))


def condition_text(instructions: np.ndarray, name_of: Callable[[int], str], vector_of: Callable[[int], str]) -> str:
    """A text that is compiled to the same program, but for the order of what `and` and `or` join, and for units.

    Args:
        instructions: of one condition, as `compile_condition` makes them.
        name_of, vector_of: the name of the state variable at an offset; of the vector that begins there.

    Raises:
        IndexError, KeyError: they are no condition.
    """
    truths: list[Condition] = []
    numbers: list[Value] = []
    for row in instructions:
        code = int(row["operator"])
        operator = code % JOIN_AND
        if operator == Operator.NORM and not code & OF_NUMBERS:
            numbers.append(Norm(Variable(vector_of(int(row["left"])))))
            continue
        left, right = (Variable(name_of(place) if place else "") for place in (int(row["left"]), int(row["right"])))
        constant, tolerance = Number(float(row["constant"])), Number(float(row["tolerance"]))
        made: Condition | None = None
        if code & OF_NUMBERS:
            of, to = numbers.pop(-2), numbers.pop()
            symbol = _WITH_VARIABLE.get(operator)
            made = Approx(of, to, tolerance) if symbol is None else Comparison(symbol, of, to)
        elif operator == Operator.CONSTANT:
            made = IsUnknown(Variable("unknown")) if np.isnan(constant.value) else Boolean(bool(constant.value))
        elif operator == Operator.IS_UNKNOWN:
            made = IsUnknown(left)
        elif operator in _WITH_CONSTANT:
            made = Comparison(_WITH_CONSTANT[operator], left, constant)
        elif operator in _WITH_VARIABLE:
            made = Comparison(_WITH_VARIABLE[operator], left, right)
        elif operator in (Operator.APPROX, Operator.APPROX_CONSTANT):
            made = Approx(left, right if operator == Operator.APPROX else constant, tolerance)
        elif operator in (Operator.AND, Operator.OR):
            made = _joined(truths.pop(-2), truths.pop(), conjunction=operator == Operator.AND)
        elif operator == Operator.NOT:
            made = Not(truths.pop())
        elif operator == Operator.ABSOLUTE:
            numbers.append(Absolute(numbers.pop()))
        elif operator in (Operator.ADD, Operator.SUBTRACT):
            sign = "+" if operator == Operator.ADD else "-"
            numbers.append(Sum(("+", sign), (numbers.pop(-2), numbers.pop())))
        else:
            found: dict[int, Value] = {Operator.NUMBER: constant, Operator.VARIABLE: left}
            numbers.append(found[operator])
        if made is not None:
            if code & (JOIN_AND | JOIN_OR):
                made = _joined(truths.pop(), made, conjunction=bool(code & JOIN_AND))
            truths.append(made)
    return str(truths.pop())


def _joined(left: Condition, right: Condition, *, conjunction: bool) -> Condition:
    kind = And if conjunction else Or
    before = left.operands if isinstance(left, kind) else (left,)
    return kind((*before, right))
