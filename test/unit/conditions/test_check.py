"""Programs from another process are checked before the tick trusts them."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.conditions.check import find_fault, find_skips, offsets_read
from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, OF_NUMBERS, Operator

PUSH, ADD, LESS_NUMBERS = Operator.NUMBER, Operator.ADD, Operator.LESS + OF_NUMBERS
TRUTH, AND, NOT, LESS = Operator.NOT_EQUAL_CONSTANT, Operator.AND, Operator.NOT, Operator.LESS_CONSTANT
FIELDS = ("if_less", "if_equal", "if_greater")


def program(*operators: int) -> np.ndarray:
    rows = np.zeros(len(operators), instruction_dtype)
    rows["operator"] = operators
    return rows


def complete(operators: list[int], lengths: list[int]) -> np.ndarray:
    """Programs whose instructions also say what follows them."""
    rows = program(*operators)
    for field, skips in zip(FIELDS, find_skips(rows["operator"], np.cumsum(np.array(lengths, np.int64))), strict=True):
        rows[field] = skips
    return rows


@pytest.mark.parametrize(
    ("operators", "lengths"),
    [
        ([], []),
        ([TRUTH], [1]),
        ([TRUTH, TRUTH + JOIN_AND, NOT], [3]),
        ([TRUTH, TRUTH, AND, TRUTH, NOT], [3, 2]),
        ([TRUTH] * 32 + [AND] * 31, [63]),
        ([PUSH] * 4 + [ADD, ADD, LESS_NUMBERS], [7]),
        ([PUSH, Operator.ABSOLUTE, PUSH, LESS_NUMBERS, PUSH, PUSH, LESS_NUMBERS + JOIN_OR, NOT], [8]),
    ],
)
def test_valid(operators: list[int], lengths: list[int]) -> None:
    assert find_fault(complete(operators, lengths), np.array(lengths)) == ""


@pytest.mark.parametrize(
    ("operators", "lengths", "if_holds", "if_not"),
    [
        ([LESS], [1], [-1], [0]),
        ([LESS, LESS + JOIN_AND, LESS + JOIN_AND], [3], [1, 1, -1], [0, 0, 0]),
        ([LESS, LESS + JOIN_OR, LESS + JOIN_OR], [3], [-1, -1, -1], [1, 1, 0]),
        ([LESS, LESS + JOIN_AND, LESS + JOIN_OR], [3], [1, -1, -1], [2, 1, 0]),
        ([LESS, LESS + JOIN_OR, LESS + JOIN_AND], [3], [2, 1, -1], [1, 0, 0]),
        ([LESS, LESS + JOIN_OR, NOT], [3], [-2, -2, -2], [1, -2, -2]),
        ([LESS, LESS + JOIN_OR, LESS, LESS + JOIN_AND], [2, 2], [-1, -1, 1, -1], [1, 0, 0, 0]),
        ([LESS, LESS, LESS + JOIN_OR, AND], [4], [-2, -2, -2, -2], [-2, 1, -2, -2]),
        ([Operator.CONSTANT, Operator.IS_UNKNOWN, Operator.LESS], [1, 1, 1], [-2, -2, -2], [-2, -2, -2]),
    ],
)
def test_skips(operators: list[int], lengths: list[int], if_holds: list[int], if_not: list[int]) -> None:
    rows = complete(operators, lengths)
    assert [rows[field].tolist() for field in FIELDS] == [if_holds, if_not, if_not]


@pytest.mark.parametrize(
    ("operator", "holds"),
    [
        (Operator.LESS_CONSTANT, "<"),
        (Operator.LESS_EQUAL_CONSTANT, "<="),
        (Operator.GREATER_CONSTANT, ">"),
        (Operator.GREATER_EQUAL_CONSTANT, "=>"),
        (Operator.EQUAL_CONSTANT, "="),
        (Operator.NOT_EQUAL_CONSTANT, "<>"),
    ],
)
def test_comparisons_that_hold(operator: Operator, holds: str) -> None:
    rows = complete([operator], [1])
    assert [rows[field][0] for field in FIELDS] == [-1 if sign in holds else 0 for sign in "<=>"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("wrong", [-2, 1, 2])
def test_wrong_skips(field: str, wrong: int) -> None:
    """The loop follows them without checking the program's end."""
    rows = complete([LESS, LESS + JOIN_AND, LESS], [2, 1])
    rows[field][1] = wrong
    assert find_fault(rows, np.array([2, 1])) == "what follows instruction 1"


