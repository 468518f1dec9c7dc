"""Values for parameters and parts for roles, put into conditions and values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_rt_control.conditions.grammar import parse_condition
from robot_rt_control.program import substitution
from robot_rt_control.program.expression import KnownParameter, evaluate_prefix, references
from robot_rt_control.program.substitution import Substitution, common_unit
from robot_rt_control.vocabulary.errors import DefinitionError

KNOWN = {
    "near": KnownParameter(value=0.3, unit="m"),
    "n": KnownParameter(value=-2),
    "flag": KnownParameter(value=False),
    "list": KnownParameter(value=(1.5, 2.5)),
    "mode": KnownParameter(value="soft"),
    "open": KnownParameter(value=1.0, sampled=True),
}
ROLES = {"eye": "rangefinder", "m": "left", "time": "clock"}


def made() -> Substitution:
    return Substitution(KNOWN, ROLES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eye.distance < $near", "rangefinder.distance < 0.3 m"),
        ("eye.distance < $near m", "rangefinder.distance < 0.3 m"),
        ("eye.distance<-$near", "rangefinder.distance<-0.3 m"),
        ("eye.distance < 2 * $near - 0.1 m and $flag", "rangefinder.distance < 0.5 m and false"),
        (
            "$near < eye.distance or eye.distance > ($near + 1)",
            "0.3 m < rangefinder.distance or rangefinder.distance > 1.3",
        ),
        ("x < $n", "x < -2"),
        ("x == $flag", "x == false"),
        ("x > $list[1]", "x > 2.5"),
        ("approx(eye.x, $near, 1e-3)", "approx(rangefinder.x, 0.3 m, 1e-3)"),
        ("is_unknown(eye.distance)", "is_unknown(rangefinder.distance)"),
        ("m.position[0] > 0.2 m", "left.position[0] > 0.2 m"),
        ("m > 0.2 m and m.age[1].x == 2", "m > 0.2 m and left.age[1].x == 2"),
        ("time > 3", "time > 3"),
        ("eyes.distance > 1 and robot.eye.distance > 2", "eyes.distance > 1 and robot.eye.distance > 2"),
        ("x - $near - 0.1 m < 1", "x - 0.3 m - 0.1 m < 1"),
        ("x - $n - $n * 2 < 1 + $n", "x - -2 - -4 < -1"),
        ("$n + 1 - abs(x +$n)-2 * $near < -$n", "-1 - abs(x +-2)-0.6 < 2"),
        ("(x) - ($n + 1) < norm(eye.v) + ($n - 1)", "(x) - -1 < norm(rangefinder.v) + -3"),
        ("(x > $near) and (not $flag)", "(x > 0.3 m) and (not false)"),
    ],
)
def test_conditions(text: str, expected: str) -> None:
    assert made().condition(text, "when") == expected
    parse_condition(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x < $nearr", "when: unknown parameter $nearr; expected one of the known names; did you mean 'near'"),
        ("x < $mode", "when: $mode cannot be used in a condition; expected a number or a boolean; got the text 'soft'"),
        (
            "x < $list",
            "when: $list cannot be used in a condition; expected a number or a boolean; an element is $name[0]",
        ),
        ("x < $", "when: 'x < $'; expected the name of a parameter after '$', as in x > $threshold; got '$'"),
        ("x < $$near", "expected the name of a parameter after '$'"),
    ],
)
def test_conditions_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(DefinitionError) as error:
        made().condition(text, "when")
    assert message in str(error.value)


def test_values() -> None:
    substitution = made()
    assert substitution.value("soft", "v").value == "soft"
    assert substitution.value("5 $$ a piece", "v").value == "5 $ a piece"
    assert substitution.value("$$", "v").value == "$"
    result = substitution.value("-$near", "v")
    assert (result.value, result.unit) == (-0.3, "m")
    assert substitution.used == {"near"}
    assert substitution.is_sampled(substitution.value("2 * $open", "v").references)
    assert not substitution.is_sampled(result.references)
    with pytest.raises(DefinitionError, match=r"v: '5 \$ a piece' cannot be computed"):
        substitution.value("5 $ a piece", "v")


def test_parts_and_variables() -> None:
    substitution = made()
    assert [substitution.part(name) for name in ("eye", "arm")] == ["rangefinder", "arm"]
    assert [substitution.variable(name) for name in ("eye.x[0]", "m", "arm.x")] == ["rangefinder.x[0]", "m", "arm.x"]
    assert substitution.used == {"eye"}


def test_the_unit_of_a_list() -> None:
    substitution = made()
    near, n, zero = (substitution.value(text, "v") for text in ("$near", "$n", "plain"))
    assert common_unit([zero, near, zero]) == "m"
    assert common_unit([near, n]) == ""
    assert common_unit([zero]) == ""


pieces = st.sampled_from(
    [
        "eye.distance",
        "m",
        "0.2 m",
        "-1e-3",
        "x[1].y",
        "<",
        ">=",
        "==",
        "and",
        "or",
        "not",
        "(",
        ")",
        "true",
        "approx",
        ",",
    ]
)


@settings(deadline=None)
@given(st.lists(pieces, max_size=12).map(" ".join))
def test_what_has_no_reference_stays_but_for_roles(text: str) -> None:
    assert made().condition(text, "when") == text.replace("eye.distance", "rangefinder.distance")
    assert Substitution(KNOWN, {}).condition(text, "when") == text


def test_a_long_sum_in_a_condition_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def count(text: str, position: int, *rest: Any, **options: Any) -> Any:
        calls.append(position)
        return evaluate_prefix(text, position, *rest, **options)

    monkeypatch.setattr(substitution, "evaluate_prefix", count)
    text = "1+" * 2000 + "1 m < eye.distance"
    assert Substitution({}, {"eye": "ahead"}).condition(text, "x") == "1+" * 2000 + "1 m < ahead.distance"
    assert calls == [0]


@pytest.mark.parametrize(
    ("value", "filled"), [(0.04, "elapsed > 0.1 s and true"), (0.0, "elapsed > 0.1 s and false")]
)
def test_a_condition_may_ask_for_a_parameter_alone(value: float, filled: str) -> None:
    stroke = KnownParameter(value=value, unit="m")
    assert Substitution({"stroke": stroke}, {}).condition("elapsed > 0.1 s and $stroke > 0.0", "when") == filled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, ${mode}!", "Hello, soft!"),
        ("${mode}${n}: ${near}, ${list}, ${list[1]}, ${flag} for $$5", "soft-2: 0.3, 1.5, 2.5, 2.5, false for $5"),
    ],
)
def test_P3_values_in_texts(text: str, expected: str) -> None:
    given = made()
    assert given.value(text, "say").value == expected
    assert given.used == references(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Hello, ${nobody}!", "say: unknown parameter [$]nobody"),
        ("Hello, ${n + 1}!", r"say: .*; expected a name between [$]{ and }; got '[$]{n [+] 1}'"),
        ("Hello, ${mode!", r"say: .*; expected a name between [$]{ and }; got '[$]{mode!'"),
        ("Hello, $mode!", "in a text, write [$]{name} for its value"),
    ],
)
def test_P3_texts_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        made().value(text, "say")
