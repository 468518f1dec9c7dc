"""Rules F6 to F8 and F10 of docs/semantics/laws.md: laws in several modes. With gravity: test_laws_in_simulation.py."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rules.changed_workcell import changed_workcell

from robot_rt_control.client.actions import Action, Strategy
from robot_rt_control.client.session import Session
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.vocabulary.enums import CommandMode
from robot_rt_control.vocabulary.errors import DefinitionError

BUTTON = "io.input[0]"
PULL = Strategy("pull", "torque", when=BUTTON, effort=0.5)
HOLD = Strategy("hold", "hold")


def start(cell: LockstepCell, axis: str, *strategies: Strategy, type: str = "hold", **parameters: Any) -> Session:
    session = cell.session("left", "rangefinder")
    show = Action("show", "show", parts="rangefinder")  # what it measures, as a force
    session.add(show, Action("a", type, parts="left", strategies={axis: strategies}, **parameters))
    session.start("a", "show")
    return session


def button(cell: LockstepCell, on: bool) -> None:
    cell.set_sensor("io/input_0", float(on))


# --- F6 position, F7 impedance, F8 torque ----------------------------------------------------------


def test_F6_position_is_reached_from_any_state_of_motion_without_overshoot(cell: LockstepCell) -> None:
    there = Strategy("there", "position", when=BUTTON, position=0.3)
    start(cell, "x", there, Strategy("back", "velocity", velocity=-0.4))
    cell.step(400)
    button(cell, True)
    left = cell.part("left")
    trace = np.array([left.commanded_position[0] for _ in range(2500) if cell.step() or True])
    assert trace.max() <= 0.3 + 1e-4 and trace[-1] == pytest.approx(0.3, abs=1e-6)
    acceleration = np.diff(trace, 2) / 1e-6
    assert np.abs(acceleration).max() <= left.acceleration_limit[0] * 1.001


def test_F7_impedance_is_a_spring_with_a_damper(cell: LockstepCell) -> None:
    start(cell, "turn", Strategy("spring", "impedance", stiffness=25.0, damping=10.0, rest=0.1))
    cell.step(5000)
    left = cell.part("left")
    assert left.position[1] == pytest.approx(0.1, abs=1e-4) and left.position[0] == 0.0
    cell.executor.world.memory.limits[0].jump[:] = 0.0  # off: a position that jumps is a fault
    cell.set_sensor("left/turn/position", 0.3)
    cell.step(201)
    assert left.position[1] == pytest.approx(0.1 + 0.2 * (1.0 + 5.0 * 0.2) * math.exp(-5.0 * 0.2), rel=0.02)


def test_F7_admittance_gives_way_by_the_force_over_the_stiffness(cell: LockstepCell) -> None:
    cell.set_sensor("rangefinder/distance", 0.0)
    give_way = Strategy("spring", "admittance", stiffness=20.0, damping=4.0, inputs={"force": "show.force"})
    start(cell, "x", give_way)
    cell.step(20)
    cell.set_sensor("rangefinder/distance", 1.5)
    cell.step(3000)
    assert cell.part("left").commanded_position[0] == pytest.approx(-1.5 / 20.0, rel=1e-3)
    cell.set_sensor("rangefinder/distance", math.nan)
    cell.step(300)
    assert cell.part("left").commanded_velocity[0] == 0.0
    cell.set_sensor("rangefinder/distance", 0.0)
    cell.step(3000)
    assert cell.part("left").commanded_position[0] == pytest.approx(0.0, abs=1e-4)


def test_F8_torque_commands_an_effort_at_its_rate(cell: LockstepCell) -> None:
    start(cell, "turn", Strategy("pull", "torque", effort=-2.0, rate=20.0))
    left = cell.part("left")
    efforts = np.array([left.commanded_effort[1] for _ in range(200) if cell.step() or True])
    assert np.diff(efforts, prepend=0.0)[:99] == pytest.approx(-0.02) and efforts[-1] == -2.0


def test_F8_at_override_0_the_joint_is_held(cell: LockstepCell) -> None:
    start(cell, "turn", Strategy("pull", "torque", effort=0.5))
    cell.step(300)
    left = cell.part("left")
    assert left.velocity[1] > 0.1
    cell.server.set_speed(0.0)
    cell.step(1000)
    assert left.velocity[1] == 0.0 and left.commanded_effort[1] == 0.0
    cell.server.set_speed(1.0)
    cell.step(1000)
    assert left.velocity[1] > 0.1


PROGRAM = """
start: a
actions:
  a:
    type: hold
    parts: left
    strategies:
      turn:
        - name: s
          law: torque
          parameters: {effort: 0.5}
