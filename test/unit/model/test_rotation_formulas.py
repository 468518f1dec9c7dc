"""Rotations of whole arrays, and those that only readers of files and the planner need, against SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_rt_control.model.rotation_formulas import (
    angle_between,
    inverse_right_jacobian,
    rotation_of_vector,
    rotations_about,
    rotations_of,
    small_turns,
    turned,
    vector_of_rotation,
)

seeds = st.integers(0, 10**6)


def vectors(longest):
    return st.tuples(*[st.floats(-longest, longest)] * 3).map(np.array)


@given(vectors(1.7))
def test_vector_and_matrix_are_inverse_to_each_other(v):
    R = rotation_of_vector(v)
    np.testing.assert_allclose(R, Rotation.from_rotvec(v).as_matrix(), atol=1e-12)
    assert vector_of_rotation(R) == pytest.approx(v, abs=1e-7)


def test_half_a_turn():
    assert np.abs(vector_of_rotation(np.diag([1.0, -1.0, -1.0]))) == pytest.approx([math.pi, 0, 0])


@given(vectors(3.0))
def test_the_angle_between_two_rotations(v):
    turn, other = Rotation.from_rotvec(v), Rotation.from_euler("xyz", [0.3, -0.5, 1.2])
    expected = turn.magnitude()
    assert angle_between(other.as_matrix(), (other * turn).as_matrix()) == pytest.approx(expected, abs=1e-7)


@given(vectors(1.5), vectors(1.0))
def test_the_right_jacobian_is_that_of_differences(v, d):
    h, exp = 1e-6, rotation_of_vector
    change = vector_of_rotation(exp(v) @ exp(h * d)) - vector_of_rotation(exp(v) @ exp(-h * d))
    assert change / (2 * h) == pytest.approx(inverse_right_jacobian(v) @ d, abs=1e-5)


@given(seeds)
def test_arrays_of_rotations(seed):
    random = np.random.default_rng(seed)
    q, axis, angles = random.normal(size=(2, 3, 4)), random.normal(size=3), random.uniform(-4.0, 4.0, size=(2, 3))
    q, axis = q / np.linalg.norm(q, axis=-1, keepdims=True), axis / np.linalg.norm(axis)
    for i in np.ndindex(2, 3):
        np.testing.assert_allclose(rotations_of(q)[i], Rotation.from_quat(q[i]).as_matrix(), atol=1e-12)
        expected = Rotation.from_rotvec(angles[i] * axis).as_matrix()
        np.testing.assert_allclose(rotations_about(axis, angles)[i], expected, atol=1e-12)


@given(seeds)
def test_turned_by_vectors_in_its_own_frame(seed):
    random = np.random.default_rng(seed)
    q, v = Rotation.random(random_state=seed), random.uniform(-1.0, 1.0, size=(5, 3))
    found = Rotation.from_quat(turned(q.as_quat(), v))
    np.testing.assert_allclose(found.as_matrix(), (q * Rotation.from_rotvec(v)).as_matrix(), atol=1e-12)
    small = turned(q.as_quat(), 1e-3 * v)
    np.testing.assert_allclose(small_turns(q.as_quat(), small), 1e-3 * v, atol=1e-9)
    np.testing.assert_allclose(small_turns(q.as_quat(), -small), 1e-3 * v, atol=1e-9)
