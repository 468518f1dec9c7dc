"""Plan files: the same bytes, read back, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest

from robot_rt_control.planning.plan import FORMAT, Plan
from robot_rt_control.vocabulary.errors import DefinitionError


def make(**changes):
    header = {"format": FORMAT, "joints": ["a.j", "a.k"], "pairs": ["p"], "steps": 3, "time": 1.0}
    random = np.random.default_rng(0)
    arrays = {
        "position": random.normal(size=(4, 2)),
        "velocity": random.normal(size=(4, 2)),
        "inputs": random.normal(size=(3, 2)),
        "body_position": random.normal(size=(4, 3)),
        "body_rotation": random.normal(size=(4, 3, 3)),
        "distance": random.normal(size=(4, 1)),
        "stiffness": random.normal(size=(3, 1)),
        "virtual_force": random.normal(size=(3, 1)),
        "virtual_distance": random.normal(size=(4, 1)),
    }
    return Plan(header=header | changes.pop("header", {}), **{**arrays, **changes})


def test_saved_and_loaded(tmp_path):
    plan = make()
    plan.save(tmp_path / "push.plan")
    loaded = Plan.load(tmp_path / "push.plan")
    assert loaded.header == plan.header
    assert (loaded.position == plan.position).all() and (loaded.body_rotation == plan.body_rotation).all()


def test_the_same_plan_gives_the_same_bytes(tmp_path):
    make().save(tmp_path / "a")
    make().save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_missing_file(tmp_path):
    with pytest.raises(DefinitionError, match="expected a file; got nothing there"):
        Plan.load(tmp_path / "none")


@pytest.mark.parametrize("keep", [0, 10, 300, -10])
def test_a_damaged_file(tmp_path, keep):
    make().save(tmp_path / "a")
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:keep])
    with pytest.raises(DefinitionError, match="expected a plan file; got a damaged one"):
        Plan.load(tmp_path / "a")


def test_another_format(tmp_path):
    make(header={"format": 0}).save(tmp_path / "a")
    with pytest.raises(DefinitionError, match=f"expected format {FORMAT}; got 0. Plan again"):
        Plan.load(tmp_path / "a")


def test_wrong_shapes_and_values(tmp_path):
    make(inputs=np.zeros((2, 2))).save(tmp_path / "a")
    with pytest.raises(DefinitionError, match=r"inputs; expected shape \(3, 2\); got \(2, 2\)"):
        Plan.load(tmp_path / "a")
    make(inputs=np.full((3, 2), np.nan)).save(tmp_path / "a")
    with pytest.raises(DefinitionError, match="inputs; expected finite numbers"):
        Plan.load(tmp_path / "a")


def test_the_trajectory_of_a_part_comes_to_rest_one_step_after_its_end():
    parameters = make(header={"velocity_driven": [True, True]}).track_parameters("a")
    positions, velocities = (np.reshape(parameters[name], (5, 2)) for name in ("positions", "velocities"))
    assert parameters["times"] == pytest.approx([0, 1 / 3, 2 / 3, 1, 4 / 3])
    assert (positions[:4] == make().position).all() and (velocities[:4] == make().velocity).all()
    assert (velocities[4] == 0).all()
    assert positions[4] == pytest.approx(positions[3] + velocities[3] / 6)


def test_a_part_that_cannot_be_played():
    with pytest.raises(DefinitionError, match="part 'b'; expected"):
        make().track_parameters("b")
    with pytest.raises(DefinitionError, match="expected a velocity-driven part; got one driven by efforts"):
        make(header={"velocity_driven": [True, False]}).track_parameters("a")


def test_it_is_read_without_simulator_and_compiler():
    code = "import robot_rt_control.planning.plan, sys; print([m for m in sys.modules if m in ('mujoco', 'numba')])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "[]"
