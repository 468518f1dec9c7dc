"""Gains from a linearization, on a ball that pushes a slider: what they lead back, and who has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise import feedback as its
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.solve.planner import plan as solve
from robot_rt_control.planning.solve.verified import led
from robot_rt_control.planning.task import PairGroup, Task

CONFIG = Path(__file__).parents[4] / "config"
SETTINGS = Settings(threads=1)
SLIDE = Task(
    workcell=CONFIG / "base_push_smooth.yaml",
    body="box",
    target=Pose(position=(0.85, 0.0, 0.06)),
    pairs=(PairGroup(robot="base.base_link", faces=("back",)),),
    time=2.0,
    steps=20,
)
"""A holonomic base pushes a box by 20 cm."""


@pytest.fixture(scope="module")
def push() -> Plan:
    result = solve(SLIDE, SETTINGS)
    assert result.plan is not None
    return result.plan


def test_V33_in_contact_the_tool_is_led_so_that_the_body_comes_back(push: Plan) -> None:
    found = led(push, SLIDE, SETTINGS).feedback
    assert found is not None
    np.testing.assert_allclose(found.lead[:, 0, :2], np.tile([1.0, 0.0], (21, 1)), atol=1e-3)
    np.testing.assert_allclose(found.lead[:, 1, :2], np.tile([0.0, 1.0], (21, 1)), atol=1e-3)
    # Before it touches, a body that is aside draws the base to the same side: it pushes where it is.
    assert found.gains[0, 1, 5] < 0.0 < found.gains[0, 1, 1] and found.gains[0, 1, 3] > 0.0


def test_V35_bounds_shrink_with_the_room_that_limits_leave_and_without_any_there_is_none(
    push: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = led(push, SLIDE, SETTINGS).feedback
    assert wide is not None
    asked: list[Any] = []

    def tight(curve: Any, limits: Any, lead: Any, step: float, bounds: Any) -> str:
        asked.append(bounds)
        return "" if bounds.acceleration < 0.3 else "joint"

    monkeypatch.setattr(its, "exceeded", tight)
    small = led(push, SLIDE, SETTINGS).feedback
    assert small is not None and small.bounds[2] < 0.3 <= asked[-2].acceleration
    monkeypatch.setattr(its, "exceeded", lambda *_: "joint")
    assert led(push, SLIDE, SETTINGS).feedback is None


def test_V35_where_something_stands_beside_the_tool_is_not_moved_there(
    push: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def clear(problem: Any, about: Any, lead: Any, most: float) -> bool:
        asked.append(most)
        return most < 0.015

    monkeypatch.setattr(its, "_clear", clear)
    found = led(push, SLIDE, SETTINGS).feedback
    assert found is not None and found.bounds[0] == 0.01 and asked == [0.03, 0.02, 0.01]


def test_V33_coordinates_of_the_target_that_are_free_are_not_led(push: Plan) -> None:
    free = replace(SLIDE, free=frozenset({"y", "rz"}))
    found = led(push, free, SETTINGS).feedback
    assert found is not None and np.abs(found.gains[:, 1, 5:]).max() < 1e-6


def test_V33_plans_of_several_parts_have_no_feedback(push: Plan) -> None:
    both = replace(push, header={**push.header, "joints": ["a.x", "b.y", "b.z"]})
    assert led(both, SLIDE, SETTINGS).feedback is None


def test_V33_long_control_steps_have_no_feedback(push: Plan) -> None:
    long = replace(push, header={**push.header, "time": 4.0})
    assert led(long, SLIDE, SETTINGS).feedback is None
