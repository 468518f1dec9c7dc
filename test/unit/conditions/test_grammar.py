"""The grammar: what is a condition, and what a message says about what is none."""

from __future__ import annotations

import subprocess
import sys
from types import FrameType

import pytest

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import (
    Absolute,
    And,
    Approx,
    Boolean,
    Comparison,
    IsUnknown,
    Norm,
    Not,
    Number,
    Or,
    Sum,
    Variable,
)
from robot_rt_control.vocabulary import capacities
from robot_rt_control.vocabulary.errors import CapacityError, ConditionError

X, Y, Z = Variable("x"), Variable("y"), Variable("z")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (
            "rangefinder.distance < 0.2 and not estop",
            And((Comparison("<", Variable("rangefinder.distance"), Number(0.2)), Not(Variable("estop")))),
        ),
        ("x", X),
        ("true", Boolean(True)),
        ("x or y and z", Or((X, And((Y, Z))))),
        ("(x or y) and z", And((Or((X, Y)), Z))),
        ("not x == y", Not(Comparison("==", X, Y))),
        ("not not x", Not(Not(X))),
        ("x and (y and z)", And((X, And((Y, Z))))),
        ("arm.position[3] >= -1.5e-3", Comparison(">=", Variable("arm.position[3]"), Number(-0.0015))),
        (
            "legs[1].position[0] != wrist.force.z",
            Comparison("!=", Variable("legs[1].position[0]"), Variable("wrist.force.z")),
        ),
        ("0.2 m/s^2 > x", Comparison(">", Number(0.2, "m/s^2"), X)),
        ("x < 5 1/s", Comparison("<", X, Number(5.0, "1/s"))),
        ("x<-.5Nm and y", And((Comparison("<", X, Number(-0.5, "Nm")), Y))),
        ("x <= + 2.", Comparison("<=", X, Number(2.0))),
        ("x < 3 and y", And((Comparison("<", X, Number(3.0)), Y))),
        ("x < (-3 m)", Comparison("<", X, Number(-3.0, "m"))),
        ("(1 < x) or y", Or((Comparison("<", Number(1.0), X), Y))),
        ("estop == false", Comparison("==", Variable("estop"), Boolean(False))),
        ("approx(x, y, 0.01)", Approx(X, Y, Number(0.01))),
        ("approx(-1 rad, x, 1e-3 rad)", Approx(Number(-1.0, "rad"), X, Number(0.001, "rad"))),
        ("is_unknown(x) or y", Or((IsUnknown(X), Y))),
        ("notes and orbit or android", Or((And((Variable("notes"), Variable("orbit"))), Variable("android")))),
        ("x\n  and\ty", And((X, Y))),
        ("x + 0.1 m < y", Comparison("<", Sum(("+", "+"), (X, Number(0.1, "m"))), Y)),
        ("x -1 < - 2", Comparison("<", Sum(("+", "-"), (X, Number(1.0))), Number(-2.0))),
        ("x - y + z > 1", Comparison(">", Sum(("+", "-", "+"), (X, Y, Z)), Number(1.0))),
        ("x - (y + z) > 1", Comparison(">", Sum(("+", "-"), (X, Sum(("+", "+"), (Y, Z)))), Number(1.0))),
        ("(x - y) < 1", Comparison("<", Sum(("+", "-"), (X, Y)), Number(1.0))),
        ("abs(x - 1) < norm(y)", Comparison("<", Absolute(Sum(("+", "-"), (X, Number(1.0)))), Norm(Y))),
        ("approx(abs(x), y + 1, 0.1)", Approx(Absolute(X), Sum(("+", "+"), (Y, Number(1.0))), Number(0.1))),
    ],
)
def test_parses(text: str, tree: object) -> None:
    assert parse_condition(text) == tree


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (
            "0 < x < 1",
            7,
            "comparisons cannot be chained; expected one comparison; got a second '<'. Write '0 < x and x < …'",
        ),
        ("x = 3", 3, "got '='. Write '==' to compare"),
        ("x && y", 3, "got '&'. Write 'and'"),
        ("x || y", 3, "got '|'. Write 'or'"),
        ("!x", 1, "got '!'. Write 'not', or '!=' to compare"),
        ("x AND y", 3, "expected 'and', 'or' or the end of the condition; got 'AND'. Write 'and'"),
        ("True", 1, "got 'True'. Write 'true'"),
        ("x == nan", 6, "got 'nan'. Write is_unknown(x)"),
        ("x * 2 < 2", 3, "got '*'. A condition only adds and subtracts: declare a state variable"),
        ("x < -y", 6, "expected a number after its sign; got 'y'. Write '0 - y'"),
        ("x + 1", 1, "a number is not a condition; expected a comparison; got 'x + 1'"),
        ("y and norm(x)", 7, "a number is not a condition; expected a comparison; got 'norm(x)'"),
        ("(x < 1) + 1 < y", 2, "only numbers are computed with; expected a variable or a number; got 'x < 1'"),
        ("x + true < y", 5, "only numbers are computed with; expected a variable or a number; got 'true'"),
        ("abs(x < 1)", 7, "expected ')' after the value: abs(x); got '<'"),
        ("abs x < 1", 5, "expected '(' after 'abs'; got 'x'"),
        ("norm(x - y) < 1", 8, "expected ')' after the vector: norm(v); got '-'"),
        ("x < --1", 6, "expected a number after its sign; got '-'"),
        ("arm.position[-1] < 2", 13, "expected an index such as [3] after a name; got '['"),
        ("arm.position[01] < 2", 13, "An index is a whole number from 0"),
        ("arm. < 2", 4, "expected an identifier on each side of a dot; got '.'"),
        ("arm/position < 2", 4, "got '/'"),
        ("mode == 'fast'", 9, "A condition compares numbers and booleans, not texts"),
        ("x < 1.2.3", 8, "got '.3'"),
        ("x < 1e999", 5, "the number is too large; expected a finite number; got '1e999'"),
        ("3", 1, "a number is not a condition; expected a comparison; got '3'"),
        ("x and 3 m", 7, "a number is not a condition; expected a comparison; got '3 m'"),
        ("(x < 1", 7, "expected ')' for the '(' at column 1; got the end of the condition"),
        ("x)", 2, "expected 'and', 'or' or the end of the condition; got ')'"),
        ("()", 2, "got ')'"),
        ("not", 4, "got the end of the condition"),
        ("x and", 6, "got the end of the condition"),
        ("x < ", 5, "got the end of the condition"),
        ("< 3", 1, "got '<'"),
        ("x y", 3, "expected 'and', 'or' or the end of the condition; got 'y'"),
        ("(x < 1) == true", 2, "'==' cannot compare a condition"),
        ("x == (y or z)", 7, "Combine conditions with 'and', 'or', 'not'"),
        ("foo(x)", 1, "'foo' is not a function; expected one of: abs, approx, is_unknown, norm; got 'foo('"),
        ("is_unkown(x)", 1, "did you mean 'is_unknown'"),
        ("approx(x, 1)", 12, "expected ',' and the tolerance; got ')'"),
        ("approx(x, 1, y)", 14, "expected the tolerance, a number; got 'y'"),
        ("approx(x, 1, -0.1)", 14, "tolerance of approx; expected at least 0; got -0.1"),
        ("approx(x < 1, 1, 1)", 10, "expected ',' and the value to compare with; got '<'"),
        ("approx x", 8, "expected '(' after 'approx'; got 'x'"),
        ("is_unknown(3)", 12, "expected a variable; got '3'"),
        ("is_unknown(x < 3)", 14, "expected ')' after the variable: is_unknown(x); got '<'"),
        ("x < §", 5, "got '§'"),
    ],
)
def test_refuses_and_points_at_the_character(text: str, column: int, message: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition(text)
    first, shown, caret = str(caught.value).split("\n")
    assert message in first
    assert f"column {column}" in first
    assert shown == f"  {text}"
    assert caret == " " * (column + 1) + "^"
    assert caught.value.position == column - 1


@pytest.mark.parametrize(
    ("text", "column", "shown"),
    [
        ("1 < 2", 1, "1 < 2"),
        ("x or not (2.0 >= 1)", 11, "2 >= 1"),
        ("true == false", 1, "true == false"),
        ("approx(1, 2 m, 0.5)", 1, "approx(1, 2 m, 0.5)"),
        ("abs(1 - 2) < 1", 1, "abs(1 - 2) < 1"),
    ],
)
def test_a_comparison_of_constants_is_refused(text: str, column: int, shown: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition(text)
    assert str(caught.value) == (
        f"condition, column {column}: the comparison has no state variable; expected a state variable on at least one "
        f"side, as in 'x < 0.2'; got {shown!r}. It would never change. A condition that always holds is 'true'\n"
        f"  {text}\n  {' ' * (column - 1)}^"
    )


def test_whole_message() -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition("x << 0.2", of="condition of reaction 'near'")
    assert str(caught.value) == (
        "condition of reaction 'near' is not valid at column 4; expected a variable, a number, 'true', 'false', 'not', "
        "'approx', 'is_unknown', 'abs', 'norm' or '('; got '<'\n"
        "  x << 0.2\n"
        "     ^"
    )


def test_message_shows_the_line_of_a_longer_text() -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition("x\n and y z\n or x")
    assert "line 2, column 8" in str(caught.value)
    assert str(caught.value).endswith("\n   and y z\n         ^")


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_refuses_nothing(text: str) -> None:
    with pytest.raises(ConditionError, match="condition is empty; expected a text such as 'x < 0.2'"):
        parse_condition(text)


def test_refuses_what_is_no_text() -> None:
    with pytest.raises(ConditionError, match="condition is not a text; expected a text such as 'x < 0.2'; got True"):
        parse_condition(True)  # type: ignore[arg-type]  # that is what is tested


def test_length_capacity() -> None:
    fits = "x" + " " * (capacities.MAX_CONDITION_LENGTH - 1)
    assert parse_condition(fits) == X
    with pytest.raises(
        CapacityError, match=r"condition is too long.*at most 4096 characters \(MAX_CONDITION_LENGTH\); got 4097"
    ):
        parse_condition(fits + " ")


@pytest.mark.parametrize(("opening", "closing", "end"), [("(", ")", ""), ("not ", "", ""), ("abs(", ")", " < 1")])
def test_depth_capacity(opening: str, closing: str, end: str) -> None:
    depth = capacities.MAX_CONDITION_DEPTH
    parse_condition(opening * depth + "x" + closing * depth + end)
    with pytest.raises(CapacityError, match=r"nested too deeply at column .*at most 32 levels .*MAX_CONDITION_DEPTH"):
        parse_condition(opening * (depth + 1) + "x" + closing * (depth + 1))


@pytest.mark.parametrize("text", ["(" * 2000 + "x" + ")" * 2000, "not " * 1000 + "x", "(" * 2000, "(not " * 800])
def test_a_deep_nest_is_refused_after_a_few_levels(text: str) -> None:
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_name in ("condition", "negation", "inside_parentheses")

    with pytest.raises(CapacityError, match=r"nested too deeply at column .*at most 32 levels of 'not' and '\('"):
        sys.setprofile(count)
        try:
            parse_condition(text)
        finally:
            sys.setprofile(None)
    assert calls < 10 * capacities.MAX_CONDITION_DEPTH, "it stops there, however long the text is"


def test_capacity_of_numbers() -> None:
    parse_condition("x - (y - (z - x)) - (y - z) < 1")
    for text, needed in (("x - (y - (z - (x - (y - 1)))) < z", 6), ("x < abs(x - (y - (z - x)))", 5)):
        with pytest.raises(CapacityError, match=rf"too many numbers at a time; expected at most 4 .*; got {needed}"):
            parse_condition(text)


def test_long_chains_are_not_deep() -> None:
    parse_condition("x" + " + x" * 1000 + " < 1")
    tree = parse_condition(" and ".join(["(x)"] * 400))
    assert isinstance(tree, And)
    assert len(tree.operands) == 400


def test_name_capacity() -> None:
    parse_condition("x" * 160)
    with pytest.raises(CapacityError, match=r"the name 'xxx.*' is too long; expected at most 160 characters"):
        parse_condition("x" * 161)


def test_client_side_needs_no_compiler() -> None:
    """The parser and the definitions must not pull Numba into every client."""
    code = (
        "import sys; import robot_rt_control.program.file, robot_rt_control.definitions.parameters; "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
