"""What plays plans for a planner."""

from pathlib import Path

import pytest

from robot_rt_control.model.workcell.simulators import installed_simulators
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.testing.lockstep_client import LockstepClient
from robot_rt_control.testing.plan_player import finer
from robot_rt_control.testing.plan_replay import simulation

CELL = Path(__file__).parents[3] / "config" / "pusher.yaml"


@pytest.mark.parametrize("simulator", installed_simulators())
def test_V36_a_finer_replay_has_half_of_the_step_in_the_same_workcell(simulator):
    cell = load_workcell(CELL, "simulator", simulator=simulator)
    substeps = []
    for its in (cell, finer(cell), finer(finer(cell))):
        assert its.digest == cell.digest
        with LockstepClient(its) as client:
            substeps.append(simulation(client).world.substeps)
    assert substeps == [1, 2, 4]
