"""Parameters and roles that a program declares."""

from __future__ import annotations

from typing import Any

import pytest

from robot_rt_control.definitions.action_type import Parameter
from robot_rt_control.definitions.definitions import ParameterValue
from robot_rt_control.program.declarations import (
    Role,
    check_declaration,
    parts_of,
    samples_of,
    values_of,
)
from robot_rt_control.vocabulary.errors import DefinitionError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"type": "flaot"}, "parameter 'p': type; expected one of the known names; did you mean 'float'; got 'flaot'"),
        ({"length": 0}, "parameter 'p': length; expected 1 to 1024, or any; got 0"),
        ({"length": "dof"}, "parameter 'p': length; expected 1 to 1024, or any; got 'dof'"),
        ({"type": "text", "length": 2}, "parameter 'p': length; expected 1 for a text; got 2"),
        (
            {"type": "bool", "minimum": 0.0},
            "parameter 'p': minimum and maximum; expected for numbers only; got type bool",
        ),
        ({"choices": ("a",)}, "parameter 'p': choices; expected for texts only; got type float"),
        ({"minimum": 2.0, "maximum": 1.0}, "parameter 'p': minimum; expected at most the maximum of 1; got 2"),
        (
            {"default": 3.0, "maximum": 1.0},
            "program: default of parameter 'p': out of range; expected at most 1; got 3.0",
        ),
        ({"default": "x"}, "program: default of parameter 'p': wrong type; expected a number; got 'x'"),
        ({"name": "1p"}, "name of a parameter is not valid"),
    ],
)
def test_declarations_that_contradict_themselves(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError) as error:
        check_declaration(Parameter(**{"name": "p", **given}))
    assert str(error.value).startswith(message)


DECLARED = (
    Parameter(name="speed", unit="m/s", default=0.1, minimum=0.0, maximum=1.0),
    Parameter(name="direction", length=3, default=(0.0, 0.0, -1.0)),
    Parameter(name="count", type="int"),
    Parameter(name="mode", type="text", choices=("soft", "hard")),
    Parameter(name="path", length="any", maximum=-2.0),
    Parameter(name="on", type="bool"),
)


def test_values_are_checked_and_defaults_filled_in() -> None:
    given: dict[str, Any] = {"count": (2.0,), "mode": "hard", "path": (-3.0, -4.0), "on": 1, "speed": 0.5}
    values = values_of(DECLARED, [ParameterValue(name=n, value=v) for n, v in given.items()], of="program 'p'")
    assert {name: value.value for name, value in values.items()} == {
        "speed": 0.5,
        "direction": (0.0, 0.0, -1.0),
        "count": 2,
        "mode": "hard",
        "path": (-3.0, -4.0),
        "on": True,
    }
    assert values["speed"].unit == "m/s" and not values["speed"].sampled
    with pytest.raises(DefinitionError, match="program 'p': parameter 'count' is missing; expected a whole number"):
        values_of(DECLARED, [], of="program 'p'")


def test_samples_have_the_declared_types_and_ranges() -> None:
    samples = samples_of(DECLARED)
    given = [ParameterValue(name=n, value=v.value) for n, v in samples.items()]
    checked = values_of(DECLARED, given, of="program")  # a sample is a valid value
    assert {n: v.value for n, v in checked.items()} == {n: v.value for n, v in samples.items()}
    assert {n for n, v in samples.items() if v.sampled} == {"count", "mode", "path", "on"}


def test_roles() -> None:
    roles = [Role(name="robot", kinds=("arm",)), Role(name="eye", default="rangefinder")]
    assert parts_of(roles, {"robot": "left"}, of="p") == {"robot": "left", "eye": "rangefinder"}
    assert parts_of(roles, ["robot=left", "eye=other"], of="p") == {"robot": "left", "eye": "other"}
    with pytest.raises(
        DefinitionError, match="unknown kind of part; expected one of the known names; did you mean 'arm'"
    ):
        Role(name="robot", kinds=("amr",))
    with pytest.raises(DefinitionError, match="p: role 'robot' is given twice"):
        parts_of(roles, ["robot=a", "robot=b"], of="p")
    with pytest.raises(DefinitionError, match="p has no role 'x'.*This program names its parts itself: give none"):
        parts_of([], ["x=y"], of="p")
    with pytest.raises(DefinitionError, match="part of role 'robot' is not valid"):
        parts_of(roles, ["robot=no part"], of="p")
