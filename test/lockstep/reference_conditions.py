"""Conditions by the rules C1 and C2, on nested tuples."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

Truth = bool | None
"""None: unknown."""

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def evaluate(condition: Any, read: Callable[[Any], float]) -> Truth:
    """The value of a condition by the rules C1 and C2.

    Args:
        condition: a bool (a constant); ("true", x); ("unknown", x); (comparison, x, y);
            ("approx", x, y, tolerance); ("not", c); ("and", c, d); ("or", c, d). An x or y is a number or bool,
            or ("+", x, y), ("-", x, y), ("abs", x), or a variable: what `read` takes.
        read: the value of a variable; NaN: unknown.
    """

    def value(operand: Any) -> float:
        if isinstance(operand, float | bool):
            return float(operand)
        match operand:
            case ("+", x, y):
                return value(x) + value(y)
            case ("-", x, y):
                return value(x) - value(y)
            case ("abs", x):
                return abs(value(x))
        return read(operand)

    if isinstance(condition, bool):
        return condition
    operator, *operands = condition
    if operator == "not":
        inner = evaluate(operands[0], read)
        return None if inner is None else not inner
    if operator in ("and", "or"):
        left, right = (evaluate(o, read) for o in operands)
        decisive = operator == "or"
        if left is decisive or right is decisive:
            return decisive
        return None if left is None or right is None else not decisive
    if operator == "unknown":
        return isnan(value(operands[0]))
    values = [value(o) for o in operands[:2]]
    if any(isnan(v) for v in values):
        return None
    if operator == "true":
        return values[0] != 0.0
    if operator == "approx":
        return abs(values[0] - values[1]) <= operands[2]
    return _COMPARISONS[operator](*values)
