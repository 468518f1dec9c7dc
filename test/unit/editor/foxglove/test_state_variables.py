"""State variables as JSON."""

from __future__ import annotations

import json
import math

from robot_rt_control.editor.foxglove.state_variables import StateVariables, schema

NAMES = ["tick", "arm.position[0]", "arm.position[1]", "arm.tool.x", "s1/up.progress", "x", "x.y", "v[2]"]


def test_values_stand_where_their_names_say() -> None:
    variables = StateVariables()
    assert variables.message(7, [1.0]) is None, "their names have not come"
    variables.take_names(7, NAMES)
    found = variables.message(7, [5.0, 0.25, math.nan, 0.5, math.inf, 1.0, 2.0, 3.0])
    assert found is not None
    assert json.loads(found) == {
        "tick": 5.0, "arm": {"position": [0.25, None], "tool": {"x": 0.5}}, "s1/up": {"progress": None},
        "x": {"value": 1.0, "y": 2.0}, "v": [None, None, 3.0],
    }  # fmt: skip


def test_values_of_other_names_are_left_out() -> None:
    variables = StateVariables()
    variables.take_names(7, ["a", "b"])
    assert variables.message(8, [1.0, 2.0]) is None and variables.message(7, [1.0]) is None


def test_the_schema_is_one_of_an_object() -> None:
    assert json.loads(schema())["type"] == "object"
