"""The law torque, on one joint: a unit inertia."""

from __future__ import annotations

from typing import Any

import pytest

from robot_rt_control.actions.laws.torque import Torque
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.fake_arm import FakePart
from robot_rt_control.vocabulary.enums import CommandMode, PartKind
from robot_rt_control.vocabulary.errors import DefinitionError


def harness(**parameters: Any) -> ActionHarness:
    axis = FakePart(name="arm.slide", kind=PartKind.AXIS, dof=1)
    return ActionHarness(Torque, parts={"axis": axis}, parameters=parameters)


def test_it_goes_from_what_the_drive_exerts_to_its_effort_at_its_rate() -> None:
    h = harness(effort=-2.0, rate=100.0)
    axis = h.part("axis")
    axis.effort[0] = axis.commanded_effort[0] = 3.0
    h.start()
    efforts = []
    for _ in range(60):
        h.step()
        assert axis.command_mode == CommandMode.EFFORT
        efforts.append(float(axis.effort_command[0]))
    assert efforts[0] == pytest.approx(2.9) and efforts[25] == pytest.approx(0.4)
    assert efforts[-1] == -2.0


def test_gravity_is_added_on_request_and_taken_out_of_what_the_drive_exerts() -> None:
    for gravity, first, last in ((True, 30.0, 31.0), (False, 29.9, 1.0)):
        h = harness(effort=1.0, rate=100.0, gravity=gravity)
        axis = h.part("axis")
        axis.effort[0] = axis.commanded_effort[0] = 30.0
        axis.gravity_effort[0] = 30.0
        h.start()
        h.step()
        assert axis.effort_command[0] == pytest.approx(first, abs=0.11)
        h.step(500)
        assert axis.effort_command[0] == pytest.approx(last)


def test_at_override_0_it_commands_nothing_and_begins_anew_afterwards() -> None:
    h = harness(effort=1.0, rate=10.0)
    axis = h.part("axis")
    h.start()
    h.step(50)
    assert axis.effort_command[0] == pytest.approx(0.5)
    h.speed = 0.0
    h.step(2)
    assert axis.command_mode == CommandMode.NONE
    h.speed = 1.0
    h.step()
    assert axis.effort_command[0] == pytest.approx(0.01)


def test_an_effort_above_the_limit_is_refused() -> None:
    with pytest.raises(DefinitionError, match="effort of 'arm.slide' is above its limit; expected at most 100.*got -1"):
        harness(effort=-101.0)
