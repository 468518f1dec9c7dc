"""Rules F8 to F10 of docs/semantics.md: laws that command efforts, beside joints that hold their position."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell import Workcell
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError

BUTTON = "io.input[0]"
PULL = Strategy("pull", "torque", when=BUTTON, effort=0.5)
HOLD = Strategy("hold", "hold")


def start(cell: LockstepCell, *strategies: Strategy, type: str = "hold", **parameters: float) -> Session:
    session = cell.session("left")
    session.add(Action("a", type, parts="left", strategies={"turn": strategies}, **parameters))
    session.start("a")
    cell.step(20)
    return session


def button(cell: LockstepCell, on: bool) -> None:
    cell.set_sensor("io/input_0", float(on))


def test_F10_a_joint_goes_by_efforts_while_the_others_hold_their_position(cell: LockstepCell) -> None:
    start(cell, PULL, HOLD)
    left = cell.part("left")
    held = float(left.position[0])
    button(cell, True)
    cell.step(500)
    assert left.effort[1] == pytest.approx(0.5) and left.velocity[1] == pytest.approx(0.5 * 0.5, rel=0.05)
    assert left.position[0] == held and left.effort[0] == 0.0
    button(cell, False)
    cell.step()
    assert left.commanded_velocity[1] == pytest.approx(left.velocity[1], abs=left.acceleration_limit[1] * 1e-3)
    cell.step(1000)
    assert left.velocity[1] == 0.0 and left.effort[1] == 0.0, "it holds its position again"
    assert not cell.kinds("action_failed", "part_faulted")
