"""From a condition's program back to a text that means the same."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.conditions.compiler import compile_condition
from robot_rt_control.conditions.decompiler import condition_text
from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.conditions.types import VariableRef

REFS = {"a": VariableRef(8, "float", ""), "b": VariableRef(16, "float", ""), "v": VariableRef(24, "float", "", 3)}
NAMES, VECTORS = {8: "a", 16: "b"}, {24: "v"}


def again(text: str) -> str:
    return condition_text(
        compile_condition(text, REFS.__getitem__).instructions, NAMES.__getitem__, VECTORS.__getitem__
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a < 0.3", "a < 0.3"),
        ("0.3 < a", "a > 0.3"),
        ("a <= b", "a <= b"),
        ("not a > 1", "a <= 1"),
        ("approx(a, b, 0.1)", "approx(a, b, 0.1)"),
        ("not approx(a, 2, 0.1)", "not approx(a, 2, 0.1)"),
        ("is_unknown(a)", "is_unknown(a)"),
        ("a < 1 and b < 2 or a > 3", "a < 1 and b < 2 or a > 3"),
        ("(a < 1 or b < 2) and a > 0", "(a < 1 or b < 2) and a > 0"),
        ("abs(a - b) < 0.5", "abs(a - b) < 0.5"),
        ("a + b - 1 >= 2", "a + b - 1 >= 2"),
        ("norm(v) > 4", "norm(v) > 4"),
        ("true", "true"),
        ("false", "false"),
    ],
)
def test_a_text_comes_back(text: str, wanted: str) -> None:
    assert again(text).replace("(a + b)", "a + b") == wanted


LEAVES = st.sampled_from(
    ["a < 1", "b >= 0", "a > b", "is_unknown(a)", "approx(a, b, 0.5)", "abs(a - b) < 2", "a + b > 1"]
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda x: f"not ({x})", inner),
        st.builds(lambda x, y, join: f"({x}) {join} ({y})", inner, inner, st.sampled_from(["and", "or"])),
    ),
    max_leaves=6,
)
VALUES = st.sampled_from([float("nan"), -1.0, 0.0, 0.5, 1.0, 3.0])


@given(text=CONDITIONS, a=VALUES, b=VALUES)
def test_the_text_that_comes_back_means_the_same(text: str, a: float, b: float) -> None:
    values: Mapping[str, float] = {"a": a, "b": b}
    found = [evaluate_ast(parse_condition(each), values) for each in (text, again(text))]
    assert found[0] == found[1]


def test_what_is_no_condition_is_refused() -> None:
    made = np.array(compile_condition("a < 1 and b < 2", REFS.__getitem__).instructions)[1:]
    with pytest.raises(IndexError):
        condition_text(made, NAMES.__getitem__, VECTORS.__getitem__)
