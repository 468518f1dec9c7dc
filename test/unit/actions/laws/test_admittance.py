"""The law admittance, on one degree of freedom."""

from __future__ import annotations

import math
from typing import Any

import pytest

from robot_rt_control.actions.laws.admittance import Admittance
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def harness(**parameters: Any) -> ActionHarness:
    axis = FakePart(name="arm.slide", kind=PartKind.AXIS, dof=1)
    given = {"stiffness": 200.0, "damping": 100.0, "velocity": 1.0} | parameters
    h = ActionHarness(Admittance, parts={"axis": axis}, parameters=given)
    h.part("axis").inputs[1] = math.nan
    return h


def test_a_force_moves_it_by_the_force_over_the_stiffness_with_the_time_constant_of_the_damping() -> None:
    h = harness()
    axis = h.part("axis")
    h.start()
    axis.inputs[0] = 20.0  # it pushes: a force of -20 acts on it
    h.step(500)
    assert axis.commanded_position[0] == pytest.approx(-0.1 * (1.0 - math.exp(-1.0)), rel=0.05)
    h.step(5000)
    assert axis.commanded_position[0] == pytest.approx(-0.1, abs=1e-4)
    axis.inputs[0] = 0.0
    h.step(5000)
    assert axis.commanded_position[0] == pytest.approx(0.0, abs=1e-4)


def test_it_goes_to_its_rest_position_which_may_move_at_most_as_fast_as_asked_for() -> None:
    h = harness(rest=0.2, velocity=0.05)
    axis = h.part("axis")
    h.start()
    h.step(500)
    assert axis.commanded_velocity[0] == pytest.approx(0.05)
    axis.inputs[1] = -0.2
    h.step(1000)
    assert axis.commanded_velocity[0] == pytest.approx(-0.05)
    axis.inputs[1] = math.nan
    h.step(20_000)
    assert axis.commanded_position[0] == pytest.approx(0.2, abs=1e-4)


def test_an_unknown_force_brings_it_to_rest() -> None:
    h = harness(rest=1.0)
    h.start()
    h.step(300)
    assert h.part("axis").commanded_velocity[0] > 0.5
    h.part("axis").inputs[0] = math.nan
    h.step(500)
    assert h.part("axis").commanded_velocity[0] == 0.0


def test_what_is_out_of_its_range_is_refused() -> None:
    with pytest.raises(DefinitionError, match="rest of 'arm.slide' is outside its range"):
        harness(rest=4.0)
    with pytest.raises(DefinitionError, match="velocity of 'arm.slide' is above its limit"):
        harness(velocity=1.6)
