"""The document's applications, each from its task file: solved without virtual forces, with the same defaults, V6, V10;
and replayed in PyBullet through the real tick loop, V16."""

from __future__ import annotations

import functools
from dataclasses import replace as changed
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.planning.from_file import prepared
from robot_rt_control.planning.plan import Plan
from robot_rt_control.planning.planner import plan as solve
from robot_rt_control.planning.task_file import read_task
from robot_rt_control.testing.plan_replay import replay

pytestmark = pytest.mark.timeout(600)  # with an empty cache, the loop is compiled first
CONFIG = Path(__file__).parents[3] / "config"
_TOUCHING = 1e-3
"""[m] φ below this is contact: forces grow over the first millimetre."""
LEFT, RIGHT = "arm.left_finger cube.left", "arm.right_finger cube.right"


@functools.cache
def solved(name: str, **parameters: float) -> Plan:
    """The plan of a task of the package: without virtual forces within `accept`.

    Args:
        name: of the task, and after a blank of a workcell in place of its own.
    """
    name, _, cell = name.partition(" ")
    task, settings = prepared(name, parameters, workcell=CONFIG / f"{cell}.yaml" if cell else None)
    result = solve(task, changed(settings, threads=1))
    assert result.success and result.plan is not None and result.error is not None, result.message
    assert result.error.normalized <= 0.02 and result.error.orientation <= 0.05
    return result.plan


def touched(plan: Plan) -> set[str]:
    return {pair for pair, phi in zip(plan.header["pairs"], plan.distance.T, strict=True) if phi.min() < _TOUCHING}


@pytest.mark.parametrize("name", sorted(file.stem for file in (CONFIG / "tasks").glob("*.yaml")))
def test_V1_each_task_of_the_package_is_read(name: str) -> None:
    file = read_task(name)
    assert file.task.name == name and not file.unused


def test_V6_A_a_slider_is_pushed_in_one_control_step() -> None:
    assert touched(solved("push_slider")) == {"pusher.tip slider.back"}


@pytest.mark.long
@pytest.mark.parametrize("distance", [0.05, 0.1, 0.2])
def test_V6_B_an_arm_pushes_a_box_forward(distance: float) -> None:
    assert touched(solved("push_box", distance=distance)) == {"arm.peg box.back"}


@pytest.mark.long
@pytest.mark.parametrize("cell", ["base_push", "base_push_smooth"])
def test_V6_C_a_base_pushes_a_box_forward(cell: str) -> None:
    assert touched(solved(f"push_box_by_base {cell}")) == {"base.base_link box.back"}


@pytest.mark.long
def test_V6_D_a_humanoid_pushes_its_torso_up_with_both_hands() -> None:
    """Of 16 pairs the planner takes two; those of the legs are neither needed nor harmful."""
    plan = solved("move_torso")
    assert touched(plan) == {"left_arm.left_hand brick_1.top", "right_arm.right_hand brick_2.top"}
    assert plan.body_position[-1, 2] == pytest.approx(0.15, abs=0.003)


def test_V6_E_two_fingers_move_a_cube_and_hold_it_at_the_end() -> None:
    """Claim 10: one finger pushes, the other brakes, and both hold what has arrived."""
    plan = solved("pinch_cube")
    assert touched(plan) == {LEFT, RIGHT} and (plan.distance[-1] < _TOUCHING).all()
    first = int(np.argmax(plan.distance.min(axis=1) < _TOUCHING))
    assert plan.header["pairs"][int(np.argmin(plan.distance[first]))] == RIGHT, "the cube goes to the left"


@pytest.mark.long
@pytest.mark.parametrize("left", [0.1, -0.2])
def test_V6_E_other_ways_of_the_cube_take_both_fingers(left: float) -> None:
    assert touched(solved("pinch_cube", left=left)) == {LEFT, RIGHT}


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("pinch_cube", 0.05),
        ("push_slider", 0.05),
        pytest.param("push_box", 0.05, marks=pytest.mark.long),
        pytest.param("push_box_by_base", 0.05, marks=pytest.mark.long),
        pytest.param("push_box_by_base base_push_smooth", 0.05, marks=pytest.mark.long),
        pytest.param("move_torso", 0.05, marks=pytest.mark.long),
    ],
)
def test_V16_in_the_other_engine_the_body_ends_near_the_target(name: str, most: float) -> None:
    plan, cell = solved(name), name.partition(" ")[2]
    found = replay(plan, CONFIG / f"{cell}.yaml" if cell else read_task(name).task.workcell)
    assert found.normalized_error <= most and found.orientation_error <= 0.05
    assert found.rests or not plan.at_rest
    assert found.peak > 0.0 < found.impulse, "it was pushed"
