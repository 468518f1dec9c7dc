"""The relaxed contact model against plain formulas, and its gradient against differences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_rt_control.planning.scene.contact_model import box_faces, distance, force, inward_normal, wrench

SIZE = (0.3, 0.15, 0.08)
FACES = box_faces(SIZE)
coordinate = st.floats(-0.5, 0.5)
vector = st.tuples(coordinate, coordinate, coordinate).map(np.array)


def rotation(v):
    return Rotation.from_rotvec(v).as_matrix()


def box_support(half, R, direction):
    """The farthest point of a box, from its centre."""
    return R @ (np.sign(R.T @ direction) * half)


def test_in_front_of_a_face_the_distance_is_the_gap():
    support = 0.02 * inward_normal(FACES["back"], np.eye(3))
    found = distance(FACES["back"], np.array([1.0, 0, 0]), np.eye(3), np.array([0.7, 0.05, 0.01]), support)
    assert found.phi == pytest.approx(0.3 - 0.15 - 0.02)
    assert found.inward == pytest.approx([1, 0, 0])
    assert found.point == pytest.approx([0.85, 0.05, 0.01])


def test_on_the_far_side_a_face_is_far_not_deep_inside():
    support = 0.02 * inward_normal(FACES["back"], np.eye(3))
    found = distance(FACES["back"], np.zeros(3), np.eye(3), np.array([0.3, 0, 0]), support)
    assert found.phi == pytest.approx(0.45 - 0.02)


def test_each_face_pushes_towards_the_middle():
    for face in FACES.values():
        assert inward_normal(face, np.eye(3)) @ face.center < 0
        assert abs(face.center @ face.axes[0]) == pytest.approx(SIZE[int(np.argmax(abs(face.axes[0])))] / 2)


def test_V5_the_force_is_an_exponential_and_its_wrench_acts_at_the_face():
    support = np.zeros(3)
    found = distance(FACES["left"], np.zeros(3), np.eye(3), np.array([0.1, 0.2, 0.0]), support)
    gamma = force(3.0, 10.0, found.phi)
    assert gamma == pytest.approx(3.0 * math.exp(-10.0 * 0.125))
    # Pushes towards -y at x = 0.1: turns about -z.
    assert wrench(found, np.zeros(3), gamma) == pytest.approx([0, -gamma, 0, 0, 0, -0.1 * gamma])


@given(name=st.sampled_from(sorted(FACES)), p=vector, turn=vector, center=vector, robot_turn=vector, data=st.data())
def test_the_gradient_is_that_of_differences(name, p, turn, center, robot_turn, data):
    face, R, S = FACES[name], rotation(turn), rotation(robot_turn)
    half = np.array([0.02, 0.03, 0.04])

    def phi(p, R, center, S):
        support = box_support(half, S, inward_normal(face, R))
        return distance(face, p, R, center, support)

    here = phi(p, R, center, S)
    velocity, spin, body_velocity, body_spin = (data.draw(vector) for _ in range(4))
    rate = here.linear @ (velocity - body_velocity - np.cross(body_spin, here.point - p))
    rate += here.angular @ (spin - body_spin)
    h = 1e-6

    def moved(t):
        body = p + t * body_velocity, rotation(t * body_spin) @ R
        return float(phi(*body, center + t * velocity, rotation(t * spin) @ S).phi)

    forward, backward = (moved(h) - float(here.phi)) / h, (float(here.phi) - moved(-h)) / h
    if abs(forward - backward) > 1e-4:  # a corner of the box is passed, or the face is: no derivative there
        return
    assert rate == pytest.approx((forward + backward) / 2, abs=1e-4)


@given(p=vector, turn=vector, centers=st.lists(vector, min_size=2, max_size=4))
def test_one_call_for_many_states_is_many_calls(p, turn, centers):
    R = rotation(turn)
    many = distance(FACES["top"], p, R, np.array(centers), np.zeros(3))
    for i, center in enumerate(centers):
        one = distance(FACES["top"], p, R, center, np.zeros(3))
        assert many.phi[i] == one.phi
        assert (many.point[i] == one.point).all() and (many.linear[i] == one.linear).all()
