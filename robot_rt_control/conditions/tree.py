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


@dataclass(frozen=True, slots=True)
class Absolute:
    """|value|."""

    value: Value
    position: int = _position()

    def __str__(self) -> str:
        return f"abs({self.value})"


@dataclass(frozen=True, slots=True)
class Norm:
    """Euclidean norm of a vector state variable."""

    vector: Variable
    position: int = _position()

    def __str__(self) -> str:
        return f"norm({self.vector})"


@dataclass(frozen=True, slots=True)
class Sum:
    """Two or more terms, added or subtracted from left to right; the first sign is "+"."""

    signs: tuple[str, ...]
    terms: tuple[Value, ...]
    position: int = _position()

    def __str__(self) -> str:
        first, *others = (_inside(term, Sum) for term in self.terms)
        return first + "".join(f" {s} {term}" for s, term in zip(self.signs[1:], others, strict=True))


Value = Variable | Number | Absolute | Norm | Sum
Operand = Value | Boolean


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

    left: Value
    right: Value
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


def _inside(node: Condition | Value, *in_parentheses: type) -> str:
    return f"({node})" if isinstance(node, in_parentheses) else str(node)


def numbers_at_a_time(node: Operand) -> int:
    """How many numbers the loop holds while it computes a value."""
    match node:
        case Absolute(value=value):
            return numbers_at_a_time(value)
        case Sum(terms=(first, *others)):
            return max(numbers_at_a_time(first), *(1 + numbers_at_a_time(term) for term in others))
    return 1


def variables(node: Condition | Value) -> list[Variable]:
    """The variables of a condition or value, in the order of the text, each name once."""
    found: dict[str, Variable] = {}
    for leaf in leaves(node):
        if isinstance(leaf, Variable):
            found.setdefault(leaf.name, leaf)
    return list(found.values())


def leaves(node: Condition | Value) -> Iterator[Variable | Number | Boolean]:
    """The variables and constants, in the order of the text; of `approx` without the tolerance."""
    match node:
        case Variable() | Number() | Boolean():
            yield node
        case Comparison(left=left, right=right) | Approx(left=left, right=right):
            yield from leaves(left)
            yield from leaves(right)
        case IsUnknown(variable=inner) | Not(operand=inner) | Absolute(value=inner) | Norm(vector=inner):
            yield from leaves(inner)
        case And(operands=inner) | Or(operands=inner) | Sum(terms=inner):
            for operand in inner:
                yield from leaves(operand)
