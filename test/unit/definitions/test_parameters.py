"""Given parameter values against declared parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.definitions.parameters import check_parameters
from robot_rt_control.vocabulary.errors import DefinitionError

DECLARED = (
    Parameter(name="goal", length="dof", unit="rad"),
    Parameter(name="speed", default=0.5, minimum=0.0, maximum=1.0),
    Parameter(name="offset", length=3, unit="m", default=(0.0, 0.0, 1.0), minimum=-2.0),
    Parameter(name="count", type="int", default=3, maximum=10),
    Parameter(name="wait", type="bool", default=False),
    Parameter(name="mode", type="text", default="fast", choices=("fast", "slow")),
    Parameter(name="scale", length="dof", default=1.0),
    Parameter(name="points", length="any", optional=True),
)


def check(dof: int = 2, only_given: bool = False, units: dict[str, str] | None = None, **values: Any) -> dict[str, Any]:
    values = values if only_given else {"goal": [0.0] * dof, **values}
    given_values = [ParameterValue(name=n, value=v, unit=(units or {}).get(n, "")) for n, v in values.items()]
    return check_parameters("a", DECLARED, given_values, dof=dof, only_given=only_given)


def test_defaults() -> None:
    got = check(goal=[1, 2.5])
    assert list(got) == ["goal", "speed", "offset", "count", "wait", "mode", "scale"]
    np.testing.assert_array_equal(got["goal"], [1.0, 2.5])
    np.testing.assert_array_equal(got["offset"], [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(got["scale"], [1.0, 1.0])
    assert got["goal"].dtype == got["offset"].dtype == np.float64
    assert (got["speed"], got["count"], got["wait"], got["mode"]) == (0.5, 3, False, "fast")
    assert [type(got[n]) for n in ("speed", "count", "wait", "mode")] == [float, int, bool, str]


def test_only_given() -> None:
    assert check(only_given=True, speed=1) == {"speed": 1.0}


def test_takes_numbers_as_messages_carry_them() -> None:
    got = check(speed=(1.0,), count=(4.0,), wait=(1.0,), units={"goal": "rad"})
    assert (got["speed"], got["count"], got["wait"]) == (1.0, 4, True)
    assert [type(got[n]) for n in ("speed", "count", "wait")] == [float, int, bool]


def test_scalar_stands_for_a_list_of_one() -> None:
    np.testing.assert_array_equal(check(dof=1, goal=0.5)["goal"], [0.5])
    np.testing.assert_array_equal(check(points=0.5)["points"], [0.5])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"gaol": 1.0},
            "action 'a' has no parameter 'gaol'; expected one of the known names; did you mean 'goal'; got 'gaol'",
        ),
        (
            {"goal": [1.0]},
            "parameter 'goal': wrong length; expected 2 numbers (one for each joint) in rad; got 1 values",
        ),
        ({"goal": 1.0}, "parameter 'goal': wrong length; expected 2 numbers (one for each joint) in rad; got 1 values"),
        ({"offset": [1, 2]}, "parameter 'offset': wrong length; expected 3 numbers in m; got 2 values"),
        ({"speed": [0.1, 0.2]}, "parameter 'speed': wrong length; expected a number; got 2 values"),
        ({"goal": [0.0, math.nan]}, "parameter 'goal': element [1] is not finite; expected a finite number; got nan"),
        ({"speed": math.inf}, "parameter 'speed': is not finite; expected a finite number; got inf"),
        ({"speed": 10**400}, "parameter 'speed': is not finite; expected a finite number; got 1000"),
        ({"speed": 1.5}, "parameter 'speed': out of range; expected 0 to 1; got 1.5"),
        ({"offset": [0, -2.5, 0]}, "parameter 'offset': element [1] out of range; expected at least -2 m; got -2.5"),
        ({"count": 11}, "parameter 'count': out of range; expected at most 10; got 11"),
        ({"count": 1.5}, "parameter 'count': wrong type; expected a whole number; got 1.5"),
        ({"count": -(10**20)}, "parameter 'count': is too large; expected at most 9007199254740992 in size"),
        ({"count": True}, "parameter 'count': wrong type; expected a whole number; got true"),
        ({"speed": True}, "parameter 'speed': wrong type; expected a number; got true"),
        ({"speed": "0.5"}, "parameter 'speed': wrong type; expected a number; got '0.5'"),
        ({"wait": 2}, "parameter 'wait': wrong type; expected true or false; got 2"),
        ({"wait": math.nan}, "parameter 'wait': wrong type; expected true or false; got nan"),
        ({"mode": 1}, "parameter 'mode': wrong type; expected a text; got 1"),
        (
            {"mode": "fats"},
            "parameter 'mode': not a valid choice; expected one of the known names; did you mean 'fast'; got 'fats'",
        ),
    ],
)
def test_refuses(values: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        check(**values)
    assert message in str(caught.value)
    assert str(caught.value).startswith("action 'a'")


def test_refuses_wrong_units() -> None:
    with pytest.raises(DefinitionError) as caught:
        check(units={"goal": "deg"})
    assert str(caught.value) == (
        "action 'a': parameter 'goal': wrong unit; expected 'rad'; got 'deg'. "
        "Units are not converted: give the value in the declared unit"
    )
    with pytest.raises(DefinitionError, match="parameter 'speed': wrong unit; expected no unit; got 'm/s'"):
        check(speed=0.5, units={"speed": "m/s"})


def test_refuses_missing_and_double_values() -> None:
    with pytest.raises(
        DefinitionError,
        match=r"parameter 'goal' is missing; expected 7 numbers \(one for each joint\) in rad; got no value",
    ):
        check_parameters("a", DECLARED, [], dof=7)
    twice = [ParameterValue(name="speed", value=1)] * 2
    with pytest.raises(DefinitionError, match="action 'a': parameter 'speed' is given twice"):
        check_parameters("a", DECLARED, twice, dof=7, only_given=True)


def test_defaults_are_checked_too() -> None:
    declared = [Parameter(name="p", default=2.0, maximum=1.0)]
    with pytest.raises(DefinitionError, match="default of parameter 'p': out of range; expected at most 1; got 2.0"):
        check_parameters("a", declared, [], dof=1)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=16))
def test_numbers_arrive_unchanged(values: list[float]) -> None:
    declared = [Parameter(name="p", length="dof")]
    got = check_parameters("a", declared, [ParameterValue(name="p", value=tuple(values))], dof=len(values))["p"]
    assert isinstance(got, np.ndarray)
    assert got.tolist() == values


@given(st.floats(), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_what_is_accepted_is_finite_and_in_range(value: float, low: float, high: float) -> None:
    declared = [Parameter(name="p", minimum=low, maximum=high)]
    inside = math.isfinite(value) and low <= value <= high
    try:
        got = check_parameters("a", declared, [ParameterValue(name="p", value=value)], dof=1)
    except DefinitionError:
        assert not inside
    else:
        assert inside
        assert got == {"p": value}


def test_joint_units_are_those_of_the_parts_joints():
    position = Parameter(name="position", length="dof", unit="joint")
    declared = [position, Parameter(name="speed", unit="joint/s", default=0.1)]

    def check(unit: str, joint_unit: str) -> object:
        given = [ParameterValue(name="position", value=(0.01, 0.02), unit=unit)]
        return check_parameters("grip", declared, given, dof=2, joint_unit=joint_unit)

    assert check("rad", "rad") and check("m", "m") and check("", "m")
    with pytest.raises(DefinitionError, match="wrong unit; expected 'm'; got 'rad'"):
        check("rad", "m")
