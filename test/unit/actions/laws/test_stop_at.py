"""The law stop_at, on one degree of freedom."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.actions.laws.stop_at import StopAt
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind


@pytest.mark.parametrize(
    ("direction", "wanted", "expected"),
    [
        ("forward", 0.3, 0.0),
        ("forward", -0.3, -0.3),
        ("backward", -0.3, 0.0),
        ("backward", 0.3, 0.3),
        ("forward", math.nan, 0.0),
        ("backward", math.nan, 0.0),
    ],
)
def test_only_the_way_back_is_free(direction: str, wanted: float, expected: float) -> None:
    axis = FakePart(kind=PartKind.AXIS, dof=1)
    axis.live.commanded_velocity[0] = 0.4
    h = ActionHarness(StopAt, parts={"axis": axis}, parameters={"direction": direction})
    axis.live.inputs[0] = wanted
    h.start()
    h.step(600)
    assert axis.live.commanded_velocity[0] == pytest.approx(expected, abs=1e-9)
