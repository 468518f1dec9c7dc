"""Gravity torques against Pinocchio and against the potential energy's gradient."""

import numpy as np
import pinocchio as pin
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model.kinematics.gravity import gravity_torque
from robot_rt_control.model.kinematics.inverse import kinematics_scratch_dtype


def _gravity(arm, q):
    tau = np.zeros(16)
    gravity_torque(arm.record, q, tau, np.zeros(1, kinematics_scratch_dtype)[0])
    assert (tau[arm.n :] == 0.0).all()
    return tau[: arm.n]


def test_real_arms(arm):
    for q in arm.configurations(200):
        np.testing.assert_allclose(_gravity(arm, q), arm.gravity(q), atol=1e-11)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 16))
def test_random_chains(random_arm, seed, n):
    arm = random_arm(seed, n)
    q = arm.configurations(1, seed)[0]
    np.testing.assert_allclose(_gravity(arm, q), arm.gravity(q), atol=1e-9)


def test_torque_is_the_gradient_of_the_potential_energy(arm):
    h = 1e-6
    data = arm.model.createData()
    for q in arm.configurations(10):
        tau = _gravity(arm, q)
        for j in range(arm.n):
            step = np.zeros(arm.n)
            step[j] = h
            up = pin.computePotentialEnergy(arm.model, data, q + step)
            down = pin.computePotentialEnergy(arm.model, data, q - step)
            np.testing.assert_allclose(tau[j], (up - down) / (2 * h), atol=1e-6)


def test_no_gravity_no_torque(iiwa):
    record = iiwa.record.copy()
    record.gravity[:] = 0.0
    tau = np.ones(16)
    gravity_torque(record, np.full(7, 0.4), tau, np.zeros(1, kinematics_scratch_dtype)[0])
    assert (tau[:7] == 0.0).all()
