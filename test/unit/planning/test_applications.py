"""The document's applications as task files: each is solved without virtual forces, with the same defaults.

Their replay through the real tick loop: test/lockstep/rules/test_planning_applications.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.planning.from_file import prepared
from robot_rt_control.planning.plan import Plan
from robot_rt_control.planning.planner import plan
from robot_rt_control.planning.task_file import read_task

CONFIG = Path(__file__).parents[3] / "config"
_TOUCHING = 1e-3
"""[m] φ below this is contact: forces grow over the first millimetre."""


def solved(task: str, workcell: Path | None = None, **parameters: float) -> Plan:
    """Its plan: without virtual forces within `accept`."""
    what, settings = prepared(task, parameters, workcell=workcell)
    result = plan(what, replace(settings, threads=1))
    assert result.success and result.plan is not None and result.error is not None, result.message
    assert result.error.normalized <= 0.02 and result.error.orientation <= 0.05
    return result.plan


def touched(plan: Plan) -> set[str]:
    return {pair for pair, phi in zip(plan.header["pairs"], plan.distance.T, strict=True) if phi.min() < _TOUCHING}


@pytest.mark.parametrize("name", sorted(file.stem for file in (CONFIG / "tasks").glob("*.yaml")))
def test_V1_each_task_of_the_package_is_read(name: str) -> None:
    file = read_task(name)
    assert file.task.name == name and not file.unused


def test_A_a_slider_in_one_control_step() -> None:
    assert touched(solved("push_slider")) == {"pusher.tip slider.back"}


@pytest.mark.long
@pytest.mark.parametrize("distance", [0.05, 0.1, 0.2])
def test_B_an_arm_pushes_a_box_forward(distance: float) -> None:
    assert touched(solved("push_box", distance=distance)) == {"arm.peg box.back"}


@pytest.mark.long
@pytest.mark.parametrize("workcell", ["base_push", "base_push_smooth"])
def test_C_a_base_pushes_a_box_forward(workcell: str) -> None:
    found = solved("push_box_by_base", workcell=CONFIG / f"{workcell}.yaml")
    assert touched(found) == {"base.base_link box.back"}


@pytest.mark.long
def test_D_a_humanoid_pushes_its_torso_up_with_its_hands() -> None:
    """Of 16 pairs the planner takes those of both hands' bricks' tops."""
    found = solved("move_torso")
    assert touched(found) == {"humanoid.left_hand brick_1.top", "humanoid.right_hand brick_2.top"}
    assert found.body_position[-1, 2] == pytest.approx(0.15, abs=0.003)


@pytest.mark.parametrize(
    "left", [0.15, pytest.param(0.1, marks=pytest.mark.long), pytest.param(-0.2, marks=pytest.mark.long)]
)
def test_E_two_fingers_move_a_cube_and_hold_it_at_the_end(left: float) -> None:
    """Claim 10: one finger pushes, the other brakes, and both touch when the cube has arrived."""
    found = solved("pinch_cube", left=left)
    assert touched(found) == {"arm.left_finger cube.left", "arm.right_finger cube.right"}
    assert (found.distance[-1] < _TOUCHING).all()
    pushes = int(np.argmax(found.distance.min(axis=1) < _TOUCHING))
    assert found.header["pairs"][int(np.argmin(found.distance[pushes]))] == (
        "arm.right_finger cube.right" if left > 0.0 else "arm.left_finger cube.left"
    )
