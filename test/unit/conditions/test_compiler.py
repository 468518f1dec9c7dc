"""What conditions are compiled to."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.conditions.check import find_fault
from robot_rt_control.conditions.compiler import CompiledCondition, compile_condition
from robot_rt_control.conditions.types import VariableRef
from robot_rt_control.memory.layout import instruction_dtype
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.enums import JOIN_AND, JOIN_OR, OF_NUMBERS, Operator
from robot_rt_control.vocabulary.errors import ConditionError

REFS = {
    "x": VariableRef(8),
    "y": VariableRef(16),
    "rangefinder.distance": VariableRef(24, "float", "m"),
    "n": VariableRef(32, "int"),
    "b": VariableRef(40, "bool"),
    "c": VariableRef(48, "bool"),
    "v": VariableRef(56, length=3),
}


def compiled(text: str) -> CompiledCondition:
    return compile_condition(text, REFS.__getitem__)


def listing(text: str) -> str:
    """The program as `OPERATOR left right constant tolerance`, with what the operator does not use left out."""
    lines = []
    for row in compiled(text).instructions:
        join = {0: "", JOIN_AND: " and", JOIN_OR: " or", OF_NUMBERS: " of numbers"}[int(row.operator) & -JOIN_AND]
        operator = Operator(int(row.operator) % JOIN_AND)
        numbers = [f"{v:g}" for v in (row.left, row.right, row.constant, row.tolerance) if v]
        lines.append(" ".join([operator.name, *numbers]) + join)
    return "; ".join(lines)


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("x < 0.5", "LESS_CONSTANT 8 0.5"),
        ("0.5 < x", "GREATER_CONSTANT 8 0.5"),
        ("0.5 >= x", "LESS_EQUAL_CONSTANT 8 0.5"),
        ("n == 3", "EQUAL_CONSTANT 32 3"),
        ("3 != n", "NOT_EQUAL_CONSTANT 32 3"),
        ("x <= y", "LESS_EQUAL 8 16"),
        ("b", "NOT_EQUAL_CONSTANT 40"),
        ("not b", "EQUAL_CONSTANT 40"),
        ("b == true", "NOT_EQUAL_CONSTANT 40"),
        ("b != true", "EQUAL_CONSTANT 40"),
        ("false == b", "EQUAL_CONSTANT 40"),
        ("b != c", "NOT_EQUAL 40 48"),
        ("not x < 0.5", "GREATER_EQUAL_CONSTANT 8 0.5"),
        ("not not x < 0.5", "LESS_CONSTANT 8 0.5"),
        ("not (b and x > 1)", "EQUAL_CONSTANT 40; LESS_EQUAL_CONSTANT 8 1 or"),
        ("approx(x, 1, 0.1)", "APPROX_CONSTANT 8 1 0.1"),
        ("approx(1, x, 0.1)", "APPROX_CONSTANT 8 1 0.1"),
        ("approx(x, y, 0.1)", "APPROX 8 16 0.1"),
        ("not approx(x, y, 0.1)", "APPROX 8 16 0.1; NOT"),
        ("is_unknown(n)", "IS_UNKNOWN 32"),
        ("x + 0.1 < y", "VARIABLE 8; NUMBER 0.1; ADD; VARIABLE 16; LESS of numbers"),
        ("not abs(x - y) < 2 - 1", "VARIABLE 8; VARIABLE 16; SUBTRACT; ABSOLUTE; NUMBER 1; GREATER_EQUAL of numbers"),
        ("x < 1 + 2", "LESS_CONSTANT 8 3"),
        ("norm(v) > y", "NORM 56 72; VARIABLE 16; GREATER of numbers"),
        ("approx(1, abs(x), 0.1)", "NUMBER 1; VARIABLE 8; ABSOLUTE; APPROX 0.1 of numbers"),
        ("b and abs(x) < 1", "VARIABLE 8; ABSOLUTE; NUMBER 1; LESS of numbers; NOT_EQUAL_CONSTANT 40 and"),
        ("b and c and x < 1", "NOT_EQUAL_CONSTANT 40; NOT_EQUAL_CONSTANT 48 and; LESS_CONSTANT 8 1 and"),
        ("b or c and x < 1", "NOT_EQUAL_CONSTANT 48; LESS_CONSTANT 8 1 and; NOT_EQUAL_CONSTANT 40 or"),
        (
            "(b or c) and (x < 1 or y < 1)",
            "NOT_EQUAL_CONSTANT 40; NOT_EQUAL_CONSTANT 48 or; LESS_CONSTANT 8 1; LESS_CONSTANT 16 1 or; AND",
        ),
        ("true", "CONSTANT 1"),
        ("not true", "CONSTANT"),
        ("b and true", "NOT_EQUAL_CONSTANT 40"),
        ("b and false", "CONSTANT"),
        ("b or true", "CONSTANT 1"),
        ("false or b or not true", "NOT_EQUAL_CONSTANT 40"),
        ("true and not false", "CONSTANT 1"),
    ],
)
def test_program(text: str, program: str) -> None:
    assert listing(text) == program


def test_result() -> None:
    condition = compiled("rangefinder.distance < 0.2 m and (b or rangefinder.distance > y)")
    assert condition.variables == ["rangefinder.distance", "b", "y"]
    assert condition.text == "rangefinder.distance < 0.2 m and (b or rangefinder.distance > y)"
    assert condition.instructions.dtype == instruction_dtype
    with pytest.raises(ValueError, match="read-only"):
        condition.instructions[0] = condition.instructions[1]


def test_folded_parts_are_checked_all_the_same() -> None:
    with pytest.raises(ConditionError, match="'==' cannot compare a float"):
        compiled("true or x == 1")
    with pytest.raises(ConditionError, match="there is no such state variable"):
        compiled("false and z")
    assert compiled("true or b").variables == ["b"]


def test_unknown_name_points_at_it_and_names_near_matches() -> None:
    with pytest.raises(ConditionError) as caught:
        compile_condition(
            "b and rangefinder.distanc < 1", REFS.__getitem__, known=lambda: REFS, of="condition of reaction 'r'"
        )
    assert str(caught.value) == (
        "condition of reaction 'r', column 7: there is no such state variable; expected one of the known names; "
        "did you mean 'rangefinder.distance'; got 'rangefinder.distanc'\n"
        "  b and rangefinder.distanc < 1\n"
        "        ^"
    )
    with pytest.raises(ConditionError, match="expected a state variable that exists here; got 'z'"):
        compiled("z")


@pytest.mark.parametrize("levels", [3, 6])
def test_stack_stays_small(monkeypatch: pytest.MonkeyPatch, levels: int) -> None:
    """A nest to the right, whose operands would pile up if they were emitted in their order."""
    text = "b and c"
    for level in range(2 * levels):
        text = f"(b {'or' if level % 2 else 'and'} c) {'and' if level % 2 else 'or'} ({text})"
    instructions = compiled(text).instructions
    monkeypatch.setattr(capacities, "MAX_CONDITION_DEPTH", 2)
    assert find_fault(instructions, np.array([len(instructions)])) == ""


def test_no_text_is_long_enough_to_need_too_large_a_stack() -> None:
    """Each level of a balanced tree needs one place more, and twice the text."""
    text, depth = "b and c", 1
    while len(deeper := f"({text} or {text}) and ({text} or {text})") <= capacities.MAX_CONDITION_LENGTH:
        text, depth = deeper, depth + 2
    assert depth < capacities.MAX_CONDITION_DEPTH / 2
    instructions = compiled(text).instructions
    assert find_fault(instructions, np.array([len(instructions)])) == ""
