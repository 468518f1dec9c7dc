from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.client import norm, variable
from robot_rt_control.conditions.evaluation import evaluate_ast
from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.vocabulary.errors import ConditionError

a, b, ready = variable("arm.position[0]"), variable("rangefinder.distance"), variable("move.is_done")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (a < 0.2, "arm.position[0] < 0.2"),
        (a >= b, "arm.position[0] >= rangefinder.distance"),
        (ready == True, "move.is_done == true"),  # noqa: E712  # the expression under test
        (~ready, "not (move.is_done)"),
        (ready & (b > 1), "(move.is_done) and (rangefinder.distance > 1)"),
        (b > a + 0.1, "rangefinder.distance > arm.position[0] + 0.1"),
        (1 - a > b - (a - 0.5), "1 - arm.position[0] > rangefinder.distance - (arm.position[0] - 0.5)"),
        (abs(a - b) + 1 >= 2 + a, "abs(arm.position[0] - rangefinder.distance) + 1 >= 2 + arm.position[0]"),
        (norm("wrist.force") > 5, "norm(wrist.force) > 5"),
        (abs(a).approx(norm(variable("v")) + a, 0.1), f"approx(abs({a}), norm(v) + {a}, 0.1)"),
        (a.approx(0.5, 0.01) | b.is_unknown(), f"(approx({a}, 0.5, 0.01)) or (is_unknown({b}))"),
    ],
)
def test_expressions_become_the_text_of_the_grammar(expression, text):
    assert str(expression) == text
    parse_condition(text)


@given(
    x=st.floats(-2, 2), y=st.floats(-2, 2), done=st.booleans(), low=st.floats(-2, 2), high=st.floats(-2, 2)
)
def test_an_expression_means_what_python_means(x, y, done, low, high):
    expression = (a < low) & (b > high) | ~(ready | (a >= b)) | (abs(a - (b - low)) > 1 - b + high)
    expected = (x < low and y > high) or not (done or x >= y) or abs(x - (y - low)) > 1 - y + high
    values = {"arm.position[0]": x, "rangefinder.distance": y, "move.is_done": float(done)}
    assert evaluate_ast(parse_condition(str(expression)), values) == expected


def test_the_words_and_or_not_are_refused_instead_of_silently_wrong():
    with pytest.raises(ConditionError, match="has no truth value here.*Combine conditions with & | ~"):
        _ = (a < 1) and (b < 1)
    with pytest.raises(ConditionError, match="has no truth value"):
        _ = 0 < a < 1


def test_comparing_with_something_else_names_it():
    with pytest.raises(ConditionError, match="expected a number or a variable; got 'text'"):
        _ = a == "text"
