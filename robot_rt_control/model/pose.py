"""Poses: in workcell files, in descriptions of parts, and in plugins' parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_rt_control.model.rotation_formulas import quaternion_of_rotation, quaternion_to_matrix
from robot_rt_control.model.schema_types import Quaternion, Triple
from robot_rt_control.text.schema import Model


class Pose(Model):
    """X_AB: position [m] and orientation (unit quaternion x y z w) of a frame B in a frame A.

    It maps the coordinates of a point in B to those in A. The quaternion is normalized; a quaternion whose length
    differs from 1 by more than 0.001 is refused.
    """

    position: Triple = (0.0, 0.0, 0.0)  # p_AB [m]
    orientation: Quaternion = (0.0, 0.0, 0.0, 1.0)  # q_AB, x y z w; the default is the identity

    @property
    def matrix(self) -> NDArray[np.float64]:
        """X_AB as a (4, 4) matrix."""
        X = np.eye(4)
        quaternion_to_matrix(np.array(self.orientation), X[:3, :3])
        X[:3, 3] = self.position
        return X

    @classmethod
    def of_matrix(cls, X: NDArray[np.float64]) -> Pose:
        """From a (4, 4) matrix, or its first three rows."""
        orientation = quaternion_of_rotation(*(float(v) for v in X[:3, :3].ravel()))
        return cls(position=(float(X[0, 3]), float(X[1, 3]), float(X[2, 3])), orientation=orientation)
