"""Differential inverse: exact where the arm can, bounded everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model.kinematics.inverse import differential_inverse, kinematics_scratch_dtype
from robot_rt_control.vocabulary.enums import Status

DAMPING = 0.05


def _solve(arm, q, V, damping=DAMPING):
    scratch = np.zeros(1, kinematics_scratch_dtype)[0]
    dq = np.full(16, 9.0)
    status = differential_inverse(arm.record, q, V, damping, dq, scratch)
    assert (dq[arm.n :] == 9.0).all()
    return status, dq[: arm.n], scratch


def _twists(count):
    return np.random.default_rng(3).normal(size=(count, 6))


def test_away_from_singularities_the_twist_is_met_with_the_smallest_velocities(arm):
    met = 0
    for q, V in zip(arm.configurations(300), _twists(300), strict=True):
        status, dq, scratch = _solve(arm, q, V)
        J = arm.jacobian(q)
        assert status == Status.OK
        if scratch.singular_value >= 2 * DAMPING:
            met += 1
            assert scratch.damping == 0.0
            np.testing.assert_allclose(dq, np.linalg.pinv(J) @ V, atol=1e-4)
            np.testing.assert_allclose(J @ dq, V, atol=1e-5)
    assert met > 50


def test_the_measure_of_nearness_brackets_the_smallest_singular_value(arm):
    for q in arm.configurations(300):
        smallest = np.linalg.svd(arm.jacobian(q), compute_uv=False)[-1]
        measure = _solve(arm, q, np.ones(6))[2].singular_value
        assert measure <= smallest * (1 + 1e-6) + 1e-3 * DAMPING
        assert measure >= smallest / np.sqrt(6) * (1 - 1e-6)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 16), log_damping=st.floats(-4, 0), scale=st.floats(0, 1))
def test_bounded_everywhere(random_arm, seed, n, log_damping, scale):
    arm = random_arm(seed, n)
    q = scale * arm.configurations(1, seed)[0]
    V = np.random.default_rng(seed).normal(size=6)
    damping = 10.0**log_damping
    status, dq, _ = _solve(arm, q, V, damping)
    assert status == Status.OK
    assert np.linalg.norm(dq) <= 0.58 * np.linalg.norm(V) / damping


def test_bounded_and_continuous_through_a_singularity(iiwa):
    """The stretched elbow: a plain inverse grows without bounds there."""
    V = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])
    plain, damped = [], []
    for elbow in np.linspace(-0.3, 0.3, 601):
        q = np.array([0.2, 0.4, 0.1, elbow, 0.3, 0.5, 0.0])
        _, dq, _ = _solve(iiwa, q, V)
        damped.append(dq.copy())
        plain.append(np.linalg.norm(np.linalg.pinv(iiwa.jacobian(q)) @ V))
    norms = np.linalg.norm(damped, axis=1)
    assert max(plain) > 5 * norms.max()
    assert norms.max() <= 0.58 * 0.1 / DAMPING
    steps = np.linalg.norm(np.diff(damped, axis=0), axis=1)
    assert steps.max() < 0.05


def test_few_joints_come_as_near_as_they_can(random_arm):
    arm = random_arm(5, 3)
    q = np.array([0.3, -0.4, 0.8])
    V = np.array([0.1, 0.2, -0.1, 0.3, 0.0, 0.1])
    status, dq, scratch = _solve(arm, q, V, 1e-3)
    assert status == Status.OK and scratch.damping == 0.0
    np.testing.assert_allclose(dq, np.linalg.lstsq(arm.jacobian(q), V, rcond=None)[0], atol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_gives_no_motion_and_a_status(iiwa, bad):
    V = np.zeros(6)
    V[2] = bad
    status, dq, _ = _solve(iiwa, np.full(7, 0.5), V)
    assert status == Status.SINGULAR and (dq == 0.0).all()


def test_an_unknown_position_gives_no_motion_and_a_status(iiwa):
    q = np.full(7, 0.5)
    q[2] = np.nan
    status, dq, _ = _solve(iiwa, q, np.ones(6))
    assert status == Status.SINGULAR and (dq == 0.0).all()


def test_without_damping_a_singularity_is_a_failure(random_arm):
    arm = random_arm(1, 6)
    record = arm.record.copy()
    for j in range(6):  # all axes alike: rank 1 in rotation
        record.axis[j] = (0.0, 0.0, 1.0)
        record.origin[j] = np.eye(4)[:3]
        record.joint_type[j] = 0
    dq = np.ones(6)
    scratch = np.zeros(1, kinematics_scratch_dtype)[0]
    status = differential_inverse(record, np.zeros(6), np.ones(6), 0.0, dq, scratch)
    assert status == Status.SINGULAR and (dq == 0.0).all()
