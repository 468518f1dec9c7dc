"""Arithmetic over a program's parameters."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.program.expression import KnownParameter, evaluate, evaluate_prefix
from robot_rt_control.vocabulary.errors import DefinitionError

KNOWN = {
    "a": KnownParameter(value=0.5, unit="m"),
    "n": KnownParameter(value=3),
    "v": KnownParameter(value=(1.0, 2.0, -4.0), unit="m/s"),
    "flag": KnownParameter(value=True),
    "mode": KnownParameter(value="soft"),
}


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("$a", 0.5, "m"),
        ("-$a", -0.5, "m"),
        ("+ $a", 0.5, "m"),
        ("--$a", 0.5, "m"),
        ("$n", 3, ""),
        ("$n + 1", 4, ""),
        ("$n / 2", 1.5, ""),
        ("1 - 2 - $n", -4, ""),
        ("8 / 2 / $n * 3", 4.0, ""),
        ("2 * ($a + 0.25) - 1e-1", 1.4, ""),
        ("-$a * -2", 1.0, ""),
        ("$v", (1.0, 2.0, -4.0), "m/s"),
        ("-$v", (-1.0, -2.0, 4.0), "m/s"),
        ("$v[2]", -4.0, "m/s"),
        ("2 * $v", (2.0, 4.0, -8.0), ""),
        ("$v / 2 + $v", (1.5, 3.0, -6.0), ""),
        ("$flag", True, ""),
        ("$mode", "soft", ""),
    ],
)
def test_values_and_units(text: str, value: object, unit: str) -> None:
    result = evaluate(text, KNOWN, "x")
    assert result.value == pytest.approx(value) if isinstance(value, float) else result.value == value
    assert type(result.value) is type(value)
    assert result.unit == unit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$b", "x: unknown parameter $b; expected one of: a, flag, mode, n, v; got $b"),
        ("$a $n", "x: '$a $n' cannot be computed; expected an operator + - * /, or the end; got '$n'. A dollar begins"),
        ("($a", "x: '($a' cannot be computed; expected an operator + - * /, or ')'; got the end"),
        ("$a *", "x: '$a *' cannot be computed; expected a number, a parameter such as $speed, or '('; got the end"),
        ("$", "x: '$' cannot be computed; expected the name of a parameter after '$'; got '$'"),
        ("${a}", "expected the name of a parameter after '$'; got '${a}'"),
        ("$a[0]", "x: $a[0]; expected an element of $a; got a parameter of one value, 0.5"),
        ("$v[3]", "x: $v[3]; expected an element of $v; got a parameter of 3 values, from [0]"),
        ("$flag + 1", "x: '+' computes with numbers; expected a number; got $flag = true"),
        ("-$mode", "x: '-' computes with numbers; expected a number; got $mode = 'soft'"),
        ("$a / 0", "x: 0.5 / 0; expected a finite result; got a division by zero or an overflow"),
        ("1e308 * 10 * $a", "expected a finite result"),
        ("($v + $v) * $w", "x: unknown parameter $w"),
        (
            "a + $a",
            "x: 'a + $a' cannot be computed; expected a number, a parameter such as $speed, or '('; got 'a + $a'",
        ),
        ("(" * 40 + "$a" + ")" * 40, "x: nested too deeply; expected at most 32 levels"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(DefinitionError) as error:
        evaluate(text, KNOWN, "x")
    assert message in str(error.value)


def test_lists_of_different_lengths() -> None:
    known = KNOWN | {"w": KnownParameter(value=(1.0, 2.0))}
    with pytest.raises(DefinitionError, match=r"x: '\+' between lists; expected lists of the same length"):
        evaluate("$v + $w", known, "x")


@pytest.mark.parametrize(
    ("text", "position", "end", "value"),
    [
        ("x > $a and y", 4, 6, 0.5),
        ("x > 2 * $a and y", 4, 10, 1.0),
        ("x > $a - y", 4, 6, 0.5),
        ("x > ($a)", 4, 8, 0.5),
        ("x > 0.2 m", 4, 7, 0.2),
    ],
)
def test_the_longest_expression_from_a_position(text: str, position: int, end: int, value: float) -> None:
    found = evaluate_prefix(text, position, KNOWN, "x")
    assert found is not None
    assert (found[0].value, found[1]) == (value, end)


@pytest.mark.parametrize(("text", "position"), [("x > $a", 0), ("(x > $a)", 0), ("( $a, x)", 0), ("and", 0)])
def test_where_no_expression_begins(text: str, position: int) -> None:
    assert evaluate_prefix(text, position, KNOWN, "x") is None


numbers = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


@st.composite
def trees(draw: st.DrawFn, depth: int = 0) -> tuple[str, float]:
    """An expression's text, and its value by Python itself."""
    kind = draw(st.sampled_from("nrnr+-*/(~" if depth < 4 else "nr"))
    if kind == "n":
        number = abs(draw(numbers))
        return repr(number), number
    if kind == "r":
        name = draw(st.sampled_from(["a", "n"]))
        known: Any = KNOWN[name].value
        return f"${name}", float(known)
    left, x = draw(trees(depth + 1))
    if kind == "(":
        return f"({left})", x
    if kind == "~":
        return f"-({left})", -x
    right, y = draw(trees(depth + 1))
    result = {"+": x + y, "-": x - y, "*": x * y, "/": x / y if y else math.nan}[kind]
    return f"({left}) {kind} ({right})", result


@settings(deadline=None)
@given(trees())
def test_it_computes_as_python_does(tree: tuple[str, float]) -> None:
    text, value = tree
    if math.isfinite(value):
        try:
            found = evaluate(text, KNOWN, "x").value
        except DefinitionError as error:
            assert "finite" in str(error)
            return
        assert isinstance(found, float | int)
        assert found == pytest.approx(value)


@settings(deadline=None)
@given(st.text(alphabet="$an v[0]()+-*/.1e _", max_size=20))
def test_any_text_is_computed_or_refused(text: str) -> None:
    try:
        evaluate(text, KNOWN, "x")
    except DefinitionError as error:
        assert str(error).startswith("x: ")
    for position in range(len(text)):
        try:
            found = evaluate_prefix(text, position, KNOWN, "x")
        except DefinitionError as error:
            assert str(error).startswith("x: ")
        else:
            assert found is None or position < found[1] <= len(text)
