"""Forward kinematics against Pinocchio."""

import numpy as np
import pinocchio as pin
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model.kinematics.forward import forward, tool_state, tool_twist

ACCURACY = 1e-12


def _forward(record, q):
    p, quat = np.zeros(3), np.zeros(4)
    forward(record, q, p, quat)
    return p, quat


def _check_pose(arm, q):
    p, quat = _forward(arm.record, q)
    X = arm.pose(q)
    np.testing.assert_allclose(p, X.translation, atol=ACCURACY)
    np.testing.assert_allclose(pin.Quaternion(quat).toRotationMatrix(), X.rotation, atol=ACCURACY)
    assert abs(np.linalg.norm(quat) - 1.0) < ACCURACY
    assert quat[3] >= 0.0


def test_pose_of_real_arms(arm):
    for q in arm.configurations(200):
        _check_pose(arm, q)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 16))
def test_pose_of_random_chains(random_arm, seed, n):
    arm = random_arm(seed, n)
    _check_pose(arm, arm.configurations(1, seed)[0])


@given(seed=st.integers(0, 10**6), n=st.integers(1, 16))
def test_twist_is_jacobian_times_velocity(random_arm, seed, n):
    arm = random_arm(seed, n)
    q = arm.configurations(1, seed)[0]
    dq = np.random.default_rng(seed).normal(size=n)
    V = np.zeros(6)
    tool_twist(arm.record, q, dq, V)
    np.testing.assert_allclose(V, arm.jacobian(q) @ dq, atol=1e-11)


def test_tool_state_is_forward_and_twist(arm):
    for q in arm.configurations(50):
        dq = np.cos(5 * q)
        p, quat, V, V_alone = np.zeros(3), np.zeros(4), np.zeros(6), np.zeros(6)
        tool_state(arm.record, q, dq, p, quat, V)
        tool_twist(arm.record, q, dq, V_alone)
        expected_p, expected_quat = _forward(arm.record, q)
        np.testing.assert_array_equal(p, expected_p)
        np.testing.assert_array_equal(quat, expected_quat)
        np.testing.assert_array_equal(V, V_alone)
        np.testing.assert_allclose(V, arm.jacobian(q) @ dq, atol=ACCURACY)


def test_tool_state_gives_a_quaternion_without_jumps(iiwa):
    p, quat, V = np.zeros(3), np.zeros(4), np.zeros(6)
    dq = np.zeros(7)
    jumps_of_forward = 0
    before = None
    for angle in np.linspace(-2.9, 2.9, 400):
        q = np.array([angle, 0.3, -angle, -1.2, 0.5 * angle, 1.4, angle])
        previous = quat.copy()
        tool_state(iiwa.record, q, dq, p, quat, V)
        if before is not None:
            assert np.linalg.norm(quat - previous) < 0.1
            jumps_of_forward += int(np.linalg.norm(_forward(iiwa.record, q)[1] - before) > 1.0)
        before = _forward(iiwa.record, q)[1]
    assert jumps_of_forward > 0  # so the path does cross w = 0


def test_twist_is_the_derivative_of_the_pose(arm):
    h = 1e-6
    for q in arm.configurations(20):
        dq = np.sin(3 * q)
        V = np.zeros(6)
        tool_twist(arm.record, q, dq, V)
        before, after = arm.pose(q - h * dq), arm.pose(q + h * dq)
        np.testing.assert_allclose(V[:3], (after.translation - before.translation) / (2 * h), atol=1e-8)
        np.testing.assert_allclose(V[3:], pin.log3(after.rotation @ before.rotation.T) / (2 * h), atol=1e-8)


def test_a_missing_measurement_makes_the_pose_unknown(iiwa):
    q = np.full(7, 0.1)
    q[3] = np.nan
    p, quat, V = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(6)
    tool_state(iiwa.record, q, np.zeros(7), p, quat, V)
    assert np.isnan(p).all() and np.isnan(quat).all()
    q[3] = 0.1
    tool_state(iiwa.record, q, np.zeros(7), p, quat, V)
    assert np.isfinite(p).all() and np.isfinite(quat).all()
