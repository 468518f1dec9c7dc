"""What sensors measure in PyBullet, for hardware/world/sensors.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import mul

import numpy as np
import pybullet

from robot_rt_control.model.pose import Pose


def _rotation(orientation: tuple[float, ...]) -> np.ndarray:
    """3x3 matrix of a quaternion x y z w."""
    return np.array(pybullet.getMatrixFromQuaternion(orientation)).reshape(3, 3)


class Ray:
    """[m] Distance along z of a frame to the next surface; inf: there is none within the length.

    Args:
        link: gives the frame of the link on which it is mounted; None: the world.
        pose: X_LS in that frame.
    """

    def __init__(self, client: int, link: Callable[[], tuple] | None, pose: Pose, length: float) -> None:
        self._client, self._link, self._length = client, link, length
        self._pose = pose.position, pose.orientation

    def __call__(self) -> float:
        start, orientation = self._pose
        if self._link is not None:
            start, orientation = pybullet.multiplyTransforms(*self._link(), *self._pose)
        end, _ = pybullet.multiplyTransforms(start, orientation, (0.0, 0.0, self._length), (0.0, 0.0, 0.0, 1.0))
        hit = pybullet.rayTest(start, end, physicsClientId=self._client)[0]
        return math.inf if hit[0] < 0 else float(hit[2] * self._length)


class JointReaction:
    """The wrench that the environment exerts on the tool after a joint, in the sensor frame.

    The simulator gives R, what the link before the joint exerts on the one after it, about that link's center of
    mass and in its inertial frame. What is reported is -R, moved to the sensor frame.

    Args:
        joint: PyBullet's index, which is also that of the link after it.
        pose: X_LS of the sensor in that link's frame.
    """

    def __init__(self, client: int, body: int, joint: int, pose: Pose) -> None:
        self._client, self._body, self._joint = client, body, joint
        pybullet.enableJointForceTorqueSensor(self._body, self._joint, True, physicsClientId=self._client)
        dynamics = pybullet.getDynamicsInfo(self._body, self._joint, physicsClientId=self._client)
        sensor = pybullet.invertTransform(pose.position, pose.orientation)
        # X_SC: the inertial frame C of the joint's child link, in the sensor frame S
        position, orientation = pybullet.multiplyTransforms(*sensor, dynamics[3], dynamics[4])
        turn = _rotation(orientation)
        x, y, z = position
        lever = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        transform = np.zeros((6, 6))
        transform[:3, :3] = transform[3:, 3:] = -turn
        transform[3:, :3] = -lever @ turn
        # The reaction lacks what the joint's own drive exerts along its axis, which is also given in frame C.
        info = pybullet.getJointInfo(self._body, self._joint, physicsClientId=self._client)
        drive = np.zeros(6)
        if info[2] == pybullet.JOINT_PRISMATIC:
            drive[:3] = info[13]
        elif info[2] == pybullet.JOINT_REVOLUTE:
            drive[3:] = info[13]
        # As numbers: for so few, the library that multiplies matrices takes ten times as long beside a simulation.
        self._rows = [tuple(row) for row in np.column_stack([transform, transform @ drive]).tolist()]

    def __call__(self, state: np.ndarray) -> None:
        """Fill force [N] and torque [Nm]."""
        _, _, reaction, effort = pybullet.getJointState(self._body, self._joint, physicsClientId=self._client)
        values = (*reaction, effort)
        state[:] = [sum(map(mul, row, values)) for row in self._rows]
