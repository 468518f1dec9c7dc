"""The law impedance, on one joint: a unit inertia."""

from __future__ import annotations

import math
from typing import Any

import pytest

from robot_rt_control.actions.laws.impedance import Impedance
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def harness(**parameters: Any) -> ActionHarness:
    axis = FakePart(name="arm.slide", kind=PartKind.AXIS, dof=1)
    axis.live.inputs[0] = math.nan  # not bound
    return ActionHarness(Impedance, parts={"axis": axis}, parameters={"stiffness": 25.0, "damping": 10.0} | parameters)


def test_it_returns_to_its_rest_position_as_spring_and_damper_do() -> None:
    h = harness()
    axis = h.part("axis")
    h.start()
    h.step()
    axis.commanded_position[0] = 0.1
    h.step(200)
    t = 0.2
    critically_damped = 0.1 * (1.0 + 5.0 * t) * math.exp(-5.0 * t)
    assert axis.commanded_position[0] == pytest.approx(critically_damped, rel=0.02)
    assert axis.command_mode == CommandMode.EFFORT


def test_the_effort_begins_with_what_the_drive_exerts_and_the_difference_fades() -> None:
    h = harness(rest=0.5, stiffness=100.0)
    axis = h.part("axis")
    axis.effort[0] = axis.commanded_effort[0] = -7.0
    h.start()
    h.step()
    assert axis.effort_command[0] == -7.0
    h.step(2500)
    assert axis.commanded_position[0] == pytest.approx(0.5, abs=1e-3)


def test_the_effort_against_gravity_is_added() -> None:
    h = harness(gravity=True)
    axis = h.part("axis")
    axis.gravity_effort[0] = 5.0
    axis.effort[0] = axis.commanded_effort[0] = 5.0
    h.start()
    h.step()
    assert axis.effort_command[0] == pytest.approx(5.0)


def test_a_bound_rest_position_moves_it_as_long_as_it_is_known() -> None:
    h = harness(rest=-0.1)
    axis = h.part("axis")
    h.start()
    for rest, expected in ((0.3, 0.3), (math.nan, -0.1)):
        axis.inputs[0] = rest
        h.step(3000)
        assert axis.commanded_position[0] == pytest.approx(expected, abs=1e-3)


def test_where_nothing_is_measured_it_pulls_nowhere() -> None:
    h = harness(rest=1.0)
    axis = h.part("axis")
    h.start()
    h.parts["axis"].measure = lambda *_, **__: setattr(axis, "dt", h.period)  # type: ignore[method-assign]
    axis.position[0] = math.nan
    h.step(5)
    assert axis.effort_command[0] == 0.0


def test_a_rest_position_outside_the_range_is_refused() -> None:
    with pytest.raises(DefinitionError, match="rest of 'arm.slide' is outside its range; expected -2.9.*got -3.0000"):
        harness(rest=-3.0)
