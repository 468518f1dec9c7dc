"""The grammar of conditions, the same in Python, YAML and messages.

    condition  = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation   = "not" negation | comparison
    comparison = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
    sum        = primary { ( "+" | "-" ) primary }
    primary    = "(" condition ")" | "true" | "false" | variable | number | "abs" "(" sum ")" | "norm" "(" variable ")"
               | "approx" "(" sum "," sum "," number ")" | "is_unknown" "(" variable ")"
    number     = [ "+" | "-" ] digits [ unit ]
    variable   = identifier [index] { "." identifier [index] }

A comparison takes values (variables, numbers, and what is computed from them) and booleans; at least one side contains
a variable. Only values can be added. Types and units are not known here; compiler.py checks them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.tokens import (
    END,
    MARK,
    NAME,
    NUMBER,
    OPERATOR,
    UNIT,
    WORD,
    Token,
    fault,
    tokenize,
)
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
    Value,
    Variable,
    leaves,
    numbers_at_a_time,
)
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, ConditionError, DefinitionError, unknown

_Compared = TypeVar("_Compared", Comparison, Approx)
_Node = TypeVar("_Node", bound=Condition | Value)

_NUMBERS = capacities.MAX_CONDITION_NUMBERS
_WORDS_OF_OTHERS = {
    "True": "Write 'true'",
    "False": "Write 'false'",
    "TRUE": "Write 'true'",
    "FALSE": "Write 'false'",
    "AND": "Write 'and'",
    "OR": "Write 'or'",
    "NOT": "Write 'not'",
    "nan": "Write is_unknown(x)",
    "NaN": "Write is_unknown(x)",
    "None": "Write is_unknown(x)",
    "inf": "Numbers are finite",
}


def parse_condition(text: str, *, of: str = "condition", computed: bool = False) -> Condition:
    """The tree of a condition.

    Args:
        text: the condition, e.g. `rangefinder.distance < 0.2 and not estop`.
        of: its name in messages, e.g. "condition of reaction 'near'".
        computed: values of a program's parameters are already filled in. Then a comparison of two constants is replaced
            by its result; else it is refused, because it never changes.

    Raises:
        ConditionError: the text is not a condition; the message points at the character.
        CapacityError: it is longer than MAX_CONDITION_LENGTH or nested deeper than MAX_CONDITION_DEPTH.
    """
    if not isinstance(text, str):
        raise ConditionError(f"{of} is not a text", expected="a text such as 'x < 0.2'", got=repr(text))
    if len(text) > capacities.MAX_CONDITION_LENGTH:
        raise CapacityError(
            f"{of} is too long: {text[:40] + '…'!r}",
            expected=f"at most {capacities.MAX_CONDITION_LENGTH} characters (MAX_CONDITION_LENGTH)",
            got=str(len(text)),
            hint="Split it into several reactions",
        )
    tree = _tree(text, computed)
    return tree if tree is not None else _Parser(text, of, computed).parse()  # raises, with `of` in the message


@lru_cache(maxsize=4096)
def _tree(text: str, computed: bool) -> Condition | None:
    """The tree; None: the text is not a condition. Cached, because a condition is parsed to define, check and compile
    it."""
    try:
        return _Parser(text, "condition", computed).parse()
    except DefinitionError:
        return None


class _Parser:
    """Recursive descent parser; every method consumes the tokens of the rule that it is named after."""

    def __init__(self, text: str, of: str, computed: bool) -> None:
        self.text, self.of, self.computed = text, of, computed
        self.tokens = tokenize(text, of)
        self.next = 0
        self.depth = 0

    def parse(self) -> Condition:
        if self.token.kind == END:
            raise ConditionError(f"{self.of} is empty", expected="a text such as 'x < 0.2'", got=repr(self.text))
        node = self.as_condition(self.condition())
        if self.token.kind != END:
            raise self.unexpected("'and', 'or' or the end of the condition")
        return node

    # --- tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.next]

    def take(self) -> Token:
        token = self.token
        self.next += 1
        return token

    def at(self, kind: str, *texts: str) -> bool:
        return self.token.kind == kind and (not texts or self.token.text in texts)

    def take_mark(self, mark: str, after: str) -> None:
        if not self.at(MARK, mark):
            raise self.unexpected(f"{mark!r} {after}")
        self.take()

    def fault_at(
        self, position: int, message: str = "", *, expected: str = "", got: str = "", hint: str = ""
    ) -> ConditionError:
        return fault(self.of, self.text, position, message, expected=expected, got=got, hint=hint)

    def unexpected(self, expected: str, hint: str = "") -> ConditionError:
        token = self.token
        if not hint and token.kind == NAME:
            hint = _WORDS_OF_OTHERS.get(token.text, "")
        return self.fault_at(token.position, expected=expected, got=str(token), hint=hint)

    def deeper(self, parse: Callable[[], _Node]) -> _Node:
        self.depth += 1
        if self.depth > capacities.MAX_CONDITION_DEPTH:
            raise CapacityError(
                f"{self.of} is nested too deeply at column {self.token.position + 1}",
                expected=f"at most {capacities.MAX_CONDITION_DEPTH} levels of 'not' and '(' (MAX_CONDITION_DEPTH)",
                got=str(self.depth),
            )
        node = parse()
        self.depth -= 1
        return node

    # --- grammar; a rule that finds no operator of its own returns what it found, so `(x + 1) < y` is no exception

    def condition(self) -> Condition | Value:
        return self.joined("or", self.conjunction, Or)

    def conjunction(self) -> Condition | Value:
        return self.joined("and", self.negation, And)

    def joined(self, word: str, operand: Callable[[], Condition | Value], join: type[And | Or]) -> Condition | Value:
        first = operand()
        if not self.at(WORD, word):
            return first
        operands = [self.as_condition(first)]
        while self.at(WORD, word):
            self.take()
            operands.append(self.as_condition(operand()))
        return join(tuple(operands), first.position)

    def negation(self) -> Condition | Value:
        if not self.at(WORD, "not"):
            return self.comparison()
        position = self.take().position
        return Not(self.as_condition(self.deeper(self.negation)), position)

    def comparison(self) -> Condition | Value:
        first = self.sum()
        if not self.at(OPERATOR):
            return first
        operator = self.take()
        left = self.as_operand(first, operator)
        right = self.as_operand(self.sum(), operator)
        if self.at(OPERATOR):
            raise self.fault_at(
                self.token.position,
                "comparisons cannot be chained",
                expected="one comparison",
                got=f"a second {self.token}",
                hint=f"Write '{left} {operator.text} {right} and {right} {self.token.text} …'",
            )
        return self.varying(Comparison(operator.text, left, right, left.position))

    def sum(self) -> Condition | Value:
        first = self.primary()
        if not self.at(MARK, "+", "-"):
            return first
        signs, terms = ["+"], [self.as_value(first)]
        while self.at(MARK, "+", "-"):
            signs.append(self.take().text)
            terms.append(self.as_value(self.primary()))
        return Sum(tuple(signs), tuple(terms), first.position)

    def primary(self) -> Condition | Value:
        token = self.token
        if self.at(MARK, "("):
            self.take()
            node = self.deeper(self.condition)
            self.take_mark(")", f"for the '(' at column {token.position + 1}")
            return node
        if self.at(WORD, "true", "false"):
            return Boolean(self.take().text == "true", token.position)
        if self.at(WORD, "approx"):
            return self.approx()
        if self.at(WORD, "abs"):
            return Absolute(self.argument("the value: abs(x)", lambda: self.deeper(self.value)), token.position)
        if self.at(WORD, "is_unknown"):
            return IsUnknown(self.argument("the variable: is_unknown(x)", self.variable), token.position)
        if self.at(WORD, "norm"):
            return Norm(self.argument("the vector: norm(v)", self.variable), token.position)
        if self.at(NUMBER) or self.at(MARK, "+", "-"):
            return self.number()
        return self.variable(
            "a variable, a number, 'true', 'false', 'not', 'approx', 'is_unknown', 'abs', 'norm' or '('"
        )

    def argument(self, what: str, parse: Callable[[], _Node]) -> _Node:
        """The one argument of a function; `what`: it, and how the function is written."""
        self.take_mark("(", f"after {self.take().text!r}")
        found = parse()
        self.take_mark(")", f"after {what}")
        return found

    def value(self) -> Value:
        return self.as_value(self.sum())

    def approx(self) -> Approx | Boolean:
        position = self.take().position
        self.take_mark("(", "after 'approx'")
        left = self.value()
        self.take_mark(",", "and the value to compare with")
        right = self.value()
        self.take_mark(",", "and the tolerance")
        at = self.token
        if not (self.at(NUMBER) or self.at(MARK, "+", "-")):
            raise self.unexpected("the tolerance, a number")
        tolerance = self.number()
        if math.copysign(1.0, tolerance.value) < 0.0:
            raise self.fault_at(at.position, "tolerance of approx", expected="at least 0", got=str(tolerance))
        self.take_mark(")", "after the tolerance: approx(x, v, tolerance)")
        return self.varying(Approx(left, right, tolerance, position))

    def variable(self, expected: str = "a variable") -> Variable:
        token = self.token
        if token.kind != NAME or token.text in _WORDS_OF_OTHERS:
            raise self.unexpected(expected)
        if len(token.text) > capacities.MAX_DOTTED_NAME_LENGTH:
            raise CapacityError(
                f"{self.of}: the name {token.text[:40] + '…'!r} is too long",
                expected=f"at most {capacities.MAX_DOTTED_NAME_LENGTH} characters (MAX_DOTTED_NAME_LENGTH)",
                got=str(len(token.text)),
            )
        self.take()
        if self.at(MARK, "("):
            raise self.fault_at(
                token.position,
                f"{token.text!r} is not a function",
                expected=unknown("function", token.text, ("abs", "approx", "is_unknown", "norm")),
                got=f"'{token.text}('",
            )
        return Variable(token.text, token.position)

    def number(self) -> Number:
        position = self.token.position
        sign = -1.0 if self.at(MARK, "-") else 1.0
        if self.at(MARK, "+", "-"):
            self.take()
            if not self.at(NUMBER):
                hint = f"Write '0 - {self.token.text}'" if self.at(NAME) else ""
                raise self.unexpected("a number after its sign", hint=hint)
        token = self.take()
        value = sign * float(token.text)
        if not math.isfinite(value):
            raise self.fault_at(token.position, "the number is too large", expected="a finite number", got=str(token))
        return Number(value, self.take().text if self.at(UNIT) else "", position)

    # --- which operands are allowed

    def varying(self, node: _Compared) -> _Compared | Boolean:
        """A comparison of two constants never changes: a mistake, unless a program's parameters were filled in."""
        if max(needed := [numbers_at_a_time(node.left), 1 + numbers_at_a_time(node.right)]) > _NUMBERS:
            raise CapacityError(
                f"{self.of}: '{node}' computes with too many numbers at a time",
                expected=f"at most {_NUMBERS} (MAX_CONDITION_NUMBERS)",
                got=str(max(needed)),
                hint="Write a - b + c instead of a - (b - c)",
            )
        found = list(leaves(node))
        if any(isinstance(leaf, Variable) for leaf in found):
            return node
        if self.computed and len({leaf.unit for leaf in found if isinstance(leaf, Number) and leaf.unit}) < 2:
            return Boolean(evaluate_ast(node, {}) is True, node.position)
        raise self.fault_at(
            node.position,
            "the comparison has no state variable",
            expected="a state variable on at least one side, as in 'x < 0.2'",
            got=repr(str(node)),
            hint="It would never change. A condition that always holds is 'true'",
        )

    def as_condition(self, node: Condition | Value) -> Condition:
        if isinstance(node, Number | Absolute | Norm | Sum):
            raise self.fault_at(
                node.position,
                "a number is not a condition",
                expected="a comparison",
                got=repr(str(node)),
                hint="Write 'x < 0.2'",
            )
        return node

    def as_operand(self, node: Condition | Value, operator: Token) -> Operand:
        if isinstance(node, Operand):
            return node
        raise self.fault_at(
            node.position,
            f"{operator.text!r} cannot compare a condition",
            expected="a variable, a number, 'true' or 'false'",
            got=repr(str(node)),
            hint="Combine conditions with 'and', 'or', 'not'",
        )

    def as_value(self, node: Condition | Value) -> Value:
        if isinstance(node, Value):
            return node
        raise self.fault_at(
            node.position, "only numbers are computed with", expected="a variable or a number", got=repr(str(node))
        )
