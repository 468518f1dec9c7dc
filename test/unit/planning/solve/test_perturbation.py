"""Scenes that differ from the model: by what they are told, and by nothing else."""

import math
from pathlib import Path

import numpy as np
import pytest

from robot_rt_control.model.pose import Pose
from robot_rt_control.planning.scene.perturbed_scene import Perturbation, perturbed
from robot_rt_control.planning.scene.scene import build_scene, is_free
from robot_rt_control.planning.solve.verify import PERTURBED
from robot_rt_control.planning.task import PairGroup, Task

FIELDS = ("pair_friction", "pair_solref", "body_mass", "body_inertia")


@pytest.fixture(scope="module")
def scene():
    return build_scene(
        Task(
            workcell=Path(__file__).parents[4] / "config" / "pusher.yaml",
            body="slider",
            target=Pose(position=(0.33, 0.0, 0.05)),
            pairs=(PairGroup(robot="pusher.tip", faces=("back",)),),
            time=1.0,
            steps=20,
        )
    )


@pytest.mark.parametrize(
    ("by", "field", "factor"),
    [
        (Perturbation(name="a", friction=0.7), "pair_friction", 0.7),
        (Perturbation(name="a", stiffness=4.0), "pair_solref", 0.5),
        (Perturbation(name="a", stiffness=0.25), "pair_solref", 2.0),
        (Perturbation(name="a", mass=1.2), "body_mass", 1.2),
    ],
)
def test_V19_one_property_differs_and_the_scene_itself_does_not(scene, by, field, factor):
    before = {name: getattr(scene.model, name).copy() for name in FIELDS}
    found = perturbed(scene, by)
    for name in FIELDS:
        assert (getattr(scene.model, name) == before[name]).all()
        changed = getattr(found.model, name) != before[name]
        assert changed.any() == (name == field or (name == "body_inertia" and field == "body_mass")), name
    changed = getattr(found.model, field) != before[field]
    assert getattr(found.model, field)[changed] == pytest.approx(factor * before[field][changed])
    assert (found.qpos == scene.qpos).all()


def test_V19_a_contact_is_never_too_stiff_for_the_time_step(scene):
    for by in PERTURBED:
        found = perturbed(scene, by)
        assert found.model.pair_solref[:, 0].min() >= 2.0 * found.model.opt.timestep - 1e-12, by.name


def test_V19_the_start_is_shifted_and_turned_in_the_world(scene):
    assert is_free(scene)
    found = perturbed(scene, Perturbation(name="a", shift=(0.005, -0.002), turn=0.1))
    b = scene.body_q
    assert found.qpos[b : b + 3] - scene.qpos[b : b + 3] == pytest.approx([0.005, -0.002, 0.0])
    assert found.qpos[b + 3 : b + 7] == pytest.approx([math.cos(0.05), 0.0, 0.0, math.sin(0.05)])
    assert (np.delete(found.qpos, range(b, b + 7)) == np.delete(scene.qpos, range(b, b + 7))).all()
