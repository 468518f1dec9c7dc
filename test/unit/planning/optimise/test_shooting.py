"""Shooting: inputs that miss the target are corrected by whole rollouts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.guess.pushing import Pushing
from robot_rt_control.planning.optimise.problem import Problem
from robot_rt_control.planning.optimise.settings import Settings
from robot_rt_control.planning.optimise.shooting import ShootingSettings, shoot
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.solve.perturbation import PERTURBATIONS, perturbed_rollouts, spread
from robot_rt_control.planning.task import PairGroup, Task

TASK = Task(
    workcell=Path(__file__).parents[4] / "config" / "pusher.yaml",
    body="slider",
    target=Pose(position=(0.33, 0.0, 0.05)),
    pairs=(PairGroup(robot="pusher.tip", faces=("back",)),),
    controls={"pusher": "effort"},
    time=1.0,
    steps=20,
)


@pytest.fixture(scope="module")
def problem():
    return Problem(TASK, Settings(threads=1), build_scene(TASK))


@pytest.fixture
def dynamics(problem):
    made = problem.dynamics(1)
    yield made
    made.close()


def guided(problem, dynamics, share=0.9):
    _, geom, row = Pushing(problem).pushes()[0]
    return Pushing(problem).inputs(dynamics, share, geom=geom, row=row)


def test_inputs_that_miss_the_target_are_corrected_within_the_limits(problem, dynamics):
    limits, cost = replace(problem.limits, stiffness=0.0), problem.cost.with_penalty(0.0)
    start = dynamics.roll_out(guided(problem, dynamics))
    assert problem.error(start).normalized > 0.02
    found = dynamics.roll_out(shoot(dynamics, cost, limits, start, ShootingSettings()))
    assert problem.error(found).normalized < 0.01
    assert cost.value(found) < cost.value(start)
    assert (np.abs(found.inputs[:, : problem.n]) <= 1.0).all()
    assert (found.inputs[:, problem.n :] == 0.0).all()


def test_ends_are_those_of_rollouts(problem, dynamics):
    """But for the solver's tolerance: a rollout restarts it in each interval."""
    inputs = guided(problem, dynamics)
    one, ends = dynamics.roll_out(inputs), dynamics.ends(np.array([inputs, 0.5 * inputs])[:, :, : problem.n])
    assert ends.body_position[0] == pytest.approx(one.body_position[-1], abs=1e-5)
    assert ends.body_velocity[0] == pytest.approx(one.body_velocity[-1], abs=1e-3)
    assert ends.joint_velocity[0] == pytest.approx(one.joint_velocity[-1], abs=1e-4)
    assert (ends.speed[0] >= np.abs(ends.joint_velocity[0])).all()


def test_the_guide_of_an_effort_driven_joint_is_its_inverse_dynamics(problem, dynamics):
    """Before the tip touches the slider it is where the path is."""
    found = dynamics.roll_out(guided(problem, dynamics))
    before = np.flatnonzero(~found.touching)
    assert len(before) > 3
    inputs = found.inputs[before, 0] * dynamics.scale[0]
    acceleration = np.diff(found.joint_velocity[:, 0])[before] / TASK.control_step
    ratio = inputs[np.abs(acceleration) > 0.1] / acceleration[np.abs(acceleration) > 0.1]
    assert ratio == pytest.approx(np.full(len(ratio), ratio[0]), rel=0.05)


def test_perturbed_scenes_end_elsewhere_and_the_scene_itself_is_left_as_it_is(problem, dynamics):
    nominal = dynamics.roll_out(guided(problem, dynamics))
    friction, mass = problem.scene.model.pair_friction.copy(), problem.scene.model.body_mass.copy()
    found = perturbed_rollouts(problem, nominal)
    assert [outcome.name for outcome in found] == [its.name for its in PERTURBATIONS]
    assert all(0.0 < outcome.position < 0.1 for outcome in found)
    assert spread(problem, nominal) == max(its.position for its in found) / problem.cost.distance
    assert (problem.scene.model.pair_friction == friction).all()
    assert (problem.scene.model.body_mass == mass).all()
    assert dynamics.roll_out(nominal.inputs).knots.tobytes() == nominal.knots.tobytes()
