"""Types and units: what a message says when they do not fit."""

from __future__ import annotations

import pytest

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import variables
from robot_rt_control.conditions.types import ConditionTypes, VariableRef
from robot_rt_control.vocabulary.errors import ConditionError, DefinitionError

REFS = {
    "d": VariableRef(0, "float", "m"),
    "q": VariableRef(8, "float", "rad"),
    "x": VariableRef(16, "float"),
    "n": VariableRef(24, "int"),
    "k": VariableRef(32, "int", "ticks"),
    "b": VariableRef(40, "bool"),
    "c": VariableRef(48, "bool"),
    "v": VariableRef(56, "float", "m", 3),
    "w": VariableRef(80, "bool", "", 2),
}


def check(text: str) -> None:
    tree = parse_condition(text)
    ConditionTypes(text, "condition", {v.name: REFS[v.name] for v in variables(tree)}).check(tree)


@pytest.mark.parametrize(
    "text",
    [
        "b",
        "not b and c",
        "b == true",
        "false != b",
        "b == c",
        "n == 3",
        "3 != n",
        "n == k",
        "n < 2.5",
        "n >= k",
        "n < x",
        "x < 1 and x <= 1 and x > 1 and x >= 1",
        "approx(x, 1, 0.1)",
        "approx(1, x, 0.1)",
        "approx(d, x, 0.1 m)",
        "d < 0.2",
        "d < 0.2 m",
        "0.2 m < d",
        "d < x",
        "approx(d, 0.2 m, 0.01 m)",
        "k > 5 ticks",
        "is_unknown(b) or is_unknown(n) or is_unknown(d)",
        "d + 0.1 m < 0.2",
        "d - x + 0.1 m < 0.2 m",
        "abs(d - 0.1) < 0.2 m",
        "norm(v) < 0.2 m and norm(v) - d > x",
        "n + 1 == n - 2",
        "abs(n) != 3",
        "approx(abs(d), 0.1 + 0.2, 0.1 m)",
    ],
)
def test_accepts(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (
            "b < 1",
            1,
            "'<' cannot compare a boolean; expected '==' or '!=' for a boolean; got '<' with the bool variable 'b'",
        ),
        ("1 >= b", 6, "'>=' cannot compare a boolean"),
        ("true < b", 1, "'<' cannot compare a boolean; expected '==' or '!=' for a boolean; got '<' with 'true'"),
        (
            "b == 1",
            6,
            "cannot compare a boolean with a number; expected true, false or a bool variable "
            "with the bool variable 'b'; got '1'",
        ),
        ("n == true", 1, "expected true, false or a bool variable with 'true'; got the int variable 'n'"),
        ("x == b", 1, "got the float variable 'x'"),
        (
            "x == 0.5",
            1,
            "'==' cannot compare a float; expected 'approx', '<', '<=', '>' or '>=' for a float; "
            "got '==' with the float variable 'x'. Write 'approx(x, 0.5, tolerance)'",
        ),
        ("0 != x", 6, "'!=' cannot compare a float"),
        ("0.5 == x", 1, "Write 'approx(x, 0.5, tolerance)'"),
        ("x != d", 1, "Write 'not approx(x, d, tolerance)'"),
        ("n == x", 6, "got '==' with the float variable 'x'. Write 'approx(x, n, tolerance)'"),
        ("n == 2.5", 6, "'==' compares integers; expected a whole number with the int variable 'n'; got '2.5'"),
        (
            "n",
            1,
            "only a boolean is a condition by itself; expected a comparison, or a bool variable; "
            "got the int variable 'n'. Write 'n != 0'",
        ),
        ("b and x", 7, "got the float variable 'x'. Write 'x > 0'"),
        ("not (c or n)", 11, "got the int variable 'n'"),
        (
            "approx(n, 3, 1)",
            8,
            "'approx' compares floats; expected a float variable; got the int variable 'n'. Write '=='",
        ),
        ("approx(x, b, 1)", 11, "got the bool variable 'b'"),
        (
            "q > 10 deg",
            5,
            "units do not agree; expected rad, as the float variable 'q' has; got '10 deg'. "
            "Give the number in rad; units are not converted",
        ),
        ("10 deg < q", 1, "Give the number in rad"),
        (
            "d < q",
            5,
            "units do not agree; expected m, as the float variable 'd' has; got the float variable 'q' in rad",
        ),
        ("x < 1 m", 5, "expected no unit, as the float variable 'x' has none; got '1 m'. Leave the unit out"),
        ("approx(d, 200 mm, 1)", 11, "expected m, as the float variable 'd' has; got '200 mm'"),
        ("approx(d, 0.2, 1 mm)", 16, "expected m, as the float variable 'd' has; got '1 mm'"),
        ("d + q < 1", 5, "expected m, as the float variable 'd' has; got the float variable 'q' in rad"),
        ("d + 10 mm < 1", 5, "expected m, as the float variable 'd' has; got '10 mm'. Give the number in m"),
        ("x - 0.1 m < 1", 5, "expected no unit, as the float variable 'x' has none; got '0.1 m'. Leave the unit out"),
        ("d + x < 1 rad", 9, "expected m, as 'd + x' has; got '1 rad'"),
        ("abs(d) > q", 10, "expected m, as 'abs(d)' has; got the float variable 'q' in rad"),
        ("x + b < 1", 5, "only numbers are computed with; expected a number; got the bool variable 'b'"),
        ("abs(b)", 1, "a number is not a condition"),
        ("abs(b) < 1", 5, "only numbers are computed with; expected a number; got the bool variable 'b'"),
        (
            "x + 1 == 2",
            1,
            "'==' cannot compare a float; expected 'approx', '<', '<=', '>' or '>=' for a float; got '==",
        ),
        ("approx(n + 1, 2, 1)", 8, "'approx' compares floats; expected a float variable; got 'n + 1'"),
        ("v < 1", 1, "'v' is a vector of 3 elements; expected one of its elements, or norm(v); got 'v'"),
        ("w", 1, "'w' is a vector of 2 elements"),
        ("is_unknown(v)", 12, "'v' is a vector of 3 elements"),
        ("abs(v) < 1", 5, "'v' is a vector of 3 elements"),
        ("norm(d) < 1", 6, "'norm' takes a vector of numbers; expected a vector; got the float variable 'd'"),
        ("norm(w) < 1", 6, "'norm' takes a vector of numbers; expected a vector; got a vector of booleans, 'w'"),
    ],
)
def test_refuses_and_points_at_the_operand(text: str, column: int, message: str) -> None:
    with pytest.raises(ConditionError) as caught:
        check(text)
    assert message in str(caught.value)
    assert caught.value.position == column - 1


def test_variable_reference() -> None:
    with pytest.raises(DefinitionError, match="type of a state variable; expected float or int or bool; got 'double'"):
        VariableRef(0, "double")
    for offset in (-8, 4, 2**31):
        with pytest.raises(DefinitionError, match=f"expected a multiple of 8 from 0 to 2147483640; got {offset}"):
            VariableRef(offset)
