"""move_object: an object is taken at A and put down at B; whatever goes wrong has an exit of its own."""

from __future__ import annotations

from typing import Any

import pytest
from library.bench_run import Outcome, object_position, place_object, run

from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.errors import DefinitionError

FAST: dict[str, Any] = {"speed": 0.4, "slow_speed": 0.1, "height": 0.05}


class Cube:
    """Where the cube is in each state of the arm, when that ends."""

    def __init__(self, *, lose_in: str = "") -> None:
        self.at: dict[str, list[float]] = {}
        self._lose_in = lose_in

    def __call__(self, cell: LockstepCell) -> None:
        state = cell.active("arm")
        if state == self._lose_in and state not in self.at:
            place_object(cell, "cube", (0.0, 0.5, 0.02))
        self.at[state] = list(object_position(cell, "cube"))


def move(cube: Cube | None = None, **parameters: Any) -> tuple[Outcome, Cube]:
    cube = cube or Cube()
    return run("move_object", each_tick=cube, **{**FAST, **parameters}), cube


def test_the_object_stands_at_b_and_the_gripper_is_open_above_it(simulator: str) -> None:
    first, cube = move()
    assert first.exit == "done"
    expected = "ready over_a descend lift weigh carry lower put_down leave moved"
    assert first.states == expected.split()
    assert cube.at["descend"] == pytest.approx([0.45, -0.2, 0.12], abs=2e-3)
    assert cube.at["lift"][2] == pytest.approx(0.17, abs=3e-3), "it came along"
    assert cube.at["moved"] == pytest.approx([0.50, -0.3, 0.12], abs=3e-3)
    assert first.tool == pytest.approx([0.50, -0.3, 0.165], abs=3e-3)
    assert first.peak < 40.0


def test_with_nothing_to_take_it_says_so_above_a() -> None:
    outcome, _ = move(from_position=[0.45, -0.08, 0.115])
    assert outcome.exit == "missed" and outcome.states[-2:] == ["back_up", "missed"]
    assert outcome.tool == pytest.approx([0.45, -0.08, 0.165], abs=2e-3)


@pytest.mark.long
def test_an_object_that_is_lost_on_the_way_is_noticed() -> None:
    outcome, _ = move(Cube(lose_in="carry"))
    assert outcome.exit == "dropped" and outcome.states[-1] == "dropped"


@pytest.mark.long
def test_without_ground_at_b_it_fails_and_does_not_let_go() -> None:
    outcome, cube = move(to_position=[0.50, -0.3, 0.155])
    assert outcome.exit == "failed" and outcome.states[-2:] == ["lower", "failed"]
    assert cube.at["failed"][2] == pytest.approx(0.15, abs=4e-3), "10 mm below its place, still held"


@pytest.mark.long
def test_a_collision_on_the_way_down_is_a_failure_with_a_bounded_force(simulator: str) -> None:
    outcome, _ = move(from_position=[0.50, 0.0, 0.09], slow_speed=0.05)
    assert outcome.exit == "failed" and outcome.states[-2:] == ["descend", "failed"]
    assert 10.0 < outcome.peak < 40.0


def test_places_out_of_reach_and_a_part_that_is_no_gripper_are_refused() -> None:
    with pytest.raises(DefinitionError, match=r"action 'carry'.*no joint positions found"):
        move(to_position=[1.5, 0.0, 0.2])
    with pytest.raises(DefinitionError, match="gripper"):
        run("move_object", parts={"gripper": "arm"})
    with pytest.raises(DefinitionError, match="effort is above its limit; expected at most 20; got 100"):
        move(effort=100.0)
