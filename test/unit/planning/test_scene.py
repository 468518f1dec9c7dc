"""The scene means what the URDF and PyBullet mean: poses, masses, gravity, mass matrix, friction, what collides."""

from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco", reason="the extra `planning` is not installed")
pinocchio = pytest.importorskip("pinocchio")

from robot_rt_control.model.paths import resolve_path  # noqa: E402
from robot_rt_control.model.pose import Pose  # noqa: E402
from robot_rt_control.planning.scene import build_scene  # noqa: E402
from robot_rt_control.planning.task import PairGroup, Task  # noqa: E402
from robot_rt_control.vocabulary.errors import DefinitionError  # noqa: E402

CONFIG = Path(__file__).parents[3] / "config"


def push(**changes):
    values = {
        "workcell": CONFIG / "push.yaml",
        "body": "box",
        "target": Pose(position=(0.7, 0.0, 0.04)),
        "pairs": (PairGroup(robot="arm.peg", faces=("back", "left")),),
        "time": 1.0,
        "steps": 20,
    }
    return Task(**{**values, **changes})


@pytest.fixture(scope="module")
def scene():
    return build_scene(push())


@pytest.fixture(scope="module")
def bare():
    """The iiwa without its peg, as Pinocchio reads it."""
    path = resolve_path("pybullet_data://kuka_iiwa/model.urdf", Path.cwd(), "test")
    return pinocchio.buildModelFromUrdf(str(path))


def random_positions(count):
    random = np.random.default_rng(3)
    return random.uniform(-1.5, 1.5, size=(count, 7))


def test_link_poses_are_those_of_pinocchio(scene, bare):
    data, other = mujoco.MjData(scene.model), bare.createData()
    for q in random_positions(20):
        data.qpos[scene.actuated.q] = q
        mujoco.mj_kinematics(scene.model, data)
        pinocchio.framesForwardKinematics(bare, other, q)
        for i in range(8):
            name = f"lbr_iiwa_link_{i}"
            pose = other.oMf[bare.getFrameId(name)]
            body = mujoco.mj_name2id(scene.model, mujoco.mjtObj.mjOBJ_BODY, f"arm.{name}")
            assert data.xpos[body] == pytest.approx(pose.translation, abs=1e-9)
            assert data.xmat[body].reshape(3, 3) == pytest.approx(pose.rotation, abs=1e-9)


def test_mass_matrix_and_gravity_are_those_of_pinocchio(scene, bare):
    """With the peg's mass taken away from both: it is added by the workcell, not by the URDF."""
    model = scene.model
    peg = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "arm.peg")
    mass, inertia, compensated = model.body_mass[peg], model.body_inertia[peg].copy(), model.body_gravcomp.copy()
    model.body_mass[peg], model.body_inertia[peg], model.body_gravcomp[:] = 0.0, 0.0, 0.0
    data, other = mujoco.MjData(model), bare.createData()
    M, v = np.zeros((model.nv, model.nv)), scene.actuated.v
    try:
        for q in random_positions(20):
            data.qpos[scene.actuated.q] = q
            mujoco.mj_forward(model, data)
            mujoco.mj_fullM(model, data, M)
            expected = pinocchio.crba(bare, other, q)
            expected = np.triu(expected) + np.triu(expected, 1).T
            assert M[np.ix_(v, v)] == pytest.approx(expected, abs=1e-6)
            gravity = pinocchio.computeGeneralizedGravity(bare, other, q)
            assert data.qfrc_bias[v] == pytest.approx(gravity, abs=1e-6)
    finally:
        model.body_mass[peg], model.body_inertia[peg], model.body_gravcomp[:] = mass, inertia, compensated


def test_no_armature_and_only_the_damping_of_the_urdf(scene):
    assert (scene.model.dof_armature == 0.0).all()
    assert scene.model.dof_damping[scene.actuated.v] == pytest.approx(np.full(7, 0.5))
    assert (scene.model.dof_damping[scene.body_v : scene.body_v + 6] == 0.0).all()


def test_friction_of_pairs_is_the_product_and_only_the_task_s_geometries_collide(scene):
    model = scene.model
    assert (model.geom_contype == 0).all() and (model.geom_conaffinity == 0).all()
    names = [model.geom(i).name for i in range(model.ngeom)]
    pairs = zip(model.pair_geom1, model.pair_geom2, model.pair_friction, strict=True)
    found = {frozenset((names[a], names[b])): friction[0] for a, b, friction in pairs}
    assert found == {
        frozenset(("box", "floor")): pytest.approx(0.5 * 1.0),
        frozenset(("box", "arm.peg/0")): pytest.approx(0.5 * 0.5),
        frozenset(("floor", "arm.peg/0")): pytest.approx(0.5 * 1.0),
    }
    assert scene.body_friction == pytest.approx(0.5)


def test_the_body_is_the_solid_box_of_the_workcell(scene):
    assert scene.body_mass == pytest.approx(0.155)
    x, y, z = 0.15, 0.30, 0.08
    expected = 0.155 / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    assert sorted(scene.model.body_inertia[scene.body]) == pytest.approx(sorted(expected))


def test_limits_are_those_of_the_workcell(scene):
    assert scene.actuated.velocity == pytest.approx([1.48, 1.48, 1.75, 1.31, 2.27, 2.36, 2.36])
    assert scene.model.jnt_actfrcrange[0] == pytest.approx([-300.0, 300.0])


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"body": "bocks"}, "body 'bocks'; expected"),
        ({"body": "floor"}, "body 'floor'; expected a free box"),
        ({"pairs": (PairGroup(robot="arm.pegg", faces=("back",)),)}, "did you mean 'arm.peg'"),
        ({"pairs": (PairGroup(robot="arm.peg", faces=("bak",)),)}, "did you mean 'back'"),
    ],
)
def test_what_the_workcell_does_not_have(changes, text):
    with pytest.raises(DefinitionError, match=text):
        build_scene(push(**changes))


@pytest.mark.parametrize(
    "changes, text",
    [
        ({"time": float("nan")}, "horizon, time; expected a positive number of seconds; got nan"),
        ({"steps": 0}, "horizon, steps; expected at least 1; got 0"),
        ({"pairs": ()}, "pairs; expected at least one contact pair; got none"),
        ({"pairs": (PairGroup(robot="a.b", faces=("back",), curvature=-1.0),)}, "curvature; expected a positive"),
    ],
)
def test_values_out_of_range(changes, text):
    with pytest.raises(DefinitionError, match=text):
        push(**changes)
