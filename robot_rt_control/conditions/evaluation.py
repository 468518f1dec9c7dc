"""The meaning of conditions in plain Python: the reference for the compiled form, and for experiments."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence

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
    Operand,
    Or,
    Sum,
    Variable,
)

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


Values = Mapping[str, float | Sequence[float]]


def evaluate_ast(node: Condition, values: Values) -> bool | None:
    """The value of a condition: True, False, or None for unknown (Kleene's three-valued logic).

    Args:
        values: name of each state variable → its value, or the values of a vector; NaN is unknown, a bool is 0.0 or
            1.0.

    Raises:
        KeyError: a variable has no entry.
    """
    match node:
        case Variable(name=name):
            value = _scalar(name, values)
            return None if math.isnan(value) else value != 0.0
        case Boolean(value=literal):
            return literal
        case Comparison(operator=symbol, left=left, right=right):
            a, b = evaluate_value(left, values), evaluate_value(right, values)
            return None if math.isnan(a) or math.isnan(b) else _COMPARE[symbol](a, b)
        case Approx(left=left, right=right, tolerance=tolerance):
            a, b = evaluate_value(left, values), evaluate_value(right, values)
            return None if math.isnan(a) or math.isnan(b) else abs(a - b) <= tolerance.value
        case IsUnknown(variable=variable):
            return math.isnan(_scalar(variable.name, values))
        case Not(operand=operand):
            inner = evaluate_ast(operand, values)
            return None if inner is None else not inner
        case And(operands=operands):
            found = [evaluate_ast(operand, values) for operand in operands]
            return False if False in found else None if None in found else True
        case Or(operands=operands):
            found = [evaluate_ast(operand, values) for operand in operands]
            return True if True in found else None if None in found else False


def evaluate_value(node: Operand, values: Values) -> float:
    """The value of a number, boolean, variable, or what is computed from them; NaN: unknown. Sums and squares are
    added from left to right, in double precision, as in the loop.

    Raises:
        KeyError: a variable has no entry.
    """
    match node:
        case Variable(name=name):
            return _scalar(name, values)
        case Absolute(value=value):
            return abs(evaluate_value(value, values))
        case Norm(vector=vector):
            elements = values[vector.name]
            assert isinstance(elements, Sequence)  # checked by its type
            squares = 0.0
            for element in elements:
                squares += element * element
            return math.sqrt(squares)
        case Sum(signs=signs, terms=terms):
            total = evaluate_value(terms[0], values)
            for sign, term in zip(signs[1:], terms[1:], strict=True):
                number = evaluate_value(term, values)
                total = total + number if sign == "+" else total - number
            return total
    return float(node.value)


def _scalar(name: str, values: Values) -> float:
    value = values[name]
    assert not isinstance(value, Sequence)  # checked by its type
    return value
