"""Claims 1 to 17 of the second document (docs/documents.md, 2), each named by a test, on one program.

Claims 11 to 15 are the robot that does what claims 1 to 8 say; 16 and 17 are the medium with its state machine: the
same program, kept by the control server and run by its name, without the application that gave it.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client.session import Session
from robot_rt_control.model.workcell.workcell import Workcell
from robot_rt_control.server.core.programs import save_program
from robot_rt_control.server.programs.program_store import ProgramStore
from robot_rt_control.server.runs.runs import Run, plan_program
from robot_rt_control.testing.lockstep_cell import LockstepCell

PROGRAM = """\
name: claims
parts: [left, right, rangefinder]
start: [together, feel]
actions:
  feel: {type: show, parts: rangefinder, manual: true}   # what it measures, as a force
  together:                                              # one action of two actuators, one of them with two joints
    type: pair
    parts: {one: left, two: right}
    strategies:
      left.x:
        - {name: more_force, when: feel.force > 15, law: force, parameters: {force: 30}, inputs: {force: feel.force}}
        - {name: force, when: feel.force > 5, law: force, parameters: {force: 10}, inputs: {force: feel.force}}
        - {name: other_origin, when: 'io.input[0]', law: velocity, parameters: {velocity: -0.1}}
        - {name: forward, law: velocity, parameters: {velocity: 0.1}}
      left.turn:
        - {name: turn, law: velocity, parameters: {velocity: 0.2}}
      right.y:
        - {name: stop, when: 'io.input[1]', law: stop_at, parameters: {direction: forward}}
        - {name: effort, when: 'io.input[2]', law: torque, parameters: {effort: 2.0, rate: 1000.0}}
        - {name: away, law: velocity, parameters: {velocity: 0.1}}
    reactions:
      - {when: 'io.input[3]', start: afterwards, event: left_it}
  afterwards: {type: hold, parts: [left], final: true}
