"""The meaning of conditions in plain Python: the reference for the compiled form, and for experiments."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping

from robot_rt_control.conditions.tree import (
    And,
    Approx,
    Boolean,
    Comparison,
    Condition,
    IsUnknown,
    Not,
    Operand,
    Or,
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


def evaluate_ast(node: Condition, values: Mapping[str, float]) -> bool | None:
    """The value of a condition: True, False, or None for unknown (Kleene's three-valued logic).

    Args:
        values: name of each state variable → its value; NaN is unknown, a bool is 0.0 or 1.0.

    Raises:
        KeyError: a variable has no entry.
    """
    match node:
        case Variable(name=name):
            value = values[name]
            return None if math.isnan(value) else value != 0.0
        case Boolean(value=literal):
            return literal
        case Comparison(operator=symbol, left=left, right=right):
            a, b = _number(left, values), _number(right, values)
            return None if math.isnan(a) or math.isnan(b) else _COMPARE[symbol](a, b)
        case Approx(left=left, right=right, tolerance=tolerance):
            a, b = _number(left, values), _number(right, values)
            return None if math.isnan(a) or math.isnan(b) else abs(a - b) <= tolerance.value
        case IsUnknown(variable=variable):
            return math.isnan(values[variable.name])
        case Not(operand=operand):
            inner = evaluate_ast(operand, values)
            return None if inner is None else not inner
        case And(operands=operands):
            found = [evaluate_ast(operand, values) for operand in operands]
            return False if False in found else None if None in found else True
        case Or(operands=operands):
            found = [evaluate_ast(operand, values) for operand in operands]
            return True if True in found else None if None in found else False


def _number(operand: Operand, values: Mapping[str, float]) -> float:
    return values[operand.name] if isinstance(operand, Variable) else float(operand.value)
