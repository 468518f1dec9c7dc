"""V23: the planning workcells mean the same to the planner, MuJoCo, PyBullet and Pinocchio."""

import tempfile
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pybullet
import pytest

from robot_rt_control.hardware.from_workcell import hardware_info
from robot_rt_control.hardware.mujoco.parameters import MujocoParameters
from robot_rt_control.hardware.mujoco.world import MujocoWorld
from robot_rt_control.hardware.parameters import checked
from robot_rt_control.hardware.pybullet.world import PyBulletWorld
from robot_rt_control.hardware.world.tools import write_with_tools
from robot_rt_control.model.pose import Pose
from robot_rt_control.model.robot.urdf_file import urdf_file
from robot_rt_control.model.workcell.workcell import load_workcell
from robot_rt_control.planning.scene.scene import build_scene
from robot_rt_control.planning.task import PairGroup, Task

CONFIG = Path(__file__).parents[4] / "config"
TIPS = ("left_hand", "right_hand", "left_foot", "right_foot")
CELLS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "push": ("box", {"arm.peg": ("back",)}),
    "pusher": ("slider", {"pusher.tip": ("back",)}),
    "base_push": ("box", {"base.base_link": ("back",)}),
    "base_push_smooth": ("box", {"base.base_link": ("back",)}),
    "pinch": ("cube", {"arm.left_finger": ("left",), "arm.right_finger": ("right",)}),
    "humanoid": ("left_arm.torso", {f"left_arm.{tip}": ("brick_1.top", "brick_3.back") for tip in TIPS}),
}


