"""The law position, on one degree of freedom."""

from __future__ import annotations

import pytest

from robot_rt_control.actions.laws.position import Position
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def harness(**parameters: float) -> ActionHarness:
    axis = FakePart(name="arm.slide", kind=PartKind.AXIS, dof=1)
    return ActionHarness(Position, parts={"axis": axis}, parameters=parameters)


@pytest.mark.parametrize("start", [-0.8, 0.0, 0.8])
def test_it_arrives_from_any_motion_without_overshoot_and_in_time(start: float) -> None:
    h = harness(position=0.5)
    axis = h.part("axis")
    axis.commanded_velocity[0] = start
    h.start()
    farthest = back = 0.0
    for _ in range(1500):
        h.step()
        farthest = max(farthest, float(axis.commanded_position[0]))
        back = min(back, float(axis.commanded_position[0]))
        assert abs(axis.commanded_velocity[0]) <= 1.5 + 1e-12 and abs(axis.commanded_acceleration[0]) <= 10.0 * 1.001
    assert farthest == pytest.approx(0.5, abs=1e-4) and axis.commanded_position[0] == pytest.approx(0.5, abs=1e-6)
    assert back > -0.1


def test_it_is_at_most_as_fast_as_asked_for_and_follows_a_new_position() -> None:
    h = harness(position=0.5, velocity=0.2)
    h.start()
    h.step(1000)
    assert h.part("axis").commanded_velocity[0] == pytest.approx(0.2)
    h.set_parameters(position=-0.1)
    h.step(4000)
    assert h.part("axis").commanded_position[0] == pytest.approx(-0.1, abs=1e-6)


def test_what_is_out_of_its_range_is_refused() -> None:
    with pytest.raises(
        DefinitionError, match="position of 'arm.slide' is outside its range; expected -2.9.* to 2.9.* rad; got 3.0000"
    ):
        harness(position=3.0)
    with pytest.raises(DefinitionError, match="velocity of 'arm.slide' is above its limit; expected at most 1.5000"):
        harness(position=0.1, velocity=1.6)
