"""Trees and their text."""

from __future__ import annotations

import dataclasses

import pytest

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.tree import NEGATED, Number, Variable, variables


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("((x))<(3)", "x < 3"),
        ("(x and y) or z", "x and y or z"),
        ("(x or y) and z", "(x or y) and z"),
        ("x and (y and z)", "x and (y and z)"),
        ("not (x and y)", "not (x and y)"),
        ("not (x < 1)", "not x < 1"),
        ("x<1e-3 m", "x < 0.001 m"),
        ("approx( x,1,.5 )", "approx(x, 1, 0.5)"),
        ("is_unknown( x )or true", "is_unknown(x) or true"),
        ("(x+1)-(y - -2m)<abs( norm( v ) )", "(x + 1) - (y - -2 m) < abs(norm(v))"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    assert str(parse_condition(text)) == canonical


def test_variables_in_the_order_of_the_text_each_once() -> None:
    tree = parse_condition("b < a and not is_unknown(c) or approx(a, d, 1) and (b > e.f[2] or true)")
    assert [v.name for v in variables(tree)] == ["b", "a", "c", "d", "e.f[2]"]


def test_positions_are_not_part_of_a_tree() -> None:
    assert Variable("x", 3) == Variable("x", 7)
    assert hash(Number(1.0, "m", 3)) == hash(Number(1.0, "m", 0))


def test_trees_are_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse_condition("x").name = "y"  # type: ignore[misc, union-attr]  # that is what is tested


def test_negation_is_its_own_inverse() -> None:
    assert all(NEGATED[NEGATED[symbol]] == symbol for symbol in NEGATED)
