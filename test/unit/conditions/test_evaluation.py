"""The reference meaning of conditions."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.conditions.evaluation import Values, evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition

NAN = math.nan
VALUES: Values = {"t": 1.0, "f": 0.0, "u": NAN, "x": 0.5, "n": 3.0, "big": math.inf, "v": [3.0, -4.0], "w": [3.0, NAN]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("t and t", True),
        ("t and f", False),
        ("t and u", None),
        ("f and u", False),
        ("u and u", None),
        ("t or u", True),
        ("f or u", None),
        ("f or f", False),
        ("not u", None),
        ("not f", True),
        ("is_unknown(u)", True),
        ("is_unknown(x)", False),
        ("u < 1", None),
        ("1 > u", None),
        ("u == u", None),
        ("u != t", None),
        ("approx(u, 1, 1)", None),
        ("approx(1, u, 1)", None),
        ("approx(x, 0.6, 0.1)", True),
        ("approx(x, 0.7, 0.1)", False),
        ("approx(big, big, 1)", False),
        ("x < big", True),
        ("x < 0.5", False),
        ("x <= 0.5", True),
        ("0.5 >= x", True),
        ("n == 3", True),
        ("n != 3", False),
        ("t == true", True),
        ("f != true", True),
        ("true and not false", True),
        ("x + 1 < 1.6", True),
        ("1 - x - 0.25 == x - 0.25", True),
        ("1 - (x - 0.25) < 0.75", False),
        ("abs(x - 1) <= 0.5", True),
        ("norm(v) == 5", True),
        ("norm(w) > 1", None),
        ("x + u < 1", None),
        ("abs(u) < 1", None),
        ("big + 1 > 1", True),
        ("big - big < 1", None),
        ("approx(big - x, big, 1)", False),
    ],
)
def test_value(text: str, value: bool | None) -> None:
    assert evaluate_ast(parse_condition(text), VALUES) is value


def test_missing_value() -> None:
    with pytest.raises(KeyError, match="y"):
        evaluate_ast(parse_condition("f and y"), VALUES)