class Cell:
    """A workcell as MuJoCo, PyBullet and Pinocchio have it."""

    def __init__(self, name):
        body, pairs = CELLS[name]
        groups = tuple(PairGroup(robot=robot, faces=faces) for robot, faces in pairs.items())
        path = CONFIG / f"{name}.yaml"
        self.scene = build_scene(Task(workcell=path, body=body, target=Pose(), pairs=groups, time=1.0, steps=20))
        self.workcell = load_workcell(path, "simulator", simulator="pybullet")
        device = self.workcell.devices[0]
        self.parameters = checked(MujocoParameters, device.config, "test")
        self.world = PyBulletWorld(hardware_info(self.workcell, device), self.parameters)
        self.part = next(part for part in self.workcell.parts if part.urdf is not None)
        assert self.part.urdf is not None
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "robot.urdf"
            write_with_tools(urdf_file(self.part.urdf), self.parameters.world.tools, file, "test")
            self.robot = pinocchio.buildModelFromUrdf(str(file))
        X = self.part.root.matrix
        self.root = pinocchio.SE3(X[:3, :3], X[:3, 3])
        self.names = [name for name in self.robot.names if name != "universe"]

    def joint(self, name):
        """MuJoCo's, of whichever part has it."""
        names = [f"{part.name}.{name}" for part in self.workcell.parts]
        ids = [mujoco.mj_name2id(self.scene.model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in names]
        return max(ids)

    def configurations(self, count):
        """q in MuJoCo's order, and in Pinocchio's, where a continuous joint is cosine and sine."""
        random, model = np.random.default_rng(5), self.scene.model
        for _ in range(count):
            ours, theirs = self.scene.qpos.copy(), np.zeros(self.robot.nq)
            for name in self.names:
                value = random.uniform(-1.5, 1.5)
                ours[model.jnt_qposadr[self.joint(name)]] = value
                joint = self.robot.joints[self.robot.getJointId(name)]
                theirs[joint.idx_q : joint.idx_q + joint.nq] = (
                    [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
                )
            yield ours, theirs

    @property
    def v(self):
        """Places of Pinocchio's joints in MuJoCo's velocities."""
        return [int(self.scene.model.jnt_dofadr[self.joint(name)]) for name in self.names]

    @property
    def moving(self):
        """Name → MuJoCo's body and PyBullet's link, of links that a joint moves."""
        model, robot = self.scene.model, self.world.robot(self.part.name, "test")
        found = {}
        for name, link in robot.links.items():
            body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"{self.part.name}.{name}")
            if model.body_weldid[body] != 0:
                found[name] = body, link
        return found

    def dynamics(self, body, link=-1):
        return pybullet.getDynamicsInfo(body, link, physicsClientId=self.world.client)


@pytest.fixture(scope="module", params=list(CELLS))
def cell(request):
    made = Cell(request.param)
    yield made
    made.world.close()


def test_V23_poses_of_all_links_are_those_of_pinocchio(cell):
    model, data, other = cell.scene.model, mujoco.MjData(cell.scene.model), cell.robot.createData()
    for ours, theirs in cell.configurations(10):
        data.qpos[:] = ours
        mujoco.mj_kinematics(model, data)
        pinocchio.framesForwardKinematics(cell.robot, other, theirs)
        for name, (body, _) in cell.moving.items():
            pose = cell.root * other.oMf[cell.robot.getFrameId(name)]
            assert data.xpos[body] == pytest.approx(pose.translation, abs=1e-9), name
            assert data.xmat[body].reshape(3, 3) == pytest.approx(pose.rotation, abs=1e-9), name


def test_V23_mass_matrix_and_gravity_are_those_of_pinocchio(cell):
    model, data, other = cell.scene.model, mujoco.MjData(cell.scene.model), cell.robot.createData()
    cell.robot.gravity.linear = cell.root.rotation.T @ model.opt.gravity
    M = np.zeros((model.nv, model.nv))
    for ours, theirs in cell.configurations(10):
        data.qpos[:] = ours
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        expected = pinocchio.crba(cell.robot, other, theirs)
        expected = np.triu(expected) + np.triu(expected, 1).T
        assert M[np.ix_(cell.v, cell.v)] == pytest.approx(expected, abs=1e-6)
        gravity = pinocchio.computeGeneralizedGravity(cell.robot, other, theirs)
        assert data.qfrc_bias[cell.v] == pytest.approx(gravity, abs=1e-6)


def test_V23_the_planner_s_bodies_are_those_that_the_mujoco_plugin_simulates(cell):
    planned = cell.scene.model
    simulated = MujocoWorld(hardware_info(cell.workcell, cell.workcell.devices[0]), cell.parameters).model
    names = [planned.body(i).name for i in range(1, planned.nbody)]
    assert names == [simulated.body(i).name for i in range(1, simulated.nbody)]
    for field in ("body_pos", "body_quat", "body_mass", "body_inertia", "body_ipos", "body_iquat"):
        assert getattr(planned, field) == pytest.approx(getattr(simulated, field)), field


def test_V23_masses_of_links_and_objects_are_those_of_pybullet(cell):
    model = cell.scene.model
    robot = cell.world.robot(cell.part.name, "test")
    assert cell.moving
    for name, (body, link) in cell.moving.items():
        assert model.body_mass[body] == pytest.approx(cell.dynamics(robot.body, link)[0]), name
    for name, thing in cell.world.objects.items():
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        if model.body_weldid[body] != 0:
            mass, _, inertia = cell.dynamics(thing)[:3]
            assert model.body_mass[body] == pytest.approx(mass)
            assert sorted(model.body_inertia[body]) == pytest.approx(sorted(inertia), rel=1e-6)


def test_V23_the_mass_matrix_is_that_of_pybullet(cell):
    """Also the inertias, then: PyBullet takes those of the URDF."""
    model, data = cell.scene.model, mujoco.MjData(cell.scene.model)
    robot = cell.world.robot(cell.part.name, "test")
    order = sorted(cell.names, key=lambda name: robot.joints[name])
    joints = [cell.joint(name) for name in order]
    v = [int(model.jnt_dofadr[joint]) for joint in joints]
    M = np.zeros((model.nv, model.nv))
    for ours, _ in cell.configurations(5):
        data.qpos[:] = ours
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        positions = [float(ours[model.jnt_qposadr[joint]]) for joint in joints]
        found = pybullet.calculateMassMatrix(robot.body, positions, physicsClientId=cell.world.client)
        assert M[np.ix_(v, v)] == pytest.approx(np.array(found), abs=1e-6)


def test_V23_friction_of_each_pair_is_the_product_that_pybullet_takes(cell):
    model = cell.scene.model
    robot = cell.world.robot(cell.part.name, "test")

    def friction(geom):
        name = model.geom(geom).name.split("/")[0]
        if name in cell.world.objects:
            return cell.dynamics(cell.world.objects[name])[1]
        return cell.dynamics(robot.body, robot.links[name.removeprefix(f"{cell.part.name}.")])[1]

    assert model.npair > 0
    for first, second, found in zip(model.pair_geom1, model.pair_geom2, model.pair_friction, strict=True):
        assert found[:2] == pytest.approx(max(friction(first) * friction(second), 1e-5)), model.geom(first).name


def test_V23_nothing_has_armature_and_only_the_damping_of_the_urdf(cell):
    model, robot = cell.scene.model, cell.world.robot(cell.part.name, "test")
    assert (model.dof_armature == 0.0).all()
    for name in cell.names:
        info = pybullet.getJointInfo(robot.body, robot.joints[name], physicsClientId=cell.world.client)
        assert model.dof_damping[model.jnt_dofadr[cell.joint(name)]] == pytest.approx(info[6]), name
