from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.grasp import Grasp
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError

STIFFNESS = 1e4  # [N/m] of the object and the finger tips


class GraspedObject:
    """Two fingers of 40 mm range, open, and an object of a given half width between them."""

    def __init__(self, half_width: float, **parameters: float) -> None:
        self.half_width = half_width
        self.gripper = FakePart(name="gripper", kind=PartKind.GRIPPER, dof=2, position=(0.04, 0.04))
        live = self.gripper.live
        live.position_lower[:2], live.position_upper[:2] = 0.0, 0.04
        live.velocity_limit[:2], live.acceleration_limit[:2], live.effort_limit[:2] = 0.2, 2.0, 20.0
        self.h = ActionHarness(
            Grasp, parts={"gripper": self.gripper}, parameters={"effort": 8.0, **parameters}, compiled=True
        )
        self.h.start()

    def step(self, n: int) -> None:
        live = self.gripper.live
        for _ in range(n):
            for j in range(2):
                pressed = max(self.half_width - live.commanded_position[j], 0.0)
                live.commanded_effort[j] = -STIFFNESS * pressed  # FakePart measures what was commanded
            self.h.step()


def test_it_squeezes_with_the_effort_and_holds():
    world = GraspedObject(0.02)
    world.step(2000)
    state = world.h.state
    assert state.is_grasped == 1.0 and state.is_missed == 0.0
    assert state.effort == pytest.approx(8.0, abs=0.2)
    assert state.opening == pytest.approx(0.5, abs=0.03)


def test_it_never_squeezes_much_harder_on_the_way_and_keeps_the_limits():
    world, live = GraspedObject(0.02), None
    live = world.gripper.live
    for _ in range(2000):
        world.step(1)
        assert world.h.state.effort < 10.0
        assert (np.abs(live.commanded_velocity[:2]) <= 0.2 * 0.2 + 1e-9).all()
        assert (np.abs(live.commanded_acceleration[:2]) <= 2.0 + 1e-6).all()


def test_with_nothing_there_it_closes_and_says_so():
    world = GraspedObject(0.0)
    world.step(3000)
    assert world.h.state.is_missed == 1.0 and world.h.state.is_grasped == 0.0
    assert (world.gripper.live.commanded_position[:2] >= 0.0).all()


def test_an_object_that_is_lost_is_noticed_and_one_that_shrinks_is_followed():
    world = GraspedObject(0.02)
    world.step(1500)
    world.half_width = 0.018
    world.step(500)
    assert world.h.state.is_grasped == 1.0 and world.h.state.effort == pytest.approx(8.0, abs=0.3)
    world.half_width = 0.0
    world.step(3000)
    assert world.h.state.is_missed == 1.0 and world.h.state.is_grasped == 0.0


def test_grasped_is_said_only_after_it_was_held_for_a_while():
    world = GraspedObject(0.035, settle_time=0.5)
    ticks = 0
    while world.h.state.effort < 0.7 * 8.0 or ticks < 2:
        world.step(1)
        ticks += 1
    world.step(480)
    assert world.h.state.is_grasped == 0.0
    world.step(40)
    assert world.h.state.is_grasped == 1.0


def test_an_unknown_effort_stops_the_fingers():
    world = GraspedObject(0.02)
    world.step(200)
    world.gripper.live.commanded_effort[:2] = np.nan
    for _ in range(200):
        world.gripper.live.commanded_effort[:2] = np.nan
        world.h.step()
    assert np.abs(world.gripper.live.commanded_velocity[:2]).max() < 1e-9
    assert np.isfinite(world.gripper.live.commanded_position[:2]).all()


def test_an_effort_above_the_limit_is_refused():
    with pytest.raises(DefinitionError, match="the effort is above its limit; expected at most 20; got 30"):
        GraspedObject(0.02, effort=30.0)
