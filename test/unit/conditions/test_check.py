"""Programs from another process are checked before the tick trusts them."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.conditions.check import find_fault, offsets_read
from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, Operator

TRUTH, AND, NOT = Operator.TRUTH, Operator.AND, Operator.NOT


def program(*operators: int) -> np.ndarray:
    rows = np.zeros(len(operators), instruction_dtype)
    rows["operator"] = operators
    return rows


@pytest.mark.parametrize(
    ("operators", "lengths"),
    [
        ([], []),
        ([TRUTH], [1]),
        ([TRUTH, TRUTH + JOIN_AND, NOT], [3]),
        ([TRUTH, TRUTH, AND, TRUTH, NOT], [3, 2]),
        ([TRUTH] * 32 + [AND] * 31, [63]),
    ],
)
def test_valid(operators: list[int], lengths: list[int]) -> None:
    assert find_fault(program(*operators), np.array(lengths)) == ""


@pytest.mark.parametrize(
    ("operators", "lengths", "fault"),
    [
        ([TRUTH], [2], "lengths that do not divide 1 instructions into programs"),
        ([TRUTH], [1, 0], "lengths that do not divide 1 instructions into programs"),
        ([TRUTH], [], "lengths that do not divide 1 instructions into programs"),
        ([20], [1], "the operator 20 in instruction 0"),
        ([-1], [1], "the operator -1 in instruction 0"),
        ([TRUTH, TRUTH + JOIN_AND + JOIN_OR], [2], "the operator 97 in instruction 1"),
        ([TRUTH, TRUTH, AND + JOIN_OR], [3], "the operator 81 in instruction 2"),
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
        Operator.CONSTANT, TRUTH, Operator.LESS_CONSTANT + JOIN_AND, Operator.LESS, Operator.APPROX, AND, NOT
    )
    rows["left"] = np.arange(7) * 8
    rows["right"] = 800 + np.arange(7) * 8
    assert sorted(offsets_read(rows)) == [8, 16, 24, 32, 824, 832]
