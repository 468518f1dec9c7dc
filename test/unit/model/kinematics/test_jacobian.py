"""The Jacobian against Pinocchio and against finite differences of our own forward kinematics."""

import numpy as np
import pinocchio as pin
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model.kinematics.forward import forward
from robot_rt_control.model.kinematics.jacobian import jacobian, pose_and_jacobian


def _jacobian(arm, q):
    J = np.full((6, 16), 7.0)
    jacobian(arm.record, q, J)
    assert (J[:, arm.n :] == 7.0).all()  # unused columns stay
    return J[:, : arm.n]


def test_real_arms(arm):
    for q in arm.configurations(200):
        np.testing.assert_allclose(_jacobian(arm, q), arm.jacobian(q), atol=1e-12)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 16))
def test_random_chains(random_arm, seed, n):
    arm = random_arm(seed, n)
    q = arm.configurations(1, seed)[0]
    np.testing.assert_allclose(_jacobian(arm, q), arm.jacobian(q), atol=1e-11)


def _pose(arm, q):
    p, quat = np.zeros(3), np.zeros(4)
    forward(arm.record, q, p, quat)
    return p, pin.Quaternion(quat).toRotationMatrix()


def test_finite_differences(arm):
    h = 1e-6
    for q in arm.configurations(20):
        J = _jacobian(arm, q)
        for j in range(arm.n):
            step = np.zeros(arm.n)
            step[j] = h
            p0, R0 = _pose(arm, q - step)
            p1, R1 = _pose(arm, q + step)
            np.testing.assert_allclose(J[:3, j], (p1 - p0) / (2 * h), atol=1e-8)
            np.testing.assert_allclose(J[3:, j], pin.log3(R1 @ R0.T) / (2 * h), atol=1e-8)


def test_pose_and_jacobian_is_both(arm):
    for q in arm.configurations(20):
        p, quat, J = np.zeros(3), np.zeros(4), np.zeros((6, 16))
        pose_and_jacobian(arm.record, q, p, quat, J)
        expected_p, expected_quat = np.zeros(3), np.zeros(4)
        forward(arm.record, q, expected_p, expected_quat)
        np.testing.assert_array_equal(p, expected_p)
        np.testing.assert_array_equal(quat, expected_quat)
        np.testing.assert_array_equal(J[:, : arm.n], _jacobian(arm, q))
