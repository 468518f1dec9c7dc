"""Where residual stiffness draws the geometries, and when."""

from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.optimise.traction import TractionSettings, draw_of, drawn_inputs
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.task import PairGroup, Task


def test_the_draw_begins_before_the_force_is_needed_and_ends_with_it():
    k = np.zeros((10, 2))
    k[5, 1] = 0.4
    draw = draw_of(k, weight=2.0)
    assert draw.shape == (11, 2)
    assert (draw[:, 0] == 0.0).all()
    assert draw[5:7, 1] == pytest.approx([2.0, 2.0])
    assert draw[7:, 1] == pytest.approx(np.zeros(4))
    assert draw[3, 1] == pytest.approx(2.0 * np.exp(-1.0))  # a fifth of the horizon earlier
    assert (np.diff(draw[:6, 1]) > 0).all()


def test_without_residual_there_is_no_draw():
    assert (draw_of(np.zeros((4, 1))) == 0.0).all()


def test_a_single_step_draws_at_both_of_its_ends():
    assert draw_of(np.ones((1, 1)), weight=3.0).ravel() == pytest.approx([3.0, 3.0])


def test_only_ratios_of_the_residual_count():
    k = np.random.default_rng(0).uniform(size=(6, 3))
    assert draw_of(k) == pytest.approx(draw_of(7.0 * k))


CONFIG = Path(__file__).parents[4] / "config"


@pytest.fixture(scope="module", params=["velocity", "effort"])
def still(request):
    """A resting arm before a box, with residual stiffness on its back face: problem, dynamics, trajectory."""
    task = Task(
        workcell=CONFIG / "push.yaml",
        body="box",
        target=Pose(position=(0.7, 0.0, 0.04)),
        pairs=(PairGroup(robot="arm.peg", faces=("back",)),),
        controls={"arm": request.param},
        time=0.6,
        steps=12,
    )
    problem = Problem(task, Settings(threads=1), build_scene(task))
    dynamics = problem.dynamics(1)
    inputs = np.zeros((12, dynamics.inputs))
    inputs[:, -1] = 0.5  # too little to move the box
    yield problem, dynamics, dynamics.roll_out(inputs)
    dynamics.close()


def drawn(still, **settings):
    problem, dynamics, trajectory = still
    return drawn_inputs(dynamics, trajectory, problem.limits, TractionSettings(**settings))


def test_V9_the_traction_controller_pulls_the_geometry_to_the_face(still):
    found = drawn(still)
    assert found.phi[-1, 0] < found.phi[0, 0] - 0.02
    assert (found.inputs[:, -1] == 0.5).all()
    n = still[1].n
    assert (np.abs(found.inputs[:, :n]) <= 1.0).all()
    assert (np.abs(found.joint_velocity) <= still[0].limits.velocity + 1e-6).all()


def test_V9_the_damping_controller_makes_it_slower(still):
    fast, slow = drawn(still, damping=0.0), drawn(still, damping=20.0)
    assert np.abs(slow.joint_velocity).max() < 0.8 * np.abs(fast.joint_velocity).max()


def test_without_residual_nothing_is_pulled(still):
    problem, dynamics, trajectory = still
    calm = dynamics.roll_out(0.0 * trajectory.inputs)
    found = drawn_inputs(dynamics, calm, problem.limits, TractionSettings())
    assert found.joint_position == pytest.approx(calm.joint_position, abs=1e-3)
