"""Turns a condition into the postfix program that the tick evaluates (kernel.py).

Types are checked here: order comparisons and `approx` are for numbers, `==` and `!=` for booleans
and integers, and units must agree if both sides have one. The program is kept short: a comparison
of a variable is one instruction, `not` is merged into the comparison below it (this is exact in Kleene's logic: an
unknown stays unknown), and constant subexpressions are evaluated here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_rt_control.conditions.check import find_skips
from robot_rt_control.conditions.evaluation import evaluate_value
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tokens import fault
from robot_rt_control.conditions.tree import (
    FLIPPED,
    NEGATED,
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
    Operand,
    Or,
    Sum,
    Variable,
    variables,
)
from robot_rt_control.conditions.types import ConditionTypes, VariableRef
from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, OF_NUMBERS, Operator
from robot_rt_control.vocabulary.errors import ConditionError, unknown
from robot_rt_control.vocabulary.names import hint_on

_WITH_CONSTANT = {
    "<": Operator.LESS_CONSTANT,
    "<=": Operator.LESS_EQUAL_CONSTANT,
    ">": Operator.GREATER_CONSTANT,
    ">=": Operator.GREATER_EQUAL_CONSTANT,
    "==": Operator.EQUAL_CONSTANT,
    "!=": Operator.NOT_EQUAL_CONSTANT,
}
_WITH_VARIABLE = {
    "<": Operator.LESS,
    "<=": Operator.LESS_EQUAL,
    ">": Operator.GREATER,
    ">=": Operator.GREATER_EQUAL,
    "==": Operator.EQUAL,
    "!=": Operator.NOT_EQUAL,
}


class _Row(NamedTuple):
    """The fields of an instruction."""

    operator: int
    if_less: int = 0
    if_equal: int = 0
    if_greater: int = 0
    left: int = 0
    right: int = 0
    constant: float = 0.0
    tolerance: float = 0.0


@dataclass(frozen=True, eq=False)
class CompiledCondition:
    """A condition, ready for the tables."""

    instructions: np.ndarray
    """Read-only array of `layout.instruction_dtype`, at least one."""
    variables: list[str]
    """Every state variable that the text names, in the order of the text."""
    text: str


@dataclass(frozen=True)
class _Code:
    """A piece of a program that leaves one value on the stack."""

    rows: tuple[_Row, ...]
    depth: int = 1  # values on the stack while it runs
    constant: bool | None = None  # its value, if it does not depend on variables


def compile_condition(
    text: str,
    resolve: Callable[[str], VariableRef],
    *,
    known: Callable[[], Iterable[str]] = tuple,
    of: str = "condition",
) -> CompiledCondition:
    """Parse, check and compile a condition.

    Args:
        text: the condition.
        resolve: name → location of the state variable; raises KeyError for an unknown name.
        known: returns the names that `resolve` knows, for near matches in the message.
        of: its name in messages, e.g. "condition of reaction 'near'".

    Raises:
        ConditionError: text, names, types or units are not valid; the message points at the place.
        CapacityError: too long, or nested too deeply.
    """
    tree, refs = check_condition(text, resolve, known=known, of=of)
    code = _emit(tree, refs, negated=False)
    # The deepest operand runs first, so a stack of n needs 2^(n - 1) comparisons: far more than a text can contain.
    assert code.depth <= capacities.MAX_CONDITION_DEPTH
    instructions = np.array(list(code.rows), instruction_dtype)
    ends = np.array([len(instructions)])
    instructions["if_less"], instructions["if_equal"], instructions["if_greater"] = find_skips(
        instructions["operator"], ends
    )
    instructions.flags.writeable = False
    return CompiledCondition(instructions, list(refs), text)


def check_condition(
    text: str,
    resolve: Callable[[str], VariableRef | None],
    *,
    known: Callable[[], Iterable[str]] = tuple,
    of: str = "condition",
) -> tuple[Condition, dict[str, VariableRef]]:
    """Parse and check a condition.

    Args:
        text, known, of: as for `compile_condition`.
        resolve: likewise; None: the variables are not known, so names, types and units are not checked.

    Returns:
        The tree, and the known state variables that it names, in the order of the text.

    Raises:
        ConditionError, CapacityError: as `compile_condition`.
    """
    tree = parse_condition(text, of=of)
    refs: dict[str, VariableRef] = {}
    mentioned = variables(tree)
    for variable in mentioned:
        try:
            ref = resolve(variable.name)
        except KeyError:
            raise _unknown_variable(of, text, variable, list(known())) from None
        if ref is not None:
            refs[variable.name] = ref
    if len(refs) == len(mentioned):
        ConditionTypes(text, of, refs).check(tree)
    return tree, refs


def _unknown_variable(of: str, text: str, variable: Variable, names: list[str]) -> ConditionError:
    return fault(
        of,
        text,
        variable.position,
        "there is no such state variable",
        expected=unknown("state variable", variable.name, names) if names else "a state variable that exists here",
        got=repr(variable.name),
        hint=hint_on(variable.name),
    )


def _emit(node: Condition, refs: Mapping[str, VariableRef], *, negated: bool) -> _Code:
    """The program of `node`, or of its negation."""
    match node:
        case Boolean(value=value):
            return _constant(value != negated)
        case Variable(name=name):
            return _truth(refs[name], not negated)
        case Comparison():
            return _comparison(node, refs, negated)
        case Approx():
            return _approx(node, refs, negated)
        case IsUnknown(variable=variable):
            return _leaf(Operator.IS_UNKNOWN, refs[variable.name].offset, negated=negated)
        case Not(operand=operand):
            return _emit(operand, refs, negated=not negated)
        case And(operands=operands) | Or(operands=operands):
            codes = [_emit(operand, refs, negated=negated) for operand in operands]
            return _join(codes, conjunction=isinstance(node, And) != negated)  # de Morgan


def _constant(value: bool) -> _Code:
    return _Code((_Row(Operator.CONSTANT, constant=float(value)),), constant=value)


def _leaf(
    operator: Operator,
    left: int,
    right: int = 0,
    constant: float = 0.0,
    tolerance: float = 0.0,
    *,
    negated: bool = False,
) -> _Code:
    row = _Row(operator, left=left, right=right, constant=constant, tolerance=tolerance)
    return _Code((row, _Row(Operator.NOT)) if negated else (row,))


def _truth(ref: VariableRef, wanted: bool) -> _Code:
    return _leaf(Operator.NOT_EQUAL_CONSTANT if wanted else Operator.EQUAL_CONSTANT, ref.offset)


def _comparison(node: Comparison, refs: Mapping[str, VariableRef], negated: bool) -> _Code:
    symbol, left, right = NEGATED[node.operator] if negated else node.operator, _folded(node.left), _folded(node.right)
    if isinstance(right, Variable) and isinstance(left, Number | Boolean):
        symbol, left, right = FLIPPED[symbol], right, left
    if isinstance(left, Variable) and isinstance(right, Variable):
        return _leaf(_WITH_VARIABLE[symbol], refs[left.name].offset, refs[right.name].offset)
    if isinstance(left, Variable) and isinstance(right, Boolean):
        return _truth(refs[left.name], right.value == (symbol == "=="))
    if isinstance(left, Variable) and isinstance(right, Number):
        return _leaf(_WITH_CONSTANT[symbol], refs[left.name].offset, constant=right.value)
    return _of_numbers(_WITH_VARIABLE[symbol], left, right, refs)


def _approx(node: Approx, refs: Mapping[str, VariableRef], negated: bool) -> _Code:
    left, right, tolerance = _folded(node.left), _folded(node.right), node.tolerance.value
    if isinstance(right, Variable) and isinstance(left, Number):
        left, right = right, left
    if isinstance(left, Variable) and isinstance(right, Variable):
        offsets = refs[left.name].offset, refs[right.name].offset
        return _leaf(Operator.APPROX, *offsets, tolerance=tolerance, negated=negated)
    if isinstance(left, Variable) and isinstance(right, Number):
        offset, constant = refs[left.name].offset, right.value
        return _leaf(Operator.APPROX_CONSTANT, offset, constant=constant, tolerance=tolerance, negated=negated)
    return _of_numbers(Operator.APPROX, left, right, refs, tolerance=tolerance, negated=negated)


def _folded(node: Operand) -> Operand:
    """What is computed from constants alone, as a number."""
    return node if isinstance(node, Boolean) or variables(node) else Number(evaluate_value(node, {}))


def _of_numbers(
    operator: Operator,
    left: Operand,
    right: Operand,
    refs: Mapping[str, VariableRef],
    *,
    tolerance: float = 0.0,
    negated: bool = False,
) -> _Code:
    """A comparison of two numbers that are computed first."""
    rows = [*_numbers(left, refs), *_numbers(right, refs), _Row(operator + OF_NUMBERS, tolerance=tolerance)]
    return _Code((*rows, _Row(Operator.NOT)) if negated else tuple(rows))


def _numbers(node: Operand, refs: Mapping[str, VariableRef]) -> list[_Row]:
    """The program that leaves a value on the stack of numbers."""
    match _folded(node):
        case Variable(name=name):
            return [_Row(Operator.VARIABLE, left=refs[name].offset)]
        case Absolute(value=value):
            return [*_numbers(value, refs), _Row(Operator.ABSOLUTE)]
        case Norm(vector=Variable(name=name)):
            first = refs[name].offset
            return [_Row(Operator.NORM, left=first, right=first + 8 * (refs[name].length - 1))]
        case Sum(signs=signs, terms=terms):
            rows = _numbers(terms[0], refs)
            for sign, term in zip(signs[1:], terms[1:], strict=True):
                rows += [*_numbers(term, refs), _Row(Operator.ADD if sign == "+" else Operator.SUBTRACT)]
            return rows
        case Number(value=constant) | Boolean(value=constant):
            return [_Row(Operator.NUMBER, constant=float(constant))]


def _join(codes: list[_Code], *, conjunction: bool) -> _Code:
    """Combine pieces by `and` or `or`. The piece with the deepest stack runs first, which keeps the stack small."""
    absorbing = not conjunction
    if any(code.constant is absorbing for code in codes):
        return _constant(absorbing)
    remaining = sorted(
        (code for code in codes if code.constant is None), key=lambda code: (-code.depth, -len(code.rows))
    )
    if not remaining:
        return _constant(conjunction)
    rows, depth = list(remaining[0].rows), remaining[0].depth
    for code in remaining[1:]:
        if len(code.rows) == 1:
            leaf = code.rows[0]
            rows.append(leaf._replace(operator=leaf.operator + (JOIN_AND if conjunction else JOIN_OR)))
        else:
            rows += [*code.rows, _Row(Operator.AND if conjunction else Operator.OR)]
            depth = max(depth, code.depth + 1)
    return _Code(tuple(rows), depth)
