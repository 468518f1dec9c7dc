"""Efforts of motions against Pinocchio; the part of V17 that lets gains go with the inertia."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model.kinematics.gravity import gravity_torque
from robot_rt_control.model.kinematics.inverse import kinematics_scratch_dtype
from robot_rt_control.model.kinematics.inverse_dynamics import dynamics_scratch_dtype, inverse_dynamics


def _efforts(arm, q, v, a, weight=1.0):
    tau = np.zeros(16)
    inverse_dynamics(arm.record, q, v, a, weight, tau, np.zeros(1, dynamics_scratch_dtype)[0])
    assert (tau[arm.n :] == 0.0).all()
    return tau[: arm.n]


def _check(arm, seed, count, tolerance):
    random = np.random.default_rng(seed)
    for q in arm.configurations(count, seed):
        v, a = random.uniform(-2.0, 2.0, (2, arm.n))
        expected = pin.rnea(arm.model, arm.model.createData(), q, v, a)
        np.testing.assert_allclose(_efforts(arm, q, v, a), expected, atol=tolerance)


def test_real_arms(arm):
    _check(arm, 1, 100, 1e-10)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 16))
def test_random_chains(random_arm, seed, n):
    arm = random_arm(seed, n)
    arm.record.inertia[:n] = np.eye(3)
    _check(arm, seed, 1, 1e-7)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_without_velocity_it_is_the_mass_matrix_and_the_weight(arm, weight):
    data, zero = arm.model.createData(), np.zeros(arm.n)
    for q in arm.configurations(20):
        tau = np.zeros(16)
        gravity_torque(arm.record, q, tau, np.zeros(1, kinematics_scratch_dtype)[0])
        np.testing.assert_allclose(_efforts(arm, q, zero, zero, weight), weight * tau[: arm.n], atol=1e-11)
        M = pin.crba(arm.model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        for j in range(arm.n):
            found = _efforts(arm, q, zero, np.eye(arm.n)[j], weight) - weight * tau[: arm.n]
            np.testing.assert_allclose(found, M[j], atol=1e-11)
