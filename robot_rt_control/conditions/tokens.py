"""Splits a condition's text into tokens, and makes the errors that point into it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from robot_rt_control.vocabulary.errors import ConditionError
from robot_rt_control.vocabulary.names import NUMBER_PATTERN, RESERVED, VARIABLE_PATTERN

NUMBER, UNIT, NAME, WORD, OPERATOR, MARK, END = "number", "unit", "name", "word", "operator", "mark", "end"
"""Kinds of tokens. A word is a keyword of the grammar; a mark is a parenthesis, a comma or a sign."""

_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(NUMBER_PATTERN)
_FACTOR = r"[A-Za-z%°µΩ]+(?:\^?-?[0-9]+)?"
_UNIT = re.compile(rf"(?:1/)?{_FACTOR}(?:[/*·]{_FACTOR})*(?![A-Za-z0-9_.\[(])")
_VARIABLE = re.compile(VARIABLE_PATTERN)
_OPERATOR = re.compile(r"<=|>=|==|!=|<|>")
_MARKS = "(),+-"

_ONLY_SUMS = "A condition only adds and subtracts: declare a state variable and compute it in the action's sense"
_HINTS = {
    "=": "Write '==' to compare",
    "&": "Write 'and'",
    "|": "Write 'or'",
    "!": "Write 'not', or '!=' to compare",
    "*": _ONLY_SUMS,
    "/": _ONLY_SUMS,
    "[": "An index is a whole number from 0, as in arm.position[3]",
    ".": "A name is made of identifiers joined by dots, as in arm.position[3]",
    '"': "A condition compares numbers and booleans, not texts",
    "'": "A condition compares numbers and booleans, not texts",
}


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    position: int

    def __str__(self) -> str:
        return "the end of the condition" if self.kind == END else repr(self.text)


def fault(
    of: str, text: str, position: int, message: str = "", *, expected: str = "", got: str = "", hint: str = ""
) -> ConditionError:
    """An error that points at a character of the text. `of` names the condition: "condition of reaction 'r'"."""
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    where = f"line {line}, column {column}" if "\n" in text else f"column {column}"
    what = f"{of}, {where}: {message}" if message else f"{of} is not valid at {where}"
    return ConditionError(what, text=text, position=position, expected=expected, got=got, hint=hint)


def unit_at(text: str, position: int) -> str:
    """The unit after a number that ends at `position`, with the space before it; empty: none."""
    start = _skip_space(text, position)
    match = _UNIT.match(text, start)
    return text[position : match.end()] if match and match[0] not in RESERVED else ""


def tokenize(text: str, of: str) -> list[Token]:
    """All tokens of the text, the last of kind END.

    Raises:
        ConditionError: a character that cannot begin a token.
    """
    tokens: list[Token] = []
    position = _skip_space(text, 0)
    while position < len(text):
        token = _token_at(text, position, tokens[-1].kind if tokens else "")
        if token is None:
            character = text[position]
            raise fault(
                of, text, position, expected=_expected(character), got=repr(character), hint=_HINTS.get(character, "")
            )
        tokens.append(token)
        position = _skip_space(text, position + len(token.text))
    return [*tokens, Token(END, "", len(text))]


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _token_at(text: str, position: int, previous: str) -> Token | None:
    if previous == NUMBER and (match := _UNIT.match(text, position)) and match[0] not in RESERVED:
        return Token(UNIT, match[0], position)
    if match := _NUMBER.match(text, position):
        return Token(NUMBER, match[0], position)
    if match := _VARIABLE.match(text, position):
        return Token(WORD if match[0] in RESERVED else NAME, match[0], position)
    if match := _OPERATOR.match(text, position):
        return Token(OPERATOR, match[0], position)
    if text[position] in _MARKS:
        return Token(MARK, text[position], position)
    return None


def _expected(character: str) -> str:
    if character == "[":
        return "an index such as [3] after a name"
    if character == ".":
        return "an identifier on each side of a dot"
    return "a variable, a number, a comparison, 'and', 'or', 'not', or a parenthesis"