"""


def test_F8_when_its_session_ends_the_joint_is_brought_to_rest(cell: LockstepCell) -> None:
    session = start(cell, "turn", Strategy("pull", "torque", effort=2.0))
    cell.step(500)
    speed = float(cell.part("left").velocity[1])
    assert speed > 0.8
    session.close()
    trace = np.array([cell.part("left").velocity[1] for _ in range(1000) if cell.step() or True])
    assert trace.max() <= speed * 1.05 and trace[-1] == 0.0
    assert not cell.kinds("part_faulted")


# --- F10: mode of each joint -----------------------------------------------------------------------


def test_F10_a_joint_goes_by_efforts_while_the_others_hold_their_position(cell: LockstepCell) -> None:
    start(cell, "turn", PULL, HOLD)
    left = cell.part("left")
    cell.step(20)
    button(cell, True)
    cell.step(500)
    assert left.effort[1] == pytest.approx(0.5) and left.velocity[1] == pytest.approx(0.5 * 0.5, rel=0.05)
    assert left.position[0] == 0.0 and left.effort[0] == 0.0
    button(cell, False)
    cell.step()
    assert left.commanded_velocity[1] == pytest.approx(left.velocity[1], abs=left.acceleration_limit[1] * 1e-3)
    cell.step(1000)
    assert left.velocity[1] == 0.0 and left.effort[1] == 0.0, "it holds its position again"
    assert not cell.kinds("action_failed", "part_faulted")


@pytest.mark.parametrize("hosted", [False, True])
def test_F10_the_device_gets_the_mode_of_each_joint(hosted: bool, request: pytest.FixtureRequest) -> None:
    cell = request.getfixturevalue("hosted_cell" if hosted else "cell")
    start(cell, "turn", Strategy("pull", "torque", effort=0.5))
    cell.step(500)
    assert cell.part("left").velocity[1] > 0.2 and cell.part("left").velocity[0] == 0.0
    if hosted:
        modes = cell.executor.devices.hosts["first"].lifecycle.modes["left"]
        assert modes == (CommandMode.POSITION, CommandMode.EFFORT)


def test_F10_a_joint_whose_law_commands_nothing_is_braked_and_held(cell: LockstepCell) -> None:
    silent = Strategy("silent", "push", when=BUTTON, mode=int(CommandMode.NONE))
    start(cell, "x", silent, Strategy("go", "velocity", velocity=0.2), type="writer", mode=int(CommandMode.VELOCITY))
    cell.step(300)
    button(cell, True)
    cell.step(500)
    assert cell.part("left").velocity[0] == 0.0
    assert not cell.kinds("action_failed", "part_faulted")


def test_F10_a_law_whose_mode_the_joint_lacks_is_refused(tmp_path: Path) -> None:
    workcell = changed_workcell(tmp_path, {"parts/left/command_modes": ["position", "velocity"]})
    with LockstepCell(workcell) as cell:
        session = cell.session("left")
        with pytest.raises(DefinitionError) as refused:
            session.add(Action("a", "hold", parts="left", strategies={"turn": [PULL, HOLD]}))
        text = str(refused.value)
        assert text.startswith(
            "action 'a': strategy 'pull' of 'turn': law 'torque' commands efforts; "
            "expected a mode of joint 'turn': position, velocity; got effort. "
            "Use one of the laws for this: admittance, distance, "
        )
        with pytest.raises(DefinitionError, match="^program:10: action 'a': strategy 's' of 'turn': law 'torque' comm"):
            session.upload(PROGRAM)
        secret = Strategy("s", "push", mode=int(CommandMode.EFFORT))  # which its code does not show
        session.add(Action("b", "hold", parts="left", strategies={"turn": [secret]}))
        session.start("b")
        cell.step()
        (fault,) = cell.kinds("part_faulted")
        assert "the action wrote a command mode that the part does not support" in fault.reason


def test_F10_a_degree_of_freedom_takes_what_its_action_carries_out(cell: LockstepCell) -> None:
    session = cell.session("left")
    pull = Strategy("pull", "impedance", stiffness=1.0, damping=1.0)
    text = "law 'impedance' commands efforts; expected a mode of degree of freedom 'along': position;"
    with pytest.raises(DefinitionError, match=text):
        session.add(Action("a", "geared", parts="left", strategies={"along": [pull]}))
