"""Poses in files, descriptions and parameters."""

import numpy as np
import pytest
from pydantic import ValidationError

from robot_rt_control.model.pose import Pose


def test_pose_round_trip():
    pose = Pose(position=(1.0, 2.0, 3.0), orientation=(0.5, -0.5, 0.5, 0.5))
    back = Pose.of_matrix(pose.matrix)
    np.testing.assert_allclose(back.position, pose.position)
    np.testing.assert_allclose(back.orientation, pose.orientation, atol=1e-15)


def test_it_takes_coordinates_in_b_to_those_in_a():
    X_AB = Pose(position=(1.0, 2.0, 3.0), orientation=(0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))).matrix
    np.testing.assert_allclose(X_AB @ [1.0, 0.0, 0.0, 1.0], [1.0, 3.0, 3.0, 1.0], atol=1e-15)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"orientation": [0, 0, 0, 2]}, "a quaternion x, y, z, w of length 1 .within 0.001."),
        ({"position": [0, 0]}, "three numbers x, y, z"),
        ({"position": [0, 0, float("nan")]}, "a list of finite numbers"),
        ({"psition": [0, 0, 0]}, "did you mean 'position'"),
    ],
)
def test_a_wrong_pose_is_refused(given, text):
    with pytest.raises(ValidationError, match=text):
        Pose.model_validate(given)
