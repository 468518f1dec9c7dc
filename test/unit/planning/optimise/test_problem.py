"""What all starts of a search share."""

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.guess.pushing import Pushing
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.task import PairGroup, Task

CONFIG = Path(__file__).parents[4] / "config"
STEPS = 10


@pytest.fixture(scope="module")
def problem():
    task = Task(
        workcell=CONFIG / "base_push.yaml",
        body="box",
        target=Pose(position=(0.95, 0.3, 0.06)),
        pairs=(PairGroup(robot="base.base_link", faces=("back", "right")),),
        time=5.0,
        steps=STEPS,
    )
    return Problem(task, Settings(), build_scene(task))


def test_with_another_curvature_a_scaled_k_pushes_as_much_at_the_start_and_more_or_less_farther_away(problem):
    usual, far = problem.dynamics(1), problem.dynamics(1, curvature=0.5)
    k = np.zeros((STEPS, usual.inputs))
    k[:, usual.n] = 1.0
    pushed, reached = usual.roll_out(k), far.roll_out(k)
    assert reached.gamma[0] == pytest.approx(pushed.gamma[0])
    assert reached.phi[5, 0] > pushed.phi[0, 0], "the box has moved away"
    assert reached.gamma[5, 0] > pushed.gamma[5, 0]


def test_a_guide_with_long_control_steps_rests_where_its_path_does(problem):
    dynamics = problem.dynamics(1)
    for _, geom, row in Pushing(problem).pushes():
        found = dynamics.roll_out(Pushing(problem).inputs(dynamics, 0.75, geom=geom, row=row))
        assert np.abs(found.joint_velocity[-1]).max() < 0.1
        assert problem.error(found).normalized < 0.15
