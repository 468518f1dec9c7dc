"""A condition as an immutable tree, and its text.

`str(parse_condition(text))` gives a canonical text; parsing that text gives the same tree again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The comparison with its sides exchanged."""
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
"""The opposite comparison: true if the other is false, unknown if the other is unknown."""


def _position() -> int:
    """Start of the node in the text, for messages; two nodes that differ only in it are equal."""
    return field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A state variable; alone as a condition: whether it is true."""

    name: str
    position: int = _position()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number, with a unit or without."""

    value: float
    unit: str = ""
    position: int = _position()

    def __str__(self) -> str:
        text = repr(self.value)
        text = text.removesuffix(".0")
        return f"{text} {self.unit}" if self.unit else text


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    value: bool
    position: int = _position()

    def __str__(self) -> str:
        return "true" if self.value else "false"


Operand = Variable | Number | Boolean


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`; operator is one of COMPARISONS."""

    operator: str
    left: Operand
    right: Operand
    position: int = _position()

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True)
class Approx:
    """|left - right| <= tolerance."""

    left: Variable | Number
    right: Variable | Number
    tolerance: Number
    position: int = _position()

    def __str__(self) -> str:
        return f"approx({self.left}, {self.right}, {self.tolerance})"


@dataclass(frozen=True, slots=True)
class IsUnknown:
    """Whether a state variable has no value; the result itself is never unknown."""

    variable: Variable
    position: int = _position()

    def __str__(self) -> str:
        return f"is_unknown({self.variable})"


@dataclass(frozen=True, slots=True)
class Not:
    operand: Condition
    position: int = _position()

    def __str__(self) -> str:
        return f"not {_inside(self.operand, And, Or)}"


@dataclass(frozen=True, slots=True)
class And:
    """All of two or more operands."""

    operands: tuple[Condition, ...]
    position: int = _position()

    def __str__(self) -> str:
        return " and ".join(_inside(operand, And, Or) for operand in self.operands)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of two or more operands."""

    operands: tuple[Condition, ...]
    position: int = _position()

    def __str__(self) -> str:
        return " or ".join(_inside(operand, Or) for operand in self.operands)


Condition = Variable | Boolean | Comparison | Approx | IsUnknown | Not | And | Or


def _inside(node: Condition, *in_parentheses: type) -> str:
    return f"({node})" if isinstance(node, in_parentheses) else str(node)


def variables(node: Condition) -> list[Variable]:
    """The variables of a condition, in the order of the text, each name once."""
    found: dict[str, Variable] = {}
    for variable in _all_variables(node):
        found.setdefault(variable.name, variable)
    return list(found.values())


def _all_variables(node: Condition | Number) -> Iterator[Variable]:
    match node:
        case Variable():
            yield node
        case Comparison(left=left, right=right) | Approx(left=left, right=right):
            yield from _all_variables(left)
            yield from _all_variables(right)
        case IsUnknown(variable=variable):
            yield variable
        case Not(operand=operand):
            yield from _all_variables(operand)
        case And(operands=operands) | Or(operands=operands):
            for operand in operands:
                yield from _all_variables(operand)
