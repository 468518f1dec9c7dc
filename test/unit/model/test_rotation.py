"""Quaternions against Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_rt_control.model import rotation as r

seeds = st.integers(0, 10**6)


def _unit(seed, n=4):
    v = np.random.default_rng(seed).normal(size=n)
    return v / np.linalg.norm(v)


def _R(q):
    return pin.Quaternion(np.asarray(q)).toRotationMatrix()


def _call(function, *inputs, size=4):
    out = np.zeros(size)
    function(*inputs, out)
    return out


@given(seeds, seeds)
def test_multiply_inverse_between(a, b):
    qa, qb = _unit(a), _unit(b)
    np.testing.assert_allclose(_R(_call(r.quaternion_multiply, qa, qb)), _R(qa) @ _R(qb), atol=1e-12)
    np.testing.assert_allclose(_R(_call(r.quaternion_inverse, qa)), _R(qa).T, atol=1e-12)
    np.testing.assert_allclose(_R(_call(r.rotation_between, qa, qb)), _R(qa).T @ _R(qb), atol=1e-12)


@given(seeds, seeds)
def test_rotate_and_matrix(a, b):
    q, v = _unit(a), _unit(b, 3)
    np.testing.assert_allclose(_call(r.quaternion_rotate, q, v, size=3), _R(q) @ v, atol=1e-12)
    R = np.zeros((3, 3))
    r.quaternion_to_matrix(q, R)
    np.testing.assert_allclose(R, _R(q), atol=1e-12)


@given(seeds, seeds)
def test_orientation_error_turns_the_actual_into_the_desired(desired, actual):
    qd, qt = _unit(desired), _unit(actual)
    e = _call(r.orientation_error, qd, qt, size=3)
    assert np.linalg.norm(e) <= np.pi + 1e-12
    np.testing.assert_allclose(pin.exp3(e) @ _R(qt), _R(qd), atol=1e-12)
    np.testing.assert_allclose(_call(r.orientation_error, -qd, qt, size=3), e, atol=1e-12)


@given(seeds, st.floats(0.0, 3.14))
def test_rotation_vector_round_trip(seed, angle):
    v = angle * _unit(seed, 3)
    q = _call(r.quaternion_from_rotation_vector, v)
    np.testing.assert_allclose(_R(q), pin.exp3(v), atol=1e-12)
    np.testing.assert_allclose(_call(r.rotation_vector, q, size=3), v, atol=1e-12)
    np.testing.assert_allclose(_call(r.rotation_vector, -q, size=3), v, atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-12, 1e-9, 2e-9, 1e-6])
def test_small_rotations_keep_their_digits(angle):
    v = np.array([angle, 0.0, 0.0])
    q = _call(r.quaternion_from_rotation_vector, v)
    np.testing.assert_allclose(_call(r.rotation_vector, q, size=3), v, rtol=1e-12)


@given(seeds, seeds, st.floats(0, 1))
def test_slerp_has_constant_speed_on_the_shorter_arc(a, b, s):
    qa, qb = _unit(a), _unit(b)
    q = _call(r.quaternion_slerp, qa, qb, s)
    whole = np.linalg.norm(pin.log3(_R(qa).T @ _R(qb)))
    part = np.linalg.norm(pin.log3(_R(qa).T @ _R(q)))
    assert part == pytest.approx(s * whole, abs=1e-6)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-12)


@given(seeds, seeds)
def test_compose_pose(a, b):
    qa, qb, pa, pb = _unit(a), _unit(b), _unit(a + 1, 3), _unit(b + 1, 3)
    p, q = np.zeros(3), np.zeros(4)
    r.compose_pose(pa, qa, pb, qb, p, q)
    expected = pin.SE3(_R(qa), pa) * pin.SE3(_R(qb), pb)
    np.testing.assert_allclose(p, expected.translation, atol=1e-12)
    np.testing.assert_allclose(_R(q), expected.rotation, atol=1e-12)


def test_results_may_overwrite_inputs():
    qa, qb, pa, pb = _unit(1), _unit(2), _unit(3, 3), _unit(4, 3)
    expected_q = _call(r.quaternion_multiply, qa, qb)
    p, q = np.zeros(3), np.zeros(4)
    r.compose_pose(pa, qa, pb, qb, p, q)
    for first in (True, False):
        x, y, px, py = qa.copy(), qb.copy(), pa.copy(), pb.copy()
        r.quaternion_multiply(x, y, x if first else y)
        np.testing.assert_array_equal(x if first else y, expected_q)
        x, y = qa.copy(), qb.copy()
        r.compose_pose(px, x, py, y, px if first else py, x if first else y)
        np.testing.assert_array_equal(px if first else py, p)
        np.testing.assert_array_equal(x if first else y, q)


@given(seeds)
def test_quaternion_of_a_rotation_matrix(seed):
    q = _unit(seed)
    got = np.array(r.quaternion_of_rotation(*_R(q).ravel()))
    np.testing.assert_allclose(got, q if q[3] >= 0 else -q, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_quaternion_of_half_turns(axis):
    R = -np.eye(3)
    R[axis, axis] = 1.0
    got = np.array(r.quaternion_of_rotation(*R.ravel()))
    assert abs(got[axis]) == pytest.approx(1.0) and np.linalg.norm(got) == pytest.approx(1.0)


def test_align_and_normalize():
    q = _unit(1)
    np.testing.assert_array_equal(_call(r.quaternion_align, q, -q), q)
    np.testing.assert_array_equal(_call(r.quaternion_align, q, q), q)
    np.testing.assert_allclose(_call(r.quaternion_normalize, 3.0 * q), q, atol=1e-15)
    assert np.isnan(_call(r.quaternion_normalize, np.zeros(4))).all()
