"""What Python calls gives what compiled code computes."""

from __future__ import annotations

import numpy as np
import pytest

from robot_rt_control.model.kinematics.calls import forward_kinematics, pose_error
from robot_rt_control.model.kinematics.kinematics import forward, jacobian, orientation_error


def test_the_pose_is_that_of_the_tick(arm):
    for q in arm.configurations(20):
        p, quat = np.zeros(3), np.zeros(4)
        forward(arm.record, q, p, quat)
        found = forward_kinematics(arm.record, [*q, 7.0])  # more numbers than joints, as records have
        np.testing.assert_array_equal(found[0], p)
        np.testing.assert_array_equal(found[1], quat)


def test_a_joint_that_is_not_known_gives_nan(iiwa):
    p, quat = forward_kinematics(iiwa.record, [np.nan] * 7)
    assert np.isnan(p).all() and np.isnan(quat).all()


def test_the_error_and_its_jacobian_are_those_of_the_tick(arm):
    goal, *others = arm.configurations(20)
    p, quat = forward_kinematics(arm.record, goal)
    for q in others:
        e, J = pose_error(arm.record, q, p, quat)
        there = forward_kinematics(arm.record, q)
        rotation, expected = np.zeros(3), np.zeros((6, len(q)))
        orientation_error(quat, there[1], rotation)
        jacobian(arm.record, q, expected)
        np.testing.assert_allclose(e, [*(p - there[0]), *rotation], atol=1e-14)
        np.testing.assert_allclose(J, expected, atol=1e-14)


def test_too_few_joints_are_an_error(iiwa):
    with pytest.raises(ValueError, match="broadcast"):
        forward_kinematics(iiwa.record, [0.0] * 3)