"""


def begin(cell: LockstepCell) -> Session:
    """The program runs, and nothing is touched."""
    cell.set_sensor("rangefinder/distance", math.nan)
    made = cell.session("left", "right", "rangefinder")
    assert made.upload(PROGRAM) == ["feel", "together", "afterwards"]
    made.start("feel", "together")
    cell.step(300)
    return made


@pytest.fixture
def session(cell: LockstepCell) -> Session:
    return begin(cell)


def velocity(cell: LockstepCell, part: str, joint: int = 0) -> float:
    return float(cell.part(part).commanded_velocity[joint])


def governs(session: Session, axis: str) -> int:
    return int(session.value(f"together.{axis}.strategy"))


def test_claim_1_each_actuator_has_its_own_set_and_a_signal_selects_the_next_strategy(
    cell: LockstepCell, session: Session
) -> None:
    assert velocity(cell, "left") == pytest.approx(0.1) and velocity(cell, "right") == pytest.approx(0.1)
    cell.set_sensor("io/input_0", 1.0)
    cell.step(300)
    assert velocity(cell, "left") == pytest.approx(-0.1), "the same action goes on with other commands"
    assert velocity(cell, "right") == pytest.approx(0.1), "the other actuator's set is its own"
    assert set(session.active) == {"feel", "together"}


def test_claims_2_and_12_an_exit_leads_to_the_next_state_in_a_single_cycle(
    cell: LockstepCell, session: Session
) -> None:
    cell.set_sensor("io/input_3", 1.0)
    tick = cell.step()
    (fired,) = cell.kinds("reaction_fired")
    (started,) = cell.kinds("action_started", current_action="afterwards")
    assert fired.tick == started.tick == tick and cell.active("left") == "afterwards"
    assert not [e for e in cell.kinds("strategy_changed") if e.tick >= tick], "no strategy of the old state runs"


def test_claims_3_and_13_the_origin_of_the_signal_selects(cell: LockstepCell, session: Session) -> None:
    cell.set_sensor("io/input_0", 1.0)
    cell.step()
    assert governs(session, "left.x") == 2
    cell.set_sensor("io/input_0", 0.0)
    cell.set_sensor("rangefinder/distance", 6.0)
    cell.step(2)  # `feel` shows in a tick what conditions read in the next
    assert governs(session, "left.x") == 1


@pytest.mark.parametrize(("force", "expected"), [(4.0, 3), (6.0, 1), (20.0, 0)])
def test_claims_4_and_13_the_magnitude_of_the_signal_selects(
    cell: LockstepCell, session: Session, force: float, expected: int
) -> None:
    cell.set_sensor("rangefinder/distance", force)
    cell.step(2)
    assert governs(session, "left.x") == expected, "at 20 N the higher priority of two that hold"


def test_claims_5_6_and_14_each_degree_of_freedom_of_one_actuator_has_its_set(workcell: Workcell) -> None:
    paths = []
    for signal in (0.0, 1.0):
        with LockstepCell(workcell) as cell:
            begin(cell)
            cell.set_sensor("io/input_0", signal)
            ticks = [cell.part("left").commanded_position[:2].copy() for _ in range(300) if cell.step()]
        paths.append(np.array(ticks))
    assert (paths[0][:, 1] == paths[1][:, 1]).all() and np.ptp(paths[0][:, 1]) > 0.05, "bit-identical"
    assert paths[1][-1, 0] < paths[0][-1, 0] - 0.02


def test_claims_7_and_15_the_first_strategy_governs_until_the_sensor_begins_to_signal(
    cell: LockstepCell, session: Session
) -> None:
    assert governs(session, "left.x") == 3 and math.isnan(session.value("feel.force"))
    cell.set_sensor("rangefinder/distance", 7.0)
    cell.step(2)
    assert governs(session, "left.x") == 1


def test_claim_8_from_a_motion_to_a_force_strategy(cell: LockstepCell, session: Session) -> None:
    """A soft wall, which the joint pushes."""
    wall = float(cell.part("left").commanded_position[0]) + 0.005
    cell.drive_sensor("rangefinder/distance", lambda: 2000.0 * (float(cell.part("left").commanded_position[0]) - wall))
    cell.step(4000)
    assert governs(session, "left.x") == 1
    assert session.value("feel.force") == pytest.approx(10.0, rel=0.05)


def test_claim_9_from_a_force_to_a_force_strategy(cell: LockstepCell, session: Session) -> None:
    cell.set_sensor("rangefinder/distance", 6.0)
    cell.step(400)
    slow = velocity(cell, "left")
    cell.set_sensor("rangefinder/distance", 16.0)
    cell.step(400)
    assert governs(session, "left.x") == 0 and 0.0 < slow < velocity(cell, "left"), "30 N lack more than 10 N"


def test_claim_10_a_torque_strategy(cell: LockstepCell, session: Session) -> None:
    cell.set_sensor("io/input_2", 1.0)
    cell.step(100)
    assert governs(session, "right.y") == 1
    assert float(cell.part("right").commanded_effort[0]) == pytest.approx(2.0)
    assert velocity(cell, "left") == pytest.approx(0.1), "the others go on by positions"


def test_claims_11_16_and_17_the_kept_program_runs_by_its_name_without_an_application(
    cell: LockstepCell, tmp_path: Path
) -> None:
    cell.server.programs = cell.server.core.programs = ProgramStore(tmp_path)
    assert save_program(cell.server.core, PROGRAM, check_only=False).version == 1
    run = Run(cell.server, plan_program(cell.server, "claims", until_event="left_it", timeout=0.0))
    cell.set_sensor("rangefinder/distance", math.nan)
    for _ in range(300):
        assert run.update() is None
        cell.step()
    assert velocity(cell, "left") == pytest.approx(0.1)
    cell.set_sensor("io/input_1", 1.0)
    cell.step(300)
    assert velocity(cell, "right") == 0.0 and velocity(cell, "left") == pytest.approx(0.1)
    cell.set_sensor("io/input_3", 1.0)
    tick = cell.step()
    assert [e.tick for e in cell.kinds("action_started", current_action="afterwards")] == [tick]
    cell.step()
    result = run.update()
    assert result is not None and result.success and result.last_event == "left_it"
