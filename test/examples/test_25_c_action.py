"""Real-time code in C++: the swings are where the formula says, in the harness and in the loop, and start from rest."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.client.actions import Action
from robot_rt_control.testing.action_harness import ActionHarness
from robot_rt_control.testing.lockstep_cell import LockstepCell
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.vocabulary.errors import DefinitionError

ROOT = Path(__file__).parents[2]


def faded(s: float) -> float:
    s = min(max(s, 0.0), 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def swing(t: float, *, angle: float, period: float, count: float) -> float:
    return angle * faded(t / period) * faded(count - t / period) * math.sin(2.0 * math.pi * t / period)


@pytest.mark.parametrize("compiled", [False, True])
def test_the_swings_are_those_of_the_formula(compiled, example):
    chosen = {"angle": 0.2, "period": 1.0, "count": 3}
    harness = ActionHarness(example("25_c_action").Sway, parameters={"joint": 2, **chosen}, compiled=compiled)
    arm = harness.part("arm")
    start = arm.commanded_position.copy()
    harness.start()
    while not harness.state.is_done:
        assert harness.step() == 0
        expected = start[2] + swing(float(harness.state.elapsed), **chosen)
        assert arm.commanded_position[2] == pytest.approx(expected, abs=1e-9)
        assert np.delete(arm.commanded_position, 2).tolist() == np.delete(start, 2).tolist()
    assert harness.tick in (3000, 3001)


def test_it_is_prepared_in_python(example):
    sway = example("25_c_action").Sway
    with pytest.raises(DefinitionError, match=r"sway; expected at most .* rad/s; got 31\.4 rad/s"):
        ActionHarness(sway, parameters={"angle": 1.0, "period": 0.2})
    with pytest.raises(DefinitionError, match="parameter 'joint'; expected 0 to 6; got 7"):
        ActionHarness(sway, parameters={"joint": 7})


def test_its_command_line_runs_it_alone(example, monkeypatch, capsys):
    module = example("25_c_action")
    monkeypatch.setattr("sys.argv", ["25_c_action.py"])
    assert module.command_line() == 0
    assert capsys.readouterr().out == "after 6.0 s joint 3 has swayed up to 0.200 rad\n"


def test_it_sways_in_the_loop_of_a_workcell_that_trusts_the_examples(example):
    module = example("25_c_action")
    with LockstepCell(ROOT / "config/iiwa.yaml", hardware="mock") as cell:
        session = cell.session("arm")
        assert cell.server.load_action_types(module.Sway) == ("sway",)
        here = cell.part("arm").commanded_position[:7]
        session.add(Action("sway", "sway"), Action("move", "move_joint", position=(here + 0.1).tolist()))
        session.start("move")
        cell.step(200)
        session.start("sway")
        cell.step(10)
        assert cell.active("arm") == "move", "a start while the arm moves is refused, and changes nothing"
        cell.step_until(lambda: cell.part("arm").at_rest == 1.0)
        cell.step(100)
        session.start("sway")
        place, highest = cell.part("arm").commanded_position[3], 0.0

        def done() -> bool:
            nonlocal highest
            highest = max(highest, cell.part("arm").commanded_position[3] - place)
            return session.value("sway.is_done") == 1.0

        cell.step_until(done)
        assert highest == pytest.approx(0.2, abs=1e-3)
        assert cell.part("arm").commanded_position[3] == pytest.approx(place, abs=1e-9)
        assert not cell.kinds("action_failed", "part_faulted")


def test_its_program_loads_it_and_follows_it_to_its_end(example, capsys):
    with LockstepClient(ROOT / "config/iiwa.yaml", hardware="mock") as client:
        assert example("25_c_action").main(client)
    assert capsys.readouterr().out.startswith("sway: reached in tick ")
