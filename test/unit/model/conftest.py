"""Arms for the model tests, each with Pinocchio's model of the same thing as the oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import settings
from samples import tries

from robot_rt_control.model.kinematics.chain import chain_of, empty_chain
from robot_rt_control.model.robot.urdf_reader import read_urdf

CONFIG = Path(__file__).resolve().parents[3] / "config"

# the first example of a kernel compiles it, which is no measure of its speed
settings.register_profile("model", deadline=None, derandomize=True, max_examples=tries(15, whole=60))
settings.load_profile("model")


@dataclass
class Arm:
    """A chain record, the oracle's model, and the frame there that is our tool."""

    record: np.record
    model: pin.Model
    frame: int
    lower: np.ndarray
    upper: np.ndarray

    @property
    def n(self) -> int:
        return int(self.record.n_joints)

    def configurations(self, count: int, seed: int = 1) -> np.ndarray:
        return np.random.default_rng(seed).uniform(self.lower, self.upper, (count, self.n))

    def pose(self, q: np.ndarray) -> pin.SE3:
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, q)
        return data.oMf[self.frame]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        data = self.model.createData()
        J = pin.computeFrameJacobian(self.model, data, q, self.frame, pin.LOCAL_WORLD_ALIGNED)
        return J.reshape(6, self.n)

    def gravity(self, q: np.ndarray) -> np.ndarray:
        return pin.computeGeneralizedGravity(self.model, self.model.createData(), q)


def _from_urdf(file: str, base: str, tip: str) -> Arm:
    urdf = read_urdf(CONFIG / "robots" / file)
    chain = chain_of(urdf, base, tip)
    full = pin.buildModelFromUrdf(str(urdf.path))
    names = list(full.names)
    locked = [i for i in range(1, full.njoints) if names[i] not in chain.joint_names]
    model = pin.buildReducedModel(full, locked, pin.neutral(full)) if locked else full
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    return Arm(
        record=chain.record,
        model=model,
        frame=model.getFrameId(tip),
        lower=np.array([j.lower for j in chain.joints]),
        upper=np.array([j.upper for j in chain.joints]),
    )


@pytest.fixture(scope="session")
def iiwa() -> Arm:
    return _from_urdf("iiwa.urdf", "lbr_iiwa_link_0", "lbr_iiwa_link_7")


@pytest.fixture(scope="session")
def panda() -> Arm:
    """With its fingers, which are a branch of the chain."""
    return _from_urdf("panda.urdf", "panda_link0", "panda_hand")


@pytest.fixture(scope="session", params=["iiwa", "panda"])
def arm(request: pytest.FixtureRequest) -> Arm:
    return request.getfixturevalue(request.param)


def _random_frame(random: np.random.Generator) -> pin.SE3:
    return pin.SE3(pin.Quaternion(*_unit(random, 4)).toRotationMatrix(), random.uniform(-0.4, 0.4, 3))


def _unit(random: np.random.Generator, n: int) -> np.ndarray:
    v = random.normal(size=n)
    return v / np.linalg.norm(v)


def _random_arm(seed: int, n: int) -> Arm:
    random = np.random.default_rng(seed)
    record = empty_chain()
    model = pin.Model()
    record.n_joints = n
    base = _random_frame(random)
    record["base"][:] = base.homogeneous[:3]
    record.gravity[:] = random.uniform(-10, 10, 3)
    model.gravity.linear = np.array(record.gravity)
    joint = 0
    for j in range(n):
        X = _random_frame(random)
        axis = _unit(random, 3)
        prismatic = random.random() < 0.3
        record.joint_type[j] = int(prismatic)
        record.origin[j] = X.homogeneous[:3]
        record.axis[j] = axis
        record.mass[j] = random.uniform(0, 5)
        record.center_of_mass[j] = random.uniform(-0.3, 0.3, 3)
        kind = pin.JointModelPrismaticUnaligned(axis) if prismatic else pin.JointModelRevoluteUnaligned(axis)
        joint = model.addJoint(joint, kind, base * X if j == 0 else X, f"j{j}")
        inertia = pin.Inertia(float(record.mass[j]), np.array(record.center_of_mass[j]), np.eye(3))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    tool = _random_frame(random)
    record.tool[:] = tool.homogeneous[:3]
    frame = model.addFrame(pin.Frame("tool", joint, 0, tool, pin.FrameType.OP_FRAME))
    return Arm(record=record, model=model, frame=frame, lower=np.full(n, -3.0), upper=np.full(n, 3.0))


@pytest.fixture(scope="session")
def random_arm() -> Callable[[int, int], Arm]:
    """(seed, joints) → a chain of revolute and prismatic joints with axes and frames in any direction."""
    return _random_arm


@pytest.fixture(scope="session")
def config_folder() -> Path:
    """The shipped configuration."""
    return CONFIG
