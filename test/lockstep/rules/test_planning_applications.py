"""The document's applications, each from its task file: solved without virtual forces, with the same defaults, V6, V10;
and replayed in PyBullet through the real tick loop, V16."""

from __future__ import annotations

import functools
from dataclasses import replace as changed
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client import Action
from robot_rt_control.planning.files.from_file import plan_file, prepared
from robot_rt_control.planning.files.task_file import read_task
from robot_rt_control.planning.plan.plan import Plan
from robot_rt_control.planning.solve.planner import plan as solve
from robot_rt_control.testing import plan_replay
from robot_rt_control.testing.lockstep_client import LockstepClient

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


@pytest.mark.parametrize("up", [0.15, -0.15])
def test_V6_D_a_humanoid_moves_its_torso_and_rests(up: float) -> None:
    """Weightless and without friction: what pushes it off must be braked by other contacts."""
    plan = solved("move_torso", up=up)
    assert {"left_arm.left_hand brick_1.top", "left_leg.left_foot brick_3.bottom"} <= touched(plan)
    assert len(plan.parts) == 4 and len(plan.first()) == 4, "each limb is a part; they start together"
    assert plan.body_position[-1, 2] == pytest.approx(up, abs=0.003)


@pytest.mark.parametrize("way", ["left", "right", "up"])
def test_V6_E_two_fingers_carry_a_cube(way: str) -> None:
    """Claim 10: across the fingers' faces, along them by friction, and lifted."""
    ways = {"left": {}, "right": {"right": 0.1, "left": 0.0}, "up": {"up": 0.1, "left": 0.1, "right": 0.1, "time": 1.5}}
    plan = solved("pinch_cube", **ways[way])
    assert touched(plan) == {LEFT, RIGHT}
    assert way == "left" or (plan.distance[-1] < _TOUCHING).all(), "it is held"


@pytest.mark.long
@pytest.mark.parametrize("left", [0.1, -0.2])
def test_V6_E_other_ways_of_the_cube_take_both_fingers(left: float) -> None:
    assert touched(solved("pinch_cube", left=left)) == {LEFT, RIGHT}


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("push_slider", 0.05),
        pytest.param("push_box", 0.05, marks=pytest.mark.long),
        pytest.param("push_box_by_base", 0.05, marks=pytest.mark.long),
        pytest.param("push_box_by_base base_push_smooth", 0.05, marks=pytest.mark.long),
        pytest.param("move_torso", 0.05, marks=pytest.mark.long),
    ],
)
def test_V16_in_the_other_engine_the_body_ends_near_the_target(name: str, most: float) -> None:
    plan, cell = solved(name), name.partition(" ")[2]
    found = plan_replay.replay(plan, CONFIG / f"{cell}.yaml" if cell else read_task(name).task.workcell)
    assert found.normalized_error <= most and found.orientation_error <= 0.05
    assert found.rests or not plan.at_rest
    assert found.peak > 0.0 < found.impulse, "it was pushed"


def test_V16_a_held_body_creeps_slowly_until_a_finger_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both fingers are commanded into the cube, farther than their force can bring them: neither keeps its place. What
    the engine's solver leaves over moves all three, until the finger that closes has reached its place."""
    monkeypatch.setattr(plan_replay, "_LONGEST_REST", 10.0)  # [s]
    plan = solved("pinch_cube")
    found = plan_replay.replay(plan, read_task("pinch_cube").task.workcell)
    held = found.path[found.times > plan.header["time"] + 0.2, :3][::10]  # every 0.1 s
    assert np.linalg.norm(np.diff(held, axis=0), axis=1).max() < 1e-3 * 0.1, "slower than 1 mm/s"
    assert found.rests and found.normalized_error <= 0.05 and found.orientation_error <= 0.05
    assert found.peak > 0.0 < found.impulse


@pytest.mark.long
@pytest.mark.parametrize(("distance", "time"), [(0.1, 1.5), (0.05, 1.0)])
def test_V31_a_straight_push_is_as_exact_as_three_lines_of_move_linear(distance: float, time: float) -> None:
    """To the face, as far as the target, and back."""
    result = plan_file("push_box", distance=distance, time=time)
    assert result.success and result.plan is not None, result.message
    (row,) = result.plan.header["verification"]["replays"]
    assert row["error_to_target"] <= 1e-3
    gap = float(result.plan.distance[0, result.plan.header["pairs"].index("arm.peg box.back")])
    with LockstepClient(CONFIG / "push.yaml") as client, client.session("arm") as session:
        world, forces = plan_replay.simulation(client).world, list[float]()
        client.cell.after_tick.append(lambda: forces.append(world.contact_force("box", "arm")))
        for i, way in enumerate((gap - 0.001, distance + 0.001, -0.05)):
            session.add(Action(f"line_{i}", "move_linear", offset=[way, 0.0, 0.0], speed=0.1))
            session.start(f"line_{i}")
            session.wait_until(f"line_{i}.is_settled", timeout_s=60.0)
        moved = plan_replay.body_pose(plan_replay.simulation(client), "box").position[0] - 0.6
    assert moved == pytest.approx(distance, abs=0.01), "the script pushes, too"
    assert row["error_to_target"] <= max(abs(moved - distance), 1e-3)
    assert max(forces) > 0.155 * 9.81 * 0.25 and row["peak"] < 5.0, "no blow, which has 28 N"
