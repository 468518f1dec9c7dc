"""The law distance, on one degree of freedom."""

from __future__ import annotations

import math

import pytest

from robot_rt_control.actions.laws.distance import Distance
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def harness(**parameters: float) -> ActionHarness:
    axis = FakePart(name="arm.slide", kind=PartKind.AXIS, dof=1)
    return ActionHarness(Distance, parts={"axis": axis}, parameters=parameters)


@pytest.mark.parametrize("velocity", [0.3, 1.0])
@pytest.mark.parametrize("smoothing", [0.01, 0.02, 0.05])
def test_it_comes_to_the_distance_with_hardly_any_overshoot(smoothing: float, velocity: float) -> None:
    h = harness(distance=0.1, velocity=velocity, smoothing=smoothing)
    axis = h.part("axis")
    h.start()
    nearest = math.inf
    for _ in range(4000):
        axis.inputs[0] = 0.8 - axis.commanded_position[0]
        h.step()
        nearest = min(nearest, 0.8 - float(axis.commanded_position[0]))
    assert nearest > 0.1 - 1e-4
    assert axis.commanded_position[0] == pytest.approx(0.7, abs=1e-4)


def test_its_sign_is_that_of_the_direction_in_which_the_distance_shrinks() -> None:
    h = harness(distance=0.1, velocity=-0.5)
    axis = h.part("axis")
    h.start()
    for distance, expected in ((9.0, -0.5), (-9.0, 0.5), (math.nan, 0.0), (math.inf, -0.5), (-math.inf, 0.0)):
        axis.inputs[0] = distance
        h.step(600)
        assert axis.commanded_velocity[0] == pytest.approx(expected, abs=1e-6)


def test_where_no_position_is_measured_it_goes_by_the_command() -> None:
    h = harness(distance=0.1, velocity=0.5)
    axis = h.part("axis")
    h.start()
    h.parts["axis"].measure = lambda *_, **__: setattr(axis, "dt", h.period)  # type: ignore[method-assign]
    axis.position[0] = math.nan
    for _ in range(2000):
        axis.inputs[0] = 0.4 - axis.commanded_position[0]
        axis.motion_velocity[:], axis.motion_acceleration[:] = axis.commanded_velocity, axis.commanded_acceleration
        h.step()
    assert axis.commanded_position[0] == pytest.approx(0.3, abs=1e-4)


def test_a_velocity_above_the_limit_is_refused() -> None:
    with pytest.raises(DefinitionError, match="velocity of 'arm.slide' is above its limit; expected at most 1.5000"):
        harness(distance=0.1, velocity=-1.6)
    with pytest.raises(DefinitionError, match="at least 1e-06 rad/s in size; its sign is a direction; got 0"):
        harness(distance=0.1, velocity=0.0)
