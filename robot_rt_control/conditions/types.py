"""Type and unit rules of conditions.

==========  ==========================================================
type        allowed in
==========  ==========================================================
bool        alone; `==` and `!=` with true, false or another bool
int         `==`, `!=`, `<`, `<=`, `>`, `>=`; `==` with a whole number or another int
float       `<`, `<=`, `>`, `>=`, `approx`
any         `is_unknown`
==========  ==========================================================

Integers and floats are also computed with; the result is an integer if all terms are. A vector stands only in `norm`, a
float; elsewhere its elements are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robot_rt_control.conditions.tokens import fault
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
    Operand,
    Or,
    Sum,
    Variable,
    variables,
)
from robot_rt_control.vocabulary.errors import ConditionError, DefinitionError

_TYPES = ("float", "int", "bool")
_MAX_OFFSET = 2**31 - 8


@dataclass(frozen=True)
class VariableRef:
    """Location, type and unit of a state variable.

    Args:
        offset: offset of its float64 from the start of the world [bytes].
        type: float, int or bool.
        unit: e.g. "m/s"; empty: none, or not declared.
        length: number of elements of a vector, which are adjacent; 1: it is a number.

    Raises:
        DefinitionError: the offset is not that of a float64, or the type is unknown.
    """

    offset: int
    type: str = "float"
    unit: str = ""
    length: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.offset <= _MAX_OFFSET or self.offset % 8:
            raise DefinitionError(
                "offset of a state variable", expected=f"a multiple of 8 from 0 to {_MAX_OFFSET}", got=str(self.offset)
            )
        if self.type not in _TYPES:
            raise DefinitionError("type of a state variable", expected=" or ".join(_TYPES), got=repr(self.type))


class ConditionTypes:
    """Checks a tree against the types and units of its variables.

    Args:
        text: the condition, for messages.
        of: its name in messages.
        refs: every variable of the tree.
    """

    def __init__(self, text: str, of: str, refs: Mapping[str, VariableRef]) -> None:
        self._text, self._of, self._refs = text, of, refs

    def check(self, node: Condition) -> None:
        """Check a tree.

        Raises:
            ConditionError: the first rule that is broken, from left to right.
        """
        match node:
            case Variable():
                self._check_value(node)
                self._check_truth(node)
            case Comparison(left=left, right=right) | Approx(left=left, right=right):
                self._check_value(left)
                self._check_value(right)
                self._check_approx(node) if isinstance(node, Approx) else self._check_comparison(node)
            case IsUnknown(variable=variable):
                self._check_value(variable)
            case Not(operand=operand):
                self.check(operand)
            case And(operands=operands) | Or(operands=operands):
                for operand in operands:
                    self.check(operand)

    def _fault(self, node: Operand, message: str, *, expected: str, got: str, hint: str = "") -> ConditionError:
        return fault(self._of, self._text, node.position, message, expected=expected, got=got, hint=hint)

    def _check_value(self, node: Operand) -> None:
        """Check what is computed: with numbers, in one unit."""
        match node:
            case Variable(name=name):
                if (length := self._refs[name].length) > 1:
                    raise self._fault(
                        node,
                        f"{name!r} is a vector of {length} elements",
                        expected=f"one of its elements, or norm({name})",
                        got=repr(name),
                    )
            case Norm(vector=vector):
                ref = self._refs[vector.name]
                if ref.length == 1 or ref.type == "bool":
                    got = self._described(vector) if ref.length == 1 else f"a vector of booleans, {vector.name!r}"
                    raise self._fault(vector, "'norm' takes a vector of numbers", expected="a vector", got=got)
            case Absolute(value=value):
                self._check_number(value)
            case Sum(terms=terms):
                for term in terms:
                    self._check_number(term)
                    with_unit = next((t for t in terms if self._unit(t)), term)
                    self._check_units(with_unit, term)

    def _check_number(self, node: Operand) -> None:
        self._check_value(node)
        if self._type(node) == "bool":
            raise self._fault(
                node, "only numbers are computed with", expected="a number", got=self._described(node)
            )

    def _type(self, node: Operand) -> str:
        match node:
            case Variable(name=name):
                return self._refs[name].type
            case Number(value=value):
                return "int" if value.is_integer() else "float"
            case Absolute(value=inner):
                return self._type(inner)
            case Sum(terms=terms):
                return "int" if all(self._type(term) == "int" for term in terms) else "float"
        return "bool" if isinstance(node, Boolean) else "float"

    def _described(self, node: Operand) -> str:
        return f"the {self._type(node)} variable {node.name!r}" if isinstance(node, Variable) else repr(str(node))

    def _check_truth(self, node: Variable) -> None:
        kind = self._type(node)
        if kind != "bool":
            raise self._fault(
                node,
                "only a boolean is a condition by itself",
                expected="a comparison, or a bool variable",
                got=self._described(node),
                hint=f"Write '{node.name} != 0'" if kind == "int" else f"Write '{node.name} > 0'",
            )

    def _check_comparison(self, node: Comparison) -> None:
        left, right, symbol = node.left, node.right, node.operator
        bools = [self._type(side) == "bool" for side in (left, right)]
        if any(bools):
            self._check_with_bool(node, bools)
            return
        if symbol in ("==", "!="):
            for side, other in ((left, right), (right, left)):
                if self._type(side) == "float":
                    self._refuse_equality(node, side, other)
        self._check_units(left, right)

    def _check_with_bool(self, node: Comparison, bools: list[bool]) -> None:
        if node.operator not in ("==", "!="):
            side = node.left if bools[0] else node.right
            raise self._fault(
                side,
                f"{node.operator!r} cannot compare a boolean",
                expected="'==' or '!=' for a boolean",
                got=f"{node.operator!r} with {self._described(side)}",
            )
        if not all(bools):
            side, boolean = (node.right, node.left) if bools[0] else (node.left, node.right)
            raise self._fault(
                side,
                f"{node.operator!r} cannot compare a boolean with a number",
                expected=f"true, false or a bool variable with {self._described(boolean)}",
                got=self._described(side),
            )

    def _refuse_equality(self, node: Comparison, side: Operand, other: Operand) -> None:
        if isinstance(side, Number):  # the other side is a variable
            raise self._fault(
                side,
                f"{node.operator!r} compares integers",
                expected=f"a whole number with {self._described(other)}",
                got=self._described(side),
                hint="" if self._type(other) == "int" else self._approx_hint(node, other, side),
            )
        raise self._fault(
            side,
            f"{node.operator!r} cannot compare a float",
            expected="'approx', '<', '<=', '>' or '>=' for a float",
            got=f"{node.operator!r} with {self._described(side)}",
            hint=self._approx_hint(node, side, other),
        )

    def _approx_hint(self, node: Comparison, variable: Operand, other: Operand) -> str:
        return f"Write '{'not ' if node.operator == '!=' else ''}approx({variable}, {other}, tolerance)'"

    def _check_approx(self, node: Approx) -> None:
        for side in (node.left, node.right):
            if variables(side) and self._type(side) != "float":
                raise self._fault(
                    side,
                    "'approx' compares floats",
                    expected="a float variable",
                    got=self._described(side),
                    hint="Write '=='",
                )
        self._check_units(node.left, node.right)
        with_unit = [side for side in (node.left, node.right) if self._unit(side)]
        self._check_units(with_unit[0] if with_unit else node.left, node.tolerance)

    def _check_units(self, left: Operand, right: Operand) -> None:
        """A constant's unit must equal that of the other side; the units of two others must agree if both have one."""
        a, b = self._unit(left), self._unit(right)
        if a == b:
            return
        for side, unit, other, wanted in ((right, b, left, a), (left, a, right, b)):
            if unit and not variables(side):
                raise self._fault(
                    side,
                    "units do not agree",
                    expected=f"{self._in_unit(other)}",
                    got=repr(str(side)),
                    hint=f"Give the number in {wanted}; units are not converted" if wanted else "Leave the unit out",
                )
        if a and b and variables(left) and variables(right):
            raise self._fault(
                right, "units do not agree", expected=self._in_unit(left), got=f"{self._described(right)} in {b}"
            )

    def _unit(self, node: Operand) -> str:
        match node:
            case Variable(name=name) | Norm(vector=Variable(name=name)):
                return self._refs[name].unit
            case Number(unit=unit):
                return unit
            case Absolute(value=value):
                return self._unit(value)
            case Sum(terms=terms):
                return next((unit for term in terms if (unit := self._unit(term))), "")
        return ""

    def _in_unit(self, node: Operand) -> str:
        unit = self._unit(node)
        return f"{unit}, as {self._described(node)} has" if unit else f"no unit, as {self._described(node)} has none"
