"""The grammar of conditions, the same in Python, YAML and messages.

    condition  = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation   = "not" negation | comparison
    comparison = primary [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) primary ]
    primary    = "(" condition ")" | "true" | "false" | variable | number
               | "approx" "(" value "," value "," number ")" | "is_unknown" "(" variable ")"
    value      = variable | number
    number     = [ "+" | "-" ] digits [ unit ]
    variable   = identifier [index] { "." identifier [index] }

A comparison takes variables, numbers and booleans, and at least one side is a variable. So each comparison is one
instruction. Types and units are not known here; compiler.py checks them.
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
    And,
    Approx,
    Boolean,
    Comparison,
    Condition,
    IsUnknown,
    Not,
    Number,
    Operand,
    Or,
    Variable,
)
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, ConditionError, DefinitionError, unknown

_Compared = TypeVar("_Compared", Comparison, Approx)

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
_NOT_COMPUTED = "A condition does not compute: declare a state variable and compute it in the action's sense"


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
        node = self.condition()
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
        if not hint and token.kind == MARK and token.text in "+-":
            hint = _NOT_COMPUTED
        return self.fault_at(token.position, expected=expected, got=str(token), hint=hint)

    def deeper(self, parse: Callable[[], Condition | Number]) -> Condition | Number:
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

    # --- grammar

    def condition(self) -> Condition:
        first = self.conjunction()
        operands = [first]
        while self.at(WORD, "or"):
            self.take()
            operands.append(self.conjunction())
        return first if len(operands) == 1 else Or(tuple(operands), first.position)

    def conjunction(self) -> Condition:
        first = self.negation()
        operands = [first]
        while self.at(WORD, "and"):
            self.take()
            operands.append(self.negation())
        return first if len(operands) == 1 else And(tuple(operands), first.position)

    def negation(self) -> Condition:
        if not self.at(WORD, "not"):
            return self.comparison()
        position = self.take().position
        inner = self.deeper(self.negation)
        return Not(self.as_condition(inner), position)

    def comparison(self) -> Condition:
        left = self.primary()
        if not self.at(OPERATOR):
            return self.as_condition(left)
        operator = self.take()
        left = self.as_operand(left, operator)
        right = self.as_operand(self.primary(), operator)
        if self.at(OPERATOR):
            raise self.fault_at(
                self.token.position,
                "comparisons cannot be chained",
                expected="one comparison",
                got=f"a second {self.token}",
                hint=f"Write '{left} {operator.text} {right} and {right} {self.token.text} …'",
            )
        return self.varying(Comparison(operator.text, left, right, left.position))

    def primary(self) -> Condition | Number:
        token = self.token
        if self.at(MARK, "("):
            self.take()
            node = self.deeper(self.inside_parentheses)
            self.take_mark(")", f"for the '(' at column {token.position + 1}")
            return node
        if self.at(WORD, "true", "false"):
            return Boolean(self.take().text == "true", token.position)
        if self.at(WORD, "approx"):
            return self.approx()
        if self.at(WORD, "is_unknown"):
            return self.is_unknown()
        if self.at(NUMBER) or self.at(MARK, "+", "-"):
            return self.number()
        return self.variable("a variable, a number, 'true', 'false', 'not', 'approx', 'is_unknown' or '('")

    def inside_parentheses(self) -> Condition | Number:
        """A condition, or a number alone: `x < (-0.2)`."""
        if self.at(NUMBER) or self.at(MARK, "+", "-"):
            start = self.next
            number = self.number()
            if self.at(MARK, ")"):
                return number
            self.next = start
        return self.condition()

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

    def is_unknown(self) -> IsUnknown:
        position = self.take().position
        self.take_mark("(", "after 'is_unknown'")
        variable = self.variable("a variable")
        self.take_mark(")", "after the variable: is_unknown(x)")
        return IsUnknown(variable, position)

    def value(self) -> Variable | Number:
        if self.at(NUMBER) or self.at(MARK, "+", "-"):
            return self.number()
        return self.variable("a variable or a number")

    def variable(self, expected: str) -> Variable:
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
                expected=unknown("function", token.text, ("approx", "is_unknown")),
                got=f"'{token.text}('",
            )
        return Variable(token.text, token.position)

    def number(self) -> Number:
        position = self.token.position
        sign = -1.0 if self.at(MARK, "-") else 1.0
        if self.at(MARK, "+", "-"):
            self.take()
            if not self.at(NUMBER):
                raise self.unexpected("a number after its sign", hint=_NOT_COMPUTED if self.at(NAME) else "")
        token = self.take()
        value = sign * float(token.text)
        if not math.isfinite(value):
            raise self.fault_at(token.position, "the number is too large", expected="a finite number", got=str(token))
        return Number(value, self.take().text if self.at(UNIT) else "", position)

    # --- which operands are allowed

    def varying(self, node: _Compared) -> _Compared | Boolean:
        """A comparison of two constants never changes: a mistake, unless a program's parameters were filled in."""
        if isinstance(node.left, Variable) or isinstance(node.right, Variable):
            return node
        if self.computed and len({n.unit for n in (node.left, node.right) if isinstance(n, Number) and n.unit}) < 2:
            return Boolean(bool(evaluate_ast(node, {})), node.position)
        raise self.fault_at(
            node.position,
            "the comparison has no state variable",
            expected="a state variable on at least one side, as in 'x < 0.2'",
            got=repr(str(node)),
            hint="It would never change. A condition that always holds is 'true'",
        )

    def as_condition(self, node: Condition | Number) -> Condition:
        if isinstance(node, Number):
            raise self.fault_at(
                node.position,
                "a number is not a condition",
                expected="a comparison",
                got=repr(str(node)),
                hint="Write 'x < 0.2'",
            )
        return node

    def as_operand(self, node: Condition | Number, operator: Token) -> Operand:
        if isinstance(node, Variable | Number | Boolean):
            return node
        raise self.fault_at(
            node.position,
            f"{operator.text!r} cannot compare a condition",
            expected="a variable, a number, 'true' or 'false'",
            got=repr(str(node)),
            hint="Combine conditions with 'and', 'or', 'not'",
        )
