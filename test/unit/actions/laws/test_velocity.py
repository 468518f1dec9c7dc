"""The law velocity, on one degree of freedom."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.actions.laws.velocity import Velocity
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def harness(velocity: float, *, position: float = 0.0) -> ActionHarness:
    axis = FakePart(name="arm.elbow", kind=PartKind.AXIS, dof=1, position=(position,))
    return ActionHarness(Velocity, parts={"axis": axis}, parameters={"velocity": velocity})


def test_it_reaches_its_velocity_within_the_limits() -> None:
    h = harness(0.5)
    axis = h.part("axis")
    h.start()
    accelerations = []
    for _ in range(300):
        h.step()
        accelerations.append(float(axis.commanded_acceleration[0]))
    assert axis.commanded_velocity[0] == pytest.approx(0.5)
    assert max(accelerations) <= axis.acceleration_limit[0] * 1.001
    assert np.abs(np.diff(accelerations)).max() <= axis.jerk_limit[0] * h.period * 1.001


def test_new_parameters_take_effect_while_it_governs() -> None:
    h = harness(0.5)
    h.start()
    h.step(300)
    h.set_parameters(velocity=-0.2)
    h.step(500)
    assert h.part("axis").commanded_velocity[0] == pytest.approx(-0.2)


def test_it_comes_to_rest_at_the_end_of_the_range() -> None:
    h = harness(1.0, position=2.5)
    axis = h.part("axis")
    h.start()
    h.step(4000)
    assert axis.position_upper[0] - 0.01 < axis.commanded_position[0] <= axis.position_upper[0]


def test_a_velocity_above_the_limit_is_refused() -> None:
    with pytest.raises(DefinitionError) as caught:
        harness(-1.6)
    assert str(caught.value) == (
        "velocity of 'arm.elbow' is above its limit; expected at most 1.5000 rad/s; got -1.6000"
    )
