"""The limits of the monitors, by default and from the workcell file, and which are off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robot_rt_control.memory.layout import limits_dtype
from robot_rt_control.model.workcell.monitors import resolve_monitors
from robot_rt_control.model.workcell.workcell_schema import Joint, Monitors
from robot_rt_control.text.document import Document, Place
from robot_rt_control.vocabulary.enums import PartKind

JOINTS = (
    Joint(name="slide", type="prismatic", position_lower=-1.0, position_upper=1.0, velocity=0.5),
    Joint(name="turn", type="continuous", velocity=2.0),
)


@pytest.fixture
def place(tmp_path: Any) -> Place:
    return Document("a: 1", str(tmp_path / "cell.yaml"), max_bytes=100).root / "monitors"


def resolved(place: Place, given: dict[str, Any], kind: PartKind = PartKind.BASE, **limits: float) -> Any:
    record: Any = np.zeros(1, limits_dtype)[0]
    record.velocity[:2] = (0.5, 2.0)
    record.position_tolerance, record.velocity_tolerance = 0.005, 0.5
    for name, value in limits.items():
        record[name] = value
    off = resolve_monitors(record, JOINTS, kind, Monitors.model_validate(given), 0.001, place)
    return record, off


def test_all_are_on_by_default(place: Place) -> None:
    record, off = resolved(place, {})
    assert off == ()
    assert_allclose(record.following[:2], [0.005, 0.05])
    assert_allclose(record.frozen_motion[:2], [0.002, 0.02])
    assert_allclose(record.jump[:2], [0.01, 0.1])
    assert_allclose(record.jump_speed[:2], [1.0, 4.0])
    assert record.following_lag == pytest.approx(0.11)
    assert (int(record.following_ticks), int(record.frozen_ticks), int(record.stall_ticks)) == (100, 100, 1000)
    assert 0.0 < record.pace_kept < 1.0 and record.following_kept == pytest.approx(0.999)


def test_the_file_gives_numbers_for_all_joints_or_for_each(place: Place) -> None:
    following = {"position": [0.1, 0.2], "lag": 0, "time": 0.05}
    record, _ = resolved(place, {"following_error": following, "frozen_feedback": {"motion": 0.3}, "position_jump": 1})
    assert_allclose(record.following[:2], [0.1, 0.2])
    assert record.following_lag == record.pace_kept == 0.0 and record.following_ticks == 50
    assert_allclose(record.frozen_motion[:2], 0.3)
    assert_allclose(record.jump[:2], 1.0)


def test_a_gripper_is_watched_only_if_the_file_gives_it(place: Place) -> None:
    record, off = resolved(place, {}, PartKind.GRIPPER)
    assert not record.following.any() and not record.frozen_motion.any() and record.jump[:2].all()
    assert [words.split(":")[0] for words in off] == ["following_error", "frozen_feedback"]
    record, off = resolved(place, {"following_error": {}, "frozen_feedback": {}}, PartKind.GRIPPER)
    assert record.following[:2].all() and record.frozen_motion[:2].all() and off == ()


@pytest.mark.parametrize("tolerance", [100.0, math.inf])
def test_tolerances_that_see_nothing_are_named(place: Place, tolerance: float) -> None:
    _, off = resolved(place, {"position_jump": False}, position_tolerance=tolerance, velocity_tolerance=tolerance)
    assert off == (
        "position_jump: monitors.position_jump is false",
        f"position_limit: system_limits.position_tolerance is {tolerance:g} m/rad",
        f"velocity_limit: system_limits.velocity_tolerance is {tolerance:g}",
    )