def test_a_variable_that_the_operator_does_not_read() -> None:
    """The loop loads it all the same, and its offset is not checked."""
    rows = complete([Operator.CONSTANT], [1])
    rows["left"] = 8
    assert find_fault(rows, np.array([1])) == "the variable of instruction 0"


@pytest.mark.parametrize(
    ("operators", "field", "values", "fault"),
    [
        ([Operator.NORM, PUSH, LESS_NUMBERS], "right", [-8, 0, 0], "the variable of instruction 0"),
        ([Operator.NORM, PUSH, LESS_NUMBERS], "right", [8 * 64, 0, 0], "the variable of instruction 0"),
        ([Operator.NORM, PUSH, LESS_NUMBERS], "right", [8 * 63, 0, 0], ""),
        ([PUSH, PUSH, LESS_NUMBERS], "left", [0, 0, 8], "the variable of instruction 2"),
        ([PUSH, PUSH, LESS_NUMBERS], "right", [0, 0, 8], "the variable of instruction 2"),
        ([PUSH, PUSH, LESS_NUMBERS], "left", [8, 0, 0], "the variable of instruction 0"),
    ],
)
def test_vectors_and_numbers(operators: list[int], field: str, values: list[int], fault: str) -> None:
    rows = complete(operators, [3])
    rows[field] = values
    assert find_fault(rows, np.array([3])) == fault


@pytest.mark.parametrize(
    ("operators", "lengths", "fault"),
    [
        ([TRUTH], [2], "lengths that do not divide 1 instructions into programs"),
        ([TRUTH], [1, 0], "lengths that do not divide 1 instructions into programs"),
        ([TRUTH], [], "lengths that do not divide 1 instructions into programs"),
        ([25], [1], "the operator 25 in instruction 0"),
        ([31 + OF_NUMBERS], [1], "the operator 159 in instruction 0"),
        ([PUSH, PUSH, LESS + OF_NUMBERS], [3], "the operator 130 in instruction 2"),
        ([2 * OF_NUMBERS], [1], "the operator 256 in instruction 0"),
        ([PUSH + JOIN_AND], [1], "the operator 51 in instruction 0"),
        ([PUSH, ADD, TRUTH], [3], "an empty stack at instruction 1, of numbers"),
        ([PUSH, LESS_NUMBERS], [2], "an empty stack at instruction 1, of numbers"),
        ([PUSH, TRUTH], [2], "1 values instead of none at the end of program 0, of numbers"),
        ([PUSH], [1], "0 values instead of one at the end of program 0"),
        (
            [PUSH] * 5 + [LESS_NUMBERS, LESS_NUMBERS, ADD],
            [8],
            "2 values instead of one at the end of program 0",
        ),
        (
            [PUSH] * 5 + [ADD] * 3 + [LESS_NUMBERS],
            [9],
            "a stack deeper than 4 (MAX_CONDITION_NUMBERS) at instruction 4, of numbers",
        ),
        ([-1], [1], "the operator -1 in instruction 0"),
        ([TRUTH, TRUTH + JOIN_AND + JOIN_OR], [2], "the operator 103 in instruction 1"),
        ([TRUTH, TRUTH, AND + JOIN_OR], [3], "the operator 80 in instruction 2"),
        ([AND], [1], "an empty stack at instruction 0"),
        ([TRUTH, AND], [2], "an empty stack at instruction 1"),
        ([TRUTH, NOT, TRUTH + JOIN_AND], [1, 2], "an empty stack at instruction 1"),
        ([TRUTH + JOIN_OR], [1], "an empty stack at instruction 0"),
        ([TRUTH, TRUTH, TRUTH], [1, 2], "2 values instead of one at the end of program 1"),
        ([TRUTH] * 33 + [AND] * 32, [65], "a stack deeper than 32 (MAX_CONDITION_DEPTH) at instruction 32"),
    ],
)
def test_faults(operators: list[int], lengths: list[int], fault: str) -> None:
    assert find_fault(program(*operators), np.array(lengths, np.int64)) == fault


def test_offsets_read() -> None:
    rows = program(
        Operator.CONSTANT,
        TRUTH,
        Operator.LESS_CONSTANT + JOIN_AND,
        Operator.LESS,
        Operator.APPROX,
        AND,
        NOT,
        Operator.VARIABLE,
        Operator.NORM,
        LESS_NUMBERS,
    )
    rows["left"] = np.arange(10) * 8
    rows["right"] = 800 + np.arange(10) * 8
    assert sorted(offsets_read(rows)) == [8, 16, 24, 32, 56, 64, 824, 832, 864]
